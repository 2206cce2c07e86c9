package objects

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/webrace/webrace/storage/internal/durable"
	"github.com/webrace/webrace/storage/internal/pebbledb"

	"github.com/webrace/webrace"
)

// A segment that is mostly dead gives back its space by moving what is alive behind the records of the segment that
// is written to, some megabytes at a time, each time with one batch of the index: byte for byte, unless records are
// compressed otherwise by now. So a run is never stalled, and whenever the power goes, each record is in the old
// place or in the new one. At last the index drops the segment, and the file is unlinked; if a crash comes between,
// that is done on open.
const (
	movedBytes   = 4 << 20
	movedRecords = 1000
	// rewrittenAtOnce segments share one pass over the index, which finds what is alive in them. What is
	// alive in a segment takes some megabytes of memory.
	rewrittenAtOnce = 8
)

// resident is a live record of a segment, or those of a version: its response, screenshot and meta-info.
type resident struct {
	versionKey                // of the version whose records they are; number is 0 for a body that outlives its version
	digest     webrace.Digest // of the body
	at         location       // with all records of the version, if it is one
	own        int64          // of its length, that of the response or revisit record
	shot       int64          // and that of the screenshot
}

func (c *collection) rewriteAll(ctx context.Context) error {
	for {
		sparse, err := c.sparse()
		if err != nil || len(sparse) == 0 {
			return err
		}
		residents, err := c.store.residents(ctx, sparse)
		if err != nil {
			return err
		}
		for _, number := range sparse {
			if err := c.store.evacuate(ctx, number, residents[number]); err != nil {
				return err
			}
			c.Segments++
		}
	}
}

// sparse chooses the sealed segments to rewrite, those with the least alive first. The one written to is
// sealed if it is one of them.
func (c *collection) sparse() ([]uint32, error) {
	all, err := c.store.indexedSegments()
	if err != nil {
		return nil, err
	}
	minimum := c.options.MinAlive
	if limit := c.options.MaxBytes; limit > 0 && int64(c.store.Stats().SegmentBytes) > limit {
		minimum = max(minimum, 7.0/8)
	}
	all = slices.DeleteFunc(all, func(k indexedSegment) bool { return k.alive() >= minimum || k.state.dead == 0 })
	slices.SortFunc(all, func(a, b indexedSegment) int { return cmp.Compare(a.alive(), b.alive()) })
	var numbers []uint32
	for _, k := range all[:min(len(all), rewrittenAtOnce)] {
		numbers = append(numbers, k.number)
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	return numbers, c.store.do(&write{job: func(c *commit) error {
		if slices.Contains(numbers, c.store.segments.number) {
			return c.rotate(c.store.compression())
		}
		return nil
	}})
}

// alive is the part of a segment's records that are in use.
func (k *indexedSegment) alive() float64 {
	return float64(k.state.size-k.state.dead) / float64(max(k.state.size, 1))
}

// residents finds what is alive in sealed segments, in the order in which it lies there.
func (s *Store) residents(ctx context.Context, segments []uint32) (map[uint32][]resident, error) {
	found := map[uint32][]resident{}
	for _, number := range segments {
		found[number] = nil
	}
	err := s.walk(ctx, func(k *known) error {
		for _, e := range k.all() {
			if list, ok := found[e.record.segment]; ok {
				found[e.record.segment] = append(list, resident{e.key(), e.Digest, e.whole(), e.record.length, e.shotLength})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.eachPayload(ctx, func(digest webrace.Digest, p *payload, _ error) error {
		if p == nil {
			return nil
		}
		if list, ok := found[p.record.segment]; ok {
			found[p.record.segment] = append(list, resident{digest: digest, at: p.record, own: p.record.length})
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for number, list := range found {
		slices.SortFunc(list, func(a, b resident) int {
			return cmp.Or(cmp.Compare(a.at.offset, b.at.offset), cmp.Compare(b.number, a.number))
		})
		found[number] = slices.CompactFunc(list, func(a, b resident) bool { return a.at.offset == b.at.offset })
	}
	return found, nil
}

// eachPayload visits what the index knows of every body; err reports that it cannot be decoded.
func (s *Store) eachPayload(ctx context.Context, visit func(webrace.Digest, *payload, error) error) error {
	var failed error
	for key, value := range under(s.db, []byte("d/"), &failed) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var digest webrace.Digest
		var found *payload
		p, err := decodePayload(value)
		if n := copy(digest[:], key[2:]); err == nil && (n != len(digest) || len(key) != n+2) {
			err = fmt.Errorf("%w: key of a body", ErrCorrupt)
		}
		if err == nil {
			found = &p
		}
		if err := visit(digest, found, err); err != nil {
			return err
		}
	}
	return failed
}

// evacuate moves what is alive in a sealed segment, and removes the segment.
func (s *Store) evacuate(ctx context.Context, number uint32, all []resident) error {
	for len(all) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, size := 0, int64(0)
		for n < len(all) && n < movedRecords && (n == 0 || size+all[n].at.length <= movedBytes) {
			size += all[n].at.length
			n++
		}
		if err := s.move(all[:n]); err != nil {
			return fmt.Errorf("rewrite segment %d: %w", number, err)
		}
		all = all[n:]
	}
	return s.dropSegment(number)
}

// move writes records anew and has the index point there.
func (s *Store) move(records []resident) error {
	all, as := make([]moved, len(records)), s.compression()
	for i, r := range records {
		p, err := s.segments.read(r.at)
		if err == nil && r.own+r.shot > r.at.length {
			err = fmt.Errorf("%w: records of %d bytes within %d", ErrCorrupt, r.own+r.shot, r.at.length)
		}
		if err == nil {
			all[i], err = s.recompressed(moved{p[:r.own], p[r.own : r.own+r.shot], p[r.own+r.shot:]}, as)
		}
		if err != nil {
			return err
		}
	}
	err := s.do(&write{job: func(c *commit) error {
		for i, r := range records {
			if err := c.move(r, all[i], as); err != nil {
				return err
			}
		}
		return nil
	}})
	s.moves.Add(1)
	return err
}

// moved are the records of a resident as they are written anew.
type moved struct{ own, shot, meta []byte }

// all are the records one behind the other.
func (m *moved) all() []byte { return slices.Concat(m.own, m.shot, m.meta) }

// recompressed returns records as they are in that compression.
func (s *Store) recompressed(m moved, as Compression) (_ moved, err error) {
	for _, record := range []*[]byte{&m.own, &m.shot, &m.meta} {
		if len(*record) == 0 {
			continue
		}
		if *record, err = s.recompress(*record, as); err != nil {
			return m, err
		}
	}
	return m, nil
}

// recompress returns a record in another compression, and as it is if it has that.
func (s *Store) recompress(record []byte, as Compression) ([]byte, error) {
	if compressionOf(record) == as {
		return record, nil
	}
	content, err := inflate(record, 8*int64(len(record)))
	if err != nil {
		return nil, err
	}
	c := s.compressor(as)
	defer s.release(c)
	var out bytes.Buffer
	c.compress(&out, content)
	return out.Bytes(), nil
}

// move writes a record anew, unless nothing refers to it any more.
func (c *commit) move(r resident, m moved, as Compression) error {
	var e *entry
	var key []byte
	if r.number > 0 {
		var err error
		if e, key, err = c.find(r.url, r.number); err != nil {
			return err
		}
		if e != nil && (e.record.segment != r.at.segment || e.record.offset != r.at.offset) {
			e = nil
		}
	}
	p, err := c.body(r.digest)
	if err != nil {
		return err
	}
	if p != nil && (p.record.segment != r.at.segment || p.record.offset != r.at.offset) {
		p = nil
	}
	switch {
	case e == nil && p == nil:
		return nil
	case e == nil: // its version was removed meanwhile, and with it what else was stored of it
		m, r.at.length = moved{own: m.own}, r.own
	}
	records := uint64(1)
	if e != nil {
		records = e.records()
	}
	to, err := c.append(m.all(), records, as)
	if err != nil {
		return err
	}
	to.length = int64(len(m.own))
	c.bury(r.at)
	if e != nil {
		e.record, e.shotLength, e.metaLength = to, int64(len(m.shot)), int64(len(m.meta))
		if c.latest[r.url] != e {
			c.setEntry(key, e)
		}
	}
	if p != nil {
		p.record = to
	}
	return nil
}

// dropSegment has the index forget a segment in which nothing is alive, and unlinks it. The last segment
// stays the last: one is begun before it goes, so that a segment below the last is never written to
// again, and no number is used twice.
func (s *Store) dropSegment(number uint32) error {
	err := s.do(&write{job: func(c *commit) error {
		seg := &c.store.segments
		if number == seg.number {
			if err := c.rotate(c.store.compression()); err != nil {
				return err
			}
		}
		state := seg.sealed[number]
		if state == nil {
			return nil
		}
		c.counts.segments--
		c.counts.segmentBytes -= uint64(state.size)
		c.counts.dead -= uint64(state.dead)
		delete(seg.sealed, number)
		c.batch.Delete(segmentKey(number))
		c.set(droppedKey(number), nil)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("remove segment %d: %w", number, err)
	}
	s.moves.Add(1)
	s.unlinking.Lock()
	defer s.unlinking.Unlock()
	return s.removeDropped(number)
}

// removeDropped removes the file of a segment that the index has dropped.
func (s *Store) removeDropped(number uint32) error {
	if err := s.options.FS.Remove(s.segments.path(number)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove segment %d: %w", number, err)
	}
	if err := durable.SyncDir(s.options.FS, s.segments.dir); err != nil {
		return err
	}
	return s.db.Delete(droppedKey(number), pebbledb.NoSync) // it is removed again if this is lost
}
