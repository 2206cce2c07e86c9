package frontier

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// changes are what a group of steps changes in one queue. Records are read once and written once,
// however many of the steps touch them.
type changes struct {
	q       *Queue
	batch   *pebble.Batch
	records map[urlID]*record
	hosts   map[hostID]*hostRecord
	crawls  map[*crawl]struct{}
	lanes   map[laneID]stretch // that got items, and where
	timed   bool               // something was parked or delayed, or ceased to be
	before  counters

	startVisited []*crawl
}

type laneID struct {
	host  hostID
	level level
}

func newChanges(q *Queue, batch *pebble.Batch) *changes {
	return &changes{
		q: q, batch: batch,
		records: map[urlID]*record{},
		hosts:   map[hostID]*hostRecord{},
		crawls:  map[*crawl]struct{}{},
		lanes:   map[laneID]stretch{},
		before:  q.count,
	}
}

func (c *changes) record(id urlID) (*record, error) {
	if rec := c.records[id]; rec != nil {
		return rec, nil
	}
	rec, err := c.q.store.readRecord(c.q.keys, id)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		rec = &record{}
		c.q.count.known++
	}
	c.records[id] = rec
	return rec, nil
}

func (c *changes) host(id hostID) (*hostRecord, error) {
	if h := c.hosts[id]; h != nil {
		return h, nil
	}
	h, err := c.q.store.readHost(c.q.keys, id)
	if err != nil {
		return nil, err
	}
	c.hosts[id] = h
	return h, nil
}

// enqueue puts an item into its host's lane, where the order of the queue wants it.
func (c *changes) enqueue(rec *record, it item, host hostID, at level) error {
	h, err := c.host(host)
	if err != nil {
		return err
	}
	order := c.nextOrder(rec, &it)
	if rec.place.kind == nowhere {
		c.q.count.queued++
	}
	rec.place = place{kind: inLane, level: at, order: order}
	rec.dirty = true
	h.items[at]++
	h.dirty = true
	if h.parked == 0 {
		c.ready(laneID{host, at}, stretch{order, order})
		if h.items[at] == 1 {
			if err := c.set(c.q.keys.ready(at, host), nil); err != nil {
				return err
			}
		}
	}
	return c.set(c.q.keys.item(host, at, rec.place.order), it.encode())
}

// delay puts an item aside until it is due.
func (c *changes) delay(rec *record, it item, at level, due time.Time) error {
	c.q.count.delayed++
	rec.place = place{kind: delayed, level: at, order: c.nextOrder(rec, &it), due: nanos(due)}
	rec.dirty = true
	c.timed = true
	return c.set(c.q.keys.timed(kindDelayed, rec.place.due, rec.place.order), it.encode())
}

// dequeue takes the URL's item away from where it is; the caller puts it elsewhere, or calls forget.
func (c *changes) dequeue(rec *record, host hostID) error {
	at := rec.place
	switch at.kind {
	case delayed:
		c.q.count.delayed--
		c.timed = true
		return c.remove(c.q.keys.timed(kindDelayed, at.due, at.order))
	case inLane:
		h, err := c.host(host)
		if err != nil {
			return err
		}
		h.items[at.level]--
		h.dirty = true
		if h.items[at.level] == 0 && h.parked == 0 {
			if err := c.remove(c.q.keys.ready(at.level, host)); err != nil {
				return err
			}
		}
		return c.remove(c.q.keys.item(host, at.level, at.order))
	}
	return nil
}

// forget leaves the URL in no queue: nobody waits for it any more.
func (c *changes) forget(rec *record) {
	if rec.place.kind != nowhere {
		c.q.count.queued--
	}
	rec.place, rec.tries, rec.dirty = place{}, 0, true
}

// await says whether a crawl waits for a URL that it has a mark on.
func (c *changes) await(cr *crawl, m *mark, queued bool) {
	if m.queued == queued {
		return
	}
	m.queued = queued
	if queued {
		cr.pending.Add(1)
	} else {
		cr.pending.Add(-1)
	}
	c.crawls[cr] = struct{}{}
}

func (c *changes) set(key, value []byte) error { return c.batch.Set(key, value, nil) }
func (c *changes) remove(key []byte) error     { return c.batch.Delete(key, nil) }

// flush writes the records that changed into the batch.
func (c *changes) flush() error {
	for id, rec := range c.records {
		if !rec.dirty {
			if len(rec.marks) == 0 && rec.redirect == "" {
				c.q.count.known-- // looked for, and still unknown
			}
			continue
		}
		if err := c.set(c.q.keys.url(kindSeen, id), rec.encode()); err != nil {
			return err
		}
	}
	for id, h := range c.hosts {
		if !h.dirty {
			continue
		}
		if err := c.set(c.q.keys.host(id), h.encode()); err != nil {
			return err
		}
	}
	for cr := range c.crawls {
		if err := c.set(c.q.keys.crawl(cr.now.Load().ID), encodeCrawl(cr)); err != nil {
			return err
		}
	}
	if c.q.count == c.before {
		return nil
	}
	return c.set(c.q.keys.start(kindMeta), c.q.count.encode())
}
