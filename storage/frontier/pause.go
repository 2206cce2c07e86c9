package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/scope"
)

// Pause leaves a host (a name, with its port if a URL names it) alone until it is resumed, also in later
// runs: its URLs are accepted and wait. Leases that are out end as they would. To Take it is a host that
// is not due. Like Resume and Drop it is durable when it returns, and works with the pipeline's queue open
// or closed.
func (s *Store) Pause(ctx context.Context, pipeline, host string) error {
	return s.onHost(ctx, "pause", pipeline, host, (*Queue).pause)
}

// Resume takes back a Pause.
func (s *Store) Resume(ctx context.Context, pipeline, host string) error {
	return s.onHost(ctx, "resume", pipeline, host, (*Queue).resume)
}

// Drop takes every URL of a host off the queue, delayed ones included, and returns how many. No crawl waits
// for them any more, nor comes to them again in its round; a later round may. URLs that are out are left
// alone, and what is offered meanwhile may be dropped or not.
func (s *Store) Drop(ctx context.Context, pipeline, host string) (dropped int, err error) {
	err = s.onHost(ctx, "drop", pipeline, host, func(q *Queue, ctx context.Context, name string) (err error) {
		dropped, err = q.drop(ctx, hostOf(name))
		return err
	})
	return dropped, err
}

// Paused returns the names of a pipeline's hosts that are paused, in no particular order.
func (s *Store) Paused(pipeline string) (hosts []string, err error) {
	k, known, err := s.knownKeys(pipeline)
	if err != nil || !known {
		return nil, err
	}
	err = s.db.Scan(k.timed(kindParked, never, 0), k.end(kindParked), func(_, value []byte) (bool, error) {
		r := newReader(value)
		hosts = append(hosts, r.Text())
		return true, r.done()
	})
	return hosts, err
}

// HostURLs returns how many URLs of a host a pipeline has ever accepted, and how many of them wait.
func (s *Store) HostURLs(pipeline, host string) (known, queued int, err error) {
	k, _, err := s.knownKeys(pipeline)
	if err != nil {
		return 0, 0, err
	}
	h, err := s.readHost(k, hostOf(strings.ToLower(host)))
	if err != nil {
		return 0, 0, fmt.Errorf("host %s in the frontier of %s: %w", host, pipeline, err)
	}
	for _, n := range h.items {
		queued += int(n)
	}
	return max(int(h.known), queued), queued, nil
}

// onHost does something to a host of a pipeline's queue, which is opened for that if need be.
func (s *Store) onHost(ctx context.Context, what, pipeline, host string, do func(*Queue, context.Context, string) error) error {
	fail := func(err error) error { return fmt.Errorf("%s %s in the frontier of %s: %w", what, host, pipeline, err) }
	name, ok := scope.Host("http://" + strings.ToLower(host) + "/")
	if !ok || name != strings.ToLower(host) {
		return fail(errors.New("it is not the name of a host"))
	}
	if err := s.View(pipeline, QueueOptions{}, func(q *Queue) error { return do(q, ctx, name) }); err != nil {
		return fail(err)
	}
	return nil
}

// do hands in a step and waits for it.
func (q *Queue) do(ctx context.Context, s step) error {
	done := make(chan error, 1)
	s.done = func(err error) { done <- err }
	q.submit(s)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *Queue) pause(ctx context.Context, name string) error {
	id := hostOf(name)
	return q.do(ctx, step{
		apply: func(ch *changes) error { return ch.pause(id, name) },
		after: func() error {
			q.window.pause(id, q.store.now())
			return nil
		},
	})
}

func (c *changes) pause(id hostID, name string) error {
	h, err := c.host(id)
	if err != nil || h.parked == never {
		return err
	}
	if h.parked != 0 {
		c.writes.delete(c.q.keys.timed(kindParked, h.parked, uint64(id)))
	}
	c.putAside(id, h, never, pausedValue(name))
	return nil
}

// pausedValue is the value of the key under which a paused host is parked.
func pausedValue(name string) []byte {
	w := newWriter(len(name) + 4)
	w.Text(name)
	return w
}

// pause takes a host's items out of the window, and the host itself once no lease holds its slots.
func (w *window) pause(id hostID, now time.Time) {
	h := w.hosts[id]
	if h == nil {
		return
	}
	h.paused = true
	for i := range h.queues {
		h.queues[i].items, h.queues[i].unread, h.queues[i].known = nil, nil, false
	}
	w.settle(h, now)
}

func (q *Queue) resume(ctx context.Context, name string) error {
	id := hostOf(name)
	return q.do(ctx, step{apply: func(ch *changes) error {
		h, err := ch.host(id)
		if err != nil || h.parked != never {
			return err
		}
		ch.writes.delete(ch.q.keys.timed(kindParked, never, uint64(id)))
		ch.unpark(id, h)
		return nil
	}, after: func() error {
		if h := q.window.hosts[id]; h != nil {
			h.paused = false
		}
		return nil
	}})
}

// drop takes the URLs of a host off the queue, some in each step.
func (q *Queue) drop(ctx context.Context, host hostID) (dropped int, err error) {
	queues := [2][]byte{q.keys.item(host, 0, 0), q.keys.item(host, levels, 0)}
	delays := [2][]byte{q.keys.start(kindDelayed), q.keys.end(kindDelayed)}
	for _, part := range [][2][]byte{queues, delays} {
		for next := part[0]; next != nil; {
			var n int
			var rest []byte
			err := q.do(ctx, step{apply: func(ch *changes) (err error) {
				n, rest, err = ch.dropSome(host, next, part[1])
				return err
			}})
			if err != nil {
				return dropped, err
			}
			dropped, next = dropped+n, rest
		}
	}
	return dropped, nil
}

// dropSome goes through a few keys of items, and returns the one to go on from; nil at the end.
func (c *changes) dropSome(host hostID, from, to []byte) (dropped int, rest []byte, err error) {
	read := 0
	err = c.q.store.db.Scan(from, to, func(key, value []byte) (bool, error) {
		if read++; read > groupSize {
			rest = bytes.Clone(key)
			return false, nil
		}
		it, err := decodeItem(value)
		if err != nil || it.host() != host || c.q.isOut(it.id) {
			return true, err
		}
		rec, err := c.record(it.id)
		if err != nil || rec.place.kind == nowhere || rec.place.order != lastNumber(key) {
			return true, err
		}
		dropped++
		return true, c.dropURL(rec, host)
	})
	return dropped, rest, err
}

func (c *changes) dropURL(rec *record, host hostID) error {
	if err := c.dequeue(rec, host); err != nil {
		return err
	}
	for i := range rec.marks {
		cr, err := c.q.crawls.numbered(rec.marks[i].crawl)
		if err != nil {
			return err
		}
		c.await(cr, &rec.marks[i], false)
	}
	c.forget(rec)
	return nil
}

// isOut reports whether a URL is leased.
func (q *Queue) isOut(id urlID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.leases[id] != nil
}
