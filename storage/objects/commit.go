package objects

import (
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/groupcommit"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// A group shares one sync of the segment and one of the index: with 64 writes a sync costs each of them
// next to nothing, and beyond a few MB more would only make the first one wait.
const (
	groupWrites = 256
	groupBytes  = 8 << 20
)

// commitLoop makes queued writes durable, a group at a time, until the store closes and the queue is
// empty. It is the only one that writes to segments, and to anything of the index but cursors.
func (s *Store) commitLoop() {
	for {
		group := s.takeGroup()
		if group == nil {
			return
		}
		began := time.Now()
		err := s.finish(group)
		for _, w := range group {
			if w.buffer != nil {
				s.buffers.Put(w.buffer)
			}
			if w.done != nil {
				w.done(err)
			}
		}
		if !s.full() {
			groupcommit.Rest(began, len(group))
		}
	}
}

// full reports whether there is no reason to wait for more writes.
func (s *Store) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing || len(s.queue) >= groupWrites || s.bytes >= groupBytes
}

// finish makes a group durable, and publishes what became of it.
func (s *Store) finish(group []*write) error {
	if group[0].exclusive {
		s.deciding.Lock()
		defer s.deciding.Unlock()
	}
	counts, err := s.commit(group)
	s.settle(group, counts, err)
	return err
}

// takeGroup waits for writes and takes the first ones; nil when the store is closing and none are left.
func (s *Store) takeGroup() []*write {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closing {
		s.work.Wait()
	}
	if len(s.queue) == 0 {
		return nil
	}
	n, size := 0, int64(0)
	for n < len(s.queue) && n < groupWrites && (n == 0 || size < groupBytes && s.queue[n].job == nil && s.queue[n-1].job == nil) {
		size += s.queue[n].size()
		n++
	}
	group := slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n)
	return group
}

// settle publishes what became of a group. What is durable is found in the index from now on, so its
// pending copies go. After a failure everything that waits fails too: versions were given out that
// depend on one another.
func (s *Store) settle(group []*write, counts counters, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range group {
		s.waiting--
		s.bytes -= w.size()
		if p := s.versions[w.version.View()]; p.by == w {
			delete(s.versions, w.version.View())
		}
		if p := s.payloads[w.version.Digest]; p.by == w {
			delete(s.payloads, w.version.Digest)
		}
		if w.buffer != nil {
			s.holds.settle(w.version.key())
		}
	}
	s.space.Broadcast()
	defer s.answerWaiters()
	if err != nil {
		s.failed = err
		return
	}
	grown := counts.seq > s.durable.seq
	s.durable = counts
	if grown {
		s.news.Broadcast()
	}
}

// commit writes a group: records, sync, index, in that order, so that the index never names a record
// that is not there. It returns the counters as they are then.
func (s *Store) commit(group []*write) (counters, error) {
	s.mu.Lock()
	counts, failed := s.durable, s.failed
	s.mu.Unlock()
	if failed != nil {
		return counts, failed
	}
	c := &commit{store: s, batch: s.db.NewBatch(), counts: counts, segments: map[uint32]bool{},
		latest: map[string]*entry{}, payloads: map[webrace.Digest]*payload{}}
	if group[0].job != nil {
		c.batch = s.db.NewIndexedBatch() // a job reads what it wrote
	}
	defer c.batch.Close()
	for _, w := range group {
		if err := c.add(w); err != nil {
			return counts, err
		}
	}
	if err := c.finish(); err != nil {
		return counts, err
	}
	return c.counts, nil
}

// commit is the work on one group.
type commit struct {
	store    *Store
	batch    pebbledb.Batch
	counts   counters
	appended bool
	segments map[uint32]bool             // whose state changed, besides that appended to
	latest   map[string]*entry           // of the URLs in this group, as they are by now; nil when there is none
	payloads map[webrace.Digest]*payload // of the bodies in this group; nil when there is none
}

func (c *commit) add(w *write) error {
	if w.job != nil {
		return w.job(c)
	}
	if err := c.keep(w); err != nil {
		return fmt.Errorf("store %s: %w", w.version.URL, err)
	}
	return nil
}

func (c *commit) keep(w *write) error {
	last, err := c.lastEntry(w)
	if err != nil {
		return err
	}
	if w.buffer == nil {
		if w.version.ValidatedAt.After(last.ValidatedAt) {
			last.ValidatedAt = w.version.ValidatedAt
		}
		return nil
	}
	e := &entry{Version: w.version, shotLength: w.shot, metaLength: int64(w.buffer.Len()) - w.record - w.shot}
	e.Changed = false
	if e.record, err = c.append(w.buffer.Bytes(), e.records(), w.compression); err != nil {
		return err
	}
	e.record.length = w.record
	if err := c.refer(w, e.record); err != nil {
		return err
	}
	c.latest[e.View()] = e
	if last != nil {
		c.setEntry(olderKey(last.View(), last.Number), last)
	} else {
		c.counts.urls++
	}
	if e.Number > 1 && (last == nil || e.Number > last.Number+1) {
		c.batch.Delete(tombstoneKey(e.View())) // the number goes on from the new version
	}
	if w.former != "" {
		c.setFormer(e, w.former)
	}
	c.set(linksKey(e.Seq), w.links)
	c.set(logKey(e.Seq), encodeLog(e.View(), e.Number))
	c.counts.versions++
	c.counts.seq = e.Seq
	return nil
}

// setFormer has the index know at which URL the versions before one are, if that is the first at its own.
func (c *commit) setFormer(e *entry, url string) {
	c.set(formerKey(e.View()), encodeFormer(webrace.Former{URL: url, Version: e.Number - 1}))
}

// lastEntry returns the latest entry of the write's URL, or nil when the URL has none.
func (c *commit) lastEntry(w *write) (*entry, error) {
	if w.buffer != nil && w.version.Number == 1 {
		return nil, nil
	}
	e, err := c.last(w.version.View())
	if err == nil && e == nil && w.buffer == nil {
		err = fmt.Errorf("%w: version %d is missing", ErrCorrupt, w.version.Number)
	}
	return e, err
}

// append writes records, and returns where they lie.
func (c *commit) append(p []byte, records uint64, as Compression) (location, error) {
	seg := &c.store.segments
	if !seg.fits(int64(len(p)), as) {
		if err := c.rotate(as); err != nil {
			return location{}, err
		}
	}
	at := location{seg.number, seg.state.size, int64(len(p))}
	c.appended = true
	c.counts.segmentBytes += uint64(len(p))
	return at, seg.append(p, records)
}

// rotate completes the segment written to and begins the next.
func (c *commit) rotate(as Compression) error {
	seg := &c.store.segments
	if seg.file != nil {
		if err := seg.sync(); err != nil {
			return err
		}
		c.segments[seg.number] = true
	}
	if err := seg.next(as); err != nil {
		return err
	}
	c.appended = true
	c.counts.segments++
	c.counts.segmentBytes += uint64(seg.state.size)
	return nil
}

// refer counts a version's reference to its body, which a response record at that place brings along.
func (c *commit) refer(w *write, at location) error {
	p := c.payloads[w.version.Digest]
	switch {
	case w.payload != nil:
		added := *w.payload // the original is read by others while it is pending
		p = &added
		p.record = at
		c.counts.payloads++
		c.counts.payloadBytes += uint64(p.size)
	case p == nil:
		var err error
		if p, err = c.body(w.version.Digest); err != nil {
			return err
		}
		if p == nil {
			return fmt.Errorf("%w: body %s is missing", ErrCorrupt, formatDigest(w.version.Digest))
		}
	}
	p.refs++
	c.payloads[w.version.Digest] = p
	return nil
}

// finish syncs what was appended, and then writes the index.
func (c *commit) finish() error {
	seg := &c.store.segments
	if c.appended {
		if err := seg.sync(); err != nil {
			return err
		}
		c.segments[seg.number] = true
	}
	for number := range c.segments {
		if state := seg.known(number); state != nil {
			c.set(segmentKey(number), encodeSegment(state))
		}
	}
	for url, e := range c.latest {
		if e != nil {
			c.setEntry(latestKey(url), e)
		} else {
			c.batch.Delete(latestKey(url))
		}
	}
	for digest, p := range c.payloads {
		if p != nil {
			c.set(payloadKey(digest), encodePayload(p))
		}
	}
	c.set(countersKey, encodeCounters(&c.counts))
	return c.store.publish(c.batch)
}

// publish writes a batch of the index as its next generation.
func (s *Store) publish(batch pebbledb.Batch) error {
	next := s.generation
	if next.ID != (generation.ID{}) { // or the index is being mended, and is whole at the end alone
		next.Commits++
		batch.Set(generationKey, generation.Varint.Encode(next)) // into memory: takes everything
	}
	if err := batch.Commit(pebbledb.Sync); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	s.generation = next
	if err := s.reached.Write(next); err != nil {
		return fmt.Errorf("write %s: %w", generation.FileName, err)
	}
	return nil
}

// setEntry has the index know a version.
func (c *commit) setEntry(key []byte, e *entry) {
	if e.shotLength > 0 {
		c.need(formatScreenshots)
	}
	if e.Status == 0 {
		c.need(formatResources)
	}
	c.set(key, encodeEntry(e))
}

// need has releases that do not know this format refuse the store from this batch on.
func (c *commit) need(format uint64) {
	if c.store.format < format {
		c.store.format = format
		c.set(formatKey, encodeNumber(format))
	}
}

// set puts a value into the batch, which is in memory and takes everything.
func (c *commit) set(key, value []byte) { c.batch.Set(key, value) }
