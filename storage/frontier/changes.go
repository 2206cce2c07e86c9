package frontier

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// changes are what a group of steps changes in one queue. Records are read once and written once,
// however many of the steps touch them. Every group of a queue uses the same ones.
type changes struct {
	q        *Queue
	writes   writes
	records  map[urlID]*record
	hosts    map[hostID]*hostRecord
	crawls   map[*crawl]struct{}
	families map[uint64]*family
	hits     map[*scope.Rule]struct{} // that changed
	queues   map[hostQueueID]stretch  // that got items, and where
	altered  []spot                   // where items were that are gone, or say less than before
	timed    bool                     // something was parked or delayed, or ceased to be
	before   counters
	wanted   []urlID
	spare    []*record // of earlier groups

	wantedHosts  []hostID
	startVisited []*crawl
}

type hostQueueID struct {
	host  hostID
	level level
}

// spot is where an item is in the host queues.
type spot struct {
	hostQueueID
	order   uint64
	changed int64 // as is listed now; 0: as before
}

const (
	treatedHosts = 1 << 15 // host records that the committer keeps
	spareRecords = 1 << 15
)

func newChanges(q *Queue) *changes {
	return &changes{
		q:        q,
		records:  map[urlID]*record{},
		hosts:    map[hostID]*hostRecord{},
		crawls:   map[*crawl]struct{}{},
		families: map[uint64]*family{},
		hits:     map[*scope.Rule]struct{}{},
		queues:   map[hostQueueID]stretch{},
	}
}

// begin prepares for another group.
func (c *changes) begin() {
	for _, rec := range c.records {
		if len(c.spare) < spareRecords {
			c.spare = append(c.spare, rec)
		}
	}
	clear(c.records)
	clear(c.hosts)
	clear(c.crawls)
	clear(c.families)
	clear(c.hits)
	clear(c.queues)
	c.writes.reset()
	c.timed, c.before, c.startVisited = false, c.q.count, nil
	c.wanted, c.wantedHosts, c.altered = c.wanted[:0], c.wantedHosts[:0], c.altered[:0]
}

// newRecord returns an empty record of a URL.
func (c *changes) newRecord(id urlID) *record {
	rec := &record{}
	if last := len(c.spare) - 1; last >= 0 {
		rec, c.spare = c.spare[last], c.spare[:last]
		*rec = record{marks: rec.marks[:0]}
	}
	rec.fresh = true
	c.records[id] = rec
	return rec
}

// want notes that the record of a URL will be asked for, so that all of a group are read in one go. It reports whether
// the URL is known to be new.
func (c *changes) want(id urlID) (isNew bool) {
	switch {
	case c.records[id] != nil:
	case c.q.filter.maybe(id):
		c.wanted = append(c.wanted, id)
	default:
		c.newRecord(id)
		return true
	}
	return false
}

// wantHost is want for a host.
func (c *changes) wantHost(id hostID) {
	if _, ok := c.q.treated.get(id); !ok {
		c.wantedHosts = append(c.wantedHosts, id)
	}
}

// lend is want for the URL of a lease, which knows its record.
func (c *changes) lend(l *Lease) {
	if c.records[l.item.id] == nil {
		c.newRecord(l.item.id).copy(l.record)
	}
}

// read reads the records that are wanted.
func (c *changes) read() error {
	slices.Sort(c.wantedHosts)
	c.wantedHosts = slices.Compact(c.wantedHosts)
	err := c.q.store.readHosts(c.q.keys, c.wantedHosts, func(id hostID, h *hostRecord) {
		c.hosts[id] = h
		c.q.treated.put(id, h)
	})
	if err != nil {
		return err
	}
	slices.SortFunc(c.wanted, func(a, b urlID) int { return bytes.Compare(a[:], b[:]) })
	c.wanted = slices.Compact(c.wanted)
	return c.q.store.readRecords(c.q.keys, c.wanted, func(id urlID, value []byte) error {
		if c.records[id] != nil {
			return nil // lent since
		}
		rec := c.newRecord(id)
		if value == nil {
			return nil
		}
		if err := rec.decode(value); err != nil {
			return fmt.Errorf("record of URL %x: %w", id, err)
		}
		return nil
	})
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
		return c.newRecord(id), nil
	}
	c.records[id] = rec
	return rec, nil
}

func (c *changes) host(id hostID) (*hostRecord, error) {
	if h := c.hosts[id]; h != nil {
		return h, nil
	}
	h, ok := c.q.treated.get(id)
	if !ok {
		var err error
		if h, err = c.q.store.readHost(c.q.keys, id); err != nil {
			return nil, err
		}
	}
	c.q.treated.put(id, h)
	c.hosts[id] = h
	return h, nil
}

// delay puts an item aside until it is due.
func (c *changes) delay(rec *record, it item, at level, due time.Time) {
	c.q.count.delayed++
	it.alone, it.aside = coming{}, c.q.store.now().UnixNano()
	rec.place = place{kind: delayed, level: at, order: c.nextOrder(rec, &it), due: nanos.Of(due)}
	rec.dirty = true
	c.timed = true
	c.writes.set(c.q.keys.timed(kindDelayed, rec.place.due, rec.place.order), it.encode())
}

// dequeue takes the URL's item away from where it is; the caller puts it elsewhere, or calls forget.
func (c *changes) dequeue(rec *record, host hostID) error {
	at := rec.place
	switch at.kind {
	case delayed:
		c.q.count.delayed--
		c.timed = true
		c.writes.delete(c.q.keys.timed(kindDelayed, at.due, at.order))
	case inHostQueue:
		h, err := c.host(host)
		if err != nil {
			return err
		}
		h.items[at.level]--
		h.dirty = true
		if h.items[at.level] == 0 && h.parked == 0 {
			c.writes.delete(c.q.keys.ready(at.level, host))
		}
		c.altered = append(c.altered, spot{hostQueueID: hostQueueID{host, at.level}, order: at.order})
		c.writes.delete(c.q.keys.item(host, at.level, at.order))
	}
	return nil
}

// forget leaves the URL in no queue: no crawl waits for it any more.
func (c *changes) forget(rec *record) {
	if rec.place.kind != nowhere {
		c.q.count.queued--
	}
	rec.place, rec.tries, rec.dirty = place{}, 0, true
}

// await records whether a crawl waits for a URL that it has a mark on.
func (c *changes) await(cr *crawl, m *mark, queued bool) {
	if m.queued == queued {
		return
	}
	m.queued = queued
	if queued {
		c.q.crawls.await(cr, 1)
	} else {
		c.q.crawls.await(cr, -1)
	}
	c.crawls[cr] = struct{}{}
}

// noteTime notes that something is written now, to the second: what is past when it is read again.
func (c *changes) noteTime() {
	if now := c.q.store.now().UnixNano(); len(c.writes.list) > 0 && now >= c.q.count.written+int64(time.Second) {
		c.q.count.written = now
	}
}

// flush hands what changed over to the batch.
func (c *changes) flush(batch pebbledb.Batch) error {
	w := &c.writes
	for id, rec := range c.records {
		if !rec.dirty {
			continue
		}
		if rec.fresh {
			c.q.filter.add(id)
			if rec.spelling() == "" {
				c.q.count.known++
			}
		}
		w.open(c.q.keys.url(kindSeen, id))
		w.data = rec.append(w.data)
		w.close()
	}
	for id, h := range c.hosts {
		if h.dirty {
			h.dirty = false
			w.set(c.q.keys.host(id), h.encode())
		}
	}
	c.flushFamilies()
	c.flushHits()
	for cr := range c.crawls {
		w.set(c.q.keys.crawl(cr.pass().ID), encodeCrawl(cr))
	}
	c.noteTime()
	if c.q.count != c.before {
		w.set(c.q.keys.start(kindMeta), c.q.count.encode())
	}
	return w.apply(batch)
}
