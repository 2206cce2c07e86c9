package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/frontier"
)

// mostReceived is how many rows of its inbox a queue receives at a time.
const mostReceived = 64

// received is a row in the inbox of a partition.
type received struct {
	id        int64
	passes    []frontier.Pass
	envelopes [][]byte

	mu     sync.Mutex
	unread [][]byte // of several envelopes those that cannot be read
}

// receiveAll has the queues receive what is in their inboxes.
func (c *Cluster) receiveAll(all []*attached) error {
	for len(all) > 0 {
		inboxes, err := c.look(all)
		if err != nil {
			return err
		}
		if err := c.receive(inboxes); err != nil {
			return err
		}
		all = all[:0:0]
		for a, some := range inboxes {
			if len(some) == mostReceived && !a.isResting() {
				all = append(all, a)
			}
		}
	}
	return nil
}

// look returns what is in inboxes, by one query.
func (c *Cluster) look(all []*attached) (inboxes map[*attached][]*received, err error) {
	pipelines, partitions := placesOf(all)
	err = c.do(c.ended, func(ctx context.Context) error {
		inboxes = make(map[*attached][]*received)
		rows, err := c.db.QueryContext(ctx, `SELECT n, id, array_to_string(crawls, chr(31)), array_to_string(passes, chr(31)), data
			FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS l (pipeline, p, n) CROSS JOIN LATERAL (
				SELECT id, crawls, passes, data FROM webrace.inbox AS i WHERE i.p = l.p AND i.pipeline = l.pipeline ORDER BY id LIMIT $3) AS waiting`,
			pipelines, partitions, mostReceived)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n int
			var crawls, passes string
			var data []byte
			r := new(received)
			if err := rows.Scan(&n, &r.id, &crawls, &passes, &data); err != nil {
				return err
			}
			if r.passes, err = passesOf(crawls, passes); err != nil {
				return err
			}
			r.envelopes = envelopesIn(data)
			inboxes[all[n-1]] = append(inboxes[all[n-1]], r)
		}
		return rows.Err()
	})
	return inboxes, err
}

func passesOf(crawls, numbers string) ([]frontier.Pass, error) {
	if crawls == "" {
		return nil, nil
	}
	ids, all := strings.Split(crawls, separator), strings.Split(numbers, separator)
	if len(ids) != len(all) {
		return nil, fmt.Errorf("an envelope has %d crawls and %d passes", len(ids), len(all))
	}
	passes := make([]frontier.Pass, len(ids))
	for i, id := range ids {
		n, err := strconv.ParseUint(all[i], 10, 32)
		if err != nil {
			return nil, err
		}
		passes[i] = frontier.Pass{Crawl: id, Number: uint32(n)}
	}
	return passes, nil
}

// receive has the queues receive envelopes, and then, in one transaction, notes for which crawls URLs wait there and
// takes the envelopes away.
func (c *Cluster) receive(inboxes map[*attached][]*received) error {
	durable := make(map[*attached]<-chan error)
	for a, some := range inboxes {
		durable[a] = a.receiveFrom(some)
	}
	var n note
	for a, some := range inboxes {
		select {
		case err := <-durable[a]:
			if err != nil {
				a.fail(err)
				continue
			}
		case <-a.gone:
			continue
		case <-c.ended.Done():
			return c.ended.Err()
		}
		n.received(a, some)
	}
	return c.write(&n)
}

// receiveFrom has the queue receive what is in its inbox. When all of that is durable, there is an error, or nil.
func (a *attached) receiveFrom(some []*received) <-chan error {
	ended := make(chan error, 1)
	envelopes := 0
	for _, r := range some {
		envelopes += len(r.envelopes)
	}
	done := afterAll(envelopes, func(err error) { ended <- err })
	for _, r := range some {
		for _, data := range r.envelopes {
			a.call(func(to frontier.Receiver) { to.Receive(data, func(err error) { done(r.ended(a, data, err)) }) })
		}
	}
	return ended
}

// ended returns the error of an envelope that was received. One of several that cannot be read is put back alone, to
// hold up no other, and be named.
func (r *received) ended(a *attached, data []byte, err error) error {
	switch {
	case !errors.As(err, new(*frontier.EnvelopeError)):
		return err
	case len(r.envelopes) == 1:
		return fmt.Errorf("%w (webrace-store cluster skip %d %d removes it, and what it would have caused)", err, a.p, r.id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(r.unread, data)
	return nil
}

// received notes what a queue has received from its inbox, unless it was detached since.
func (n *note) received(a *attached, some []*received) {
	var passes []frontier.Pass
	for _, r := range some {
		passes = latest(passes, r.passes)
	}
	called := a.call(func(to frontier.Receiver) {
		for i, pending := range to.Pending(passes) {
			if pending {
				n.wait(a, passes[i])
			} else {
				n.done(a, to, passes[i])
			}
		}
	})
	if !called {
		return
	}
	n.busy(a)
	for _, r := range some {
		n.taken = append(n.taken, taken{a.p, r.id})
		for _, data := range r.unread {
			n.back = append(n.back, &bundle{to: a.p, pipeline: a.pipeline, passes: r.passes, envelopes: [][]byte{data}, size: len(data)})
		}
	}
}

// fail tells that nothing is done for a queue for a while.
func (a *attached) fail(err error) {
	if a.ended.Err() != nil {
		return
	}
	a.options.Logger.Error("what comes from other partitions waits", "pipeline", a.pipeline, "partition", a.p, "error", err)
	a.rests = time.Now().Add(lookEvery)
}

func (a *attached) isResting() bool { return time.Now().Before(a.rests) }
