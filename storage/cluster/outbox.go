package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/internal/pace"
)

// mostSent is how many envelopes a transaction sends, about.
const mostSent = 500

// outbox is what the partitions of a node have for others, to be sent together.
type outbox struct {
	mu        sync.Mutex
	waiting   []parcel
	envelopes int // in them
	ended     bool
	signal    chan struct{} // something waits
	full      chan struct{} // it is a transaction's worth
}

func newOutbox() outbox { return outbox{signal: make(chan struct{}, 1), full: make(chan struct{}, 1)} }

func raise(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default: // it is raised
	}
}

// parcel is what one call sends.
type parcel struct {
	pipeline  string
	envelopes []frontier.Envelope
	done      func(error)
}

func (c *Cluster) send(p parcel) {
	c.out.mu.Lock()
	ended := c.out.ended
	if !ended {
		c.out.waiting = append(c.out.waiting, p)
		c.out.envelopes += len(p.envelopes)
	}
	full := c.out.envelopes >= mostSent
	c.out.mu.Unlock()
	if ended {
		p.done(context.Canceled)
		return
	}
	raise(c.out.signal)
	if full {
		raise(c.out.full)
	}
}

// take takes out what is sent in one transaction.
func (o *outbox) take() (some []parcel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for i, p := range o.waiting {
		if n += len(p.envelopes); n >= mostSent || i == len(o.waiting)-1 {
			some, o.waiting = o.waiting[:i+1:i+1], o.waiting[i+1:]
			o.envelopes -= n
			return some
		}
	}
	return nil
}

// close refuses what is sent from now on, and returns what waits.
func (o *outbox) close() []parcel {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	return o.waiting
}

// sendAll sends what comes into the outbox until the node is closed. What comes while a transaction is under way, or
// soon after it, is sent in the next one.
func (c *Cluster) sendAll() {
	spaced := pace.Pace{Soon: c.options.askEvery, Later: c.options.lookEvery}
	for {
		select {
		case <-c.out.signal:
		case <-c.ended.Done():
			for _, p := range c.out.close() {
				p.done(context.Canceled)
			}
			return
		}
		select {
		case <-time.After(spaced.Wait(time.Now())):
		case <-c.out.full:
		case <-c.ended.Done():
			continue // it is closed
		}
		spaced.Next(time.Now())
		for some := c.out.take(); some != nil; some = c.out.take() {
			err := c.put(some)
			for _, p := range some {
				p.done(err)
			}
			c.wake(some)
		}
	}
}

// put makes envelopes durable.
func (c *Cluster) put(parcels []parcel) error {
	all := bundled(parcels)
	if len(all) == 0 {
		return nil
	}
	var s statement
	s.add(insertRows, rowsOf(all)...)
	return c.do(context.Background(), func(ctx context.Context) error {
		_, err := c.db.ExecContext(ctx, s.text(), s.args...)
		return err
	})
}

// wake has those look into their inboxes for whom something was sent: at once within this process, and soon elsewhere.
func (c *Cluster) wake(parcels []parcel) {
	for _, p := range parcels {
		if slices.ContainsFunc(p.envelopes, func(e frontier.Envelope) bool { return slices.Contains(c.mine, e.To) }) {
			c.lookSoon()
			break
		}
	}
	c.tellOthers()
}
