package objects

import (
	"fmt"
	"io"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/setaside"
)

// references counts, for every body, the versions that have it, and with that what is alive in each
// segment. It takes as many passes over all versions as its memory makes necessary.
func (c *check) references() error {
	c.counts, c.live, c.ends = counters{}, map[uint32]int64{}, map[uint32]int64{}
	err := c.store.walk(c.ctx, func(k *known) error {
		c.counts.urls++
		for _, e := range k.all() {
			c.counts.versions++
			c.counts.seq = max(c.counts.seq, e.Seq)
			c.alive(e.shot())
			c.alive(e.meta())
		}
		return nil
	})
	if err != nil {
		return err
	}
	const perPass = 1 << 20
	passes := int(c.store.Stats().Payloads/perPass) + 1
	for pass := range passes {
		mine := func(d webrace.Digest) bool { return (int(d[0])<<8|int(d[1]))%passes == pass }
		if err := c.referencesOf(mine); err != nil {
			return err
		}
	}
	return nil
}

// referred is a body, with what the index holds of it.
type referred struct {
	record     location
	refs, seen uint64
}

func (c *check) referencesOf(mine func(webrace.Digest) bool) error {
	bodies := map[webrace.Digest]*referred{}
	if err := c.store.eachPayload(c.ctx, func(d webrace.Digest, p *payload, _ error) error {
		if p != nil && mine(d) {
			bodies[d] = &referred{p.record, p.refs, 0}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := c.store.walk(c.ctx, func(k *known) error {
		for _, e := range k.all() {
			if !mine(e.Digest) {
				continue
			}
			b := bodies[e.Digest]
			if b != nil {
				b.seen++
			}
			if b == nil || b.record != e.record {
				c.alive(e.record)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return c.store.eachPayload(c.ctx, func(d webrace.Digest, p *payload, _ error) error {
		if p == nil || !mine(d) || bodies[d] == nil {
			return nil
		}
		return c.referencesTo(d, p, bodies[d])
	})
}

func (c *check) referencesTo(d webrace.Digest, p *payload, b *referred) error {
	if b.seen == 0 {
		return c.amend(c.ours[d], damageOrphanBody, formatDigest(d), "", deleteKey(payloadKey(d)))
	}
	c.counts.payloads++
	c.counts.payloadBytes += uint64(p.size)
	c.alive(p.record)
	if b.seen == b.refs {
		return nil
	}
	p.refs = b.seen
	return c.amend(c.ours[d], damageReferences, formatDigest(d), fmt.Sprintf("%d, and %d versions have it", b.refs, b.seen), setKey(payloadKey(d), encodePayload(p)))
}

// alive counts a record that is in use.
func (c *check) alive(l location) {
	c.live[l.segment] += l.length
	c.ends[l.segment] = max(c.ends[l.segment], l.offset+l.length)
}

// segments compares what segments tell of themselves with what is alive in them, and brings those that
// are cut to what is left of them.
func (c *check) segments() error {
	all, err := c.store.indexedSegments()
	if err != nil {
		return err
	}
	for _, k := range all {
		readable, cut := c.readable[k.number], c.cut[k.number]
		switch {
		case cut && !c.repair: // reported before
		case cut && c.ends[k.number] == 0:
			if err := c.giveUp(k.number); err != nil {
				return err
			}
			delete(c.readable, k.number)
			continue
		case cut:
			k.state.size = min(readable, c.ends[k.number])
			if err := c.store.cut(k.number, k.state.size); err != nil {
				return err
			}
		}
		if err := c.dead(k, cut); err != nil {
			return err
		}
		c.counts.segments++
		c.counts.segmentBytes += uint64(k.state.size)
	}
	return nil
}

// giveUp has the index forget a segment of which nothing is left that it knows. Its file, if there is one, is set
// aside.
func (c *check) giveUp(number uint32) error {
	fsys, path := c.store.options.FS, c.store.segments.path(number)
	if _, err := fsys.Stat(path); err == nil {
		if _, err := setaside.Move(fsys, path); err != nil {
			return err
		}
	}
	return c.store.dropSegment(number)
}

func (c *check) dead(k indexedSegment, cut bool) error {
	if cut && !c.repair {
		return nil
	}
	dead := c.deadIn(k)
	if dead == k.state.dead && !cut {
		return nil
	}
	set := func(r *removal) error {
		if state := r.state(k.number); state != nil {
			r.counts.dead += uint64(dead) - uint64(state.dead)
			r.counts.segmentBytes += uint64(k.state.size) - uint64(state.size)
			state.size, state.dead = k.state.size, dead
			if cut && k.number == r.store.segments.number {
				return r.rotate(r.store.compression())
			}
		}
		return nil
	}
	return c.amend(cut || c.mended || len(c.ours) > 0, damageDead, c.store.segments.name(k.number), fmt.Sprintf("%d, and %d are", k.state.dead, dead), set)
}

// infoLength is the size of the record that a segment begins with; 0 if it cannot be read.
func (s *Store) infoLength(number uint32) int64 {
	file, err := s.options.FS.Open(s.segments.path(number))
	if err != nil {
		return 0
	}
	defer file.Close()
	start := make([]byte, 4<<10)
	n, _ := file.ReadAt(start, 0)
	d := decompressors.Get().(*decompressor)
	defer decompressors.Put(d)
	d.input.Reset(start[:n])
	content, err := d.begin(&d.input, compressionOf(start[:n]))
	if err != nil {
		return 0
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return 0
	}
	return int64(n - d.input.Len())
}

// counters compares the counters with what was counted.
func (c *check) counters() error {
	if len(c.cut) > 0 && !c.repair {
		return nil // they are right as long as the lost versions are there
	}
	// Repairs may have begun a segment, which was not counted.
	all, err := c.store.indexedSegments()
	if err != nil {
		return err
	}
	want := c.counts
	want.segments, want.segmentBytes = uint64(len(all)), 0
	for _, k := range all {
		want.segmentBytes += uint64(k.state.size)
		if _, known := c.readable[k.number]; !known {
			c.readable[k.number] = k.state.size
		}
	}
	stored, _, err := get(c.store, countersKey, decodeCounters)
	if err == nil {
		want.seq = max(want.seq, stored.seq) // numbers of versions that were removed are not used again
		if stored == want {
			return nil
		}
	}
	return c.amend(len(c.ours) > 0 || c.mended || len(c.cut) > 0, damageCounters, "", fmt.Sprintf("%+v, and should be %+v", stored, want), func(r *removal) error {
		want.dead = r.counts.dead
		r.counts = want
		r.store.mu.Lock()
		defer r.store.mu.Unlock()
		r.store.accepted = max(r.store.accepted, want.seq)
		return nil
	})
}
