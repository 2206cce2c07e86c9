package cluster

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/frontier"
)

// mostSent is how many envelopes a transaction sends, about.
const mostSent = 500

// outbox is what the partitions of a node have for others, to be sent together.
type outbox struct {
	mu      sync.Mutex
	waiting []parcel
	ended   bool
	signal  chan struct{} // something waits
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
	}
	c.out.mu.Unlock()
	if ended {
		p.done(context.Canceled)
		return
	}
	select {
	case c.out.signal <- struct{}{}:
	default:
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
	var sent time.Time
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
		case <-time.After(c.options.askEvery - time.Since(sent)):
		case <-c.ended.Done():
			continue // it is closed
		}
		sent = time.Now()
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
	var to []int
	var pipelines, crawls, passes []string
	var data [][]byte
	for _, p := range parcels {
		for _, e := range p.envelopes {
			ids, numbers := make([]string, len(e.Passes)), make([]string, len(e.Passes))
			for i, pass := range e.Passes {
				ids[i], numbers[i] = pass.Crawl, strconv.FormatUint(uint64(pass.Number), 10)
			}
			to, pipelines, data = append(to, e.To), append(pipelines, p.pipeline), append(data, e.Data)
			crawls, passes = append(crawls, strings.Join(ids, separator)), append(passes, strings.Join(numbers, separator))
		}
	}
	return c.transact(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO webrace.inbox (p, pipeline, crawls, passes, data)
			SELECT p, pipeline, string_to_array(crawls, chr(31)), string_to_array(passes, chr(31))::bigint[], data
			FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[]) AS sent (p, pipeline, crawls, passes, data)`,
			to, pipelines, crawls, passes, data)
		return err
	})
}

// separator stands between the ids of crawls, in which it is not.
const separator = "\x1f"

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
