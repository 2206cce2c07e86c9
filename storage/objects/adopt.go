package objects

import (
	"fmt"
	"iter"

	"github.com/webrace/webrace"
)

// adoption brings versions into the index whose records were found where it knows nothing. It can be repeated: a
// version that has been brought in is known. What the index lacks it has lost: of versions that were removed, the
// records lie where it has counted them as dead, or nowhere.
type adoption struct {
	store *Store
	do    func(job func(*commit) error) error // one batch of the index
	files map[uint32]int64                    // the sizes of segments

	live map[uint32]int64 // bytes of records that were brought in, of each segment
	took int              // versions that were
}

// bodies finds the record of a body that the index does not know; nil for none.
type bodies func(webrace.Digest) (*payload, error)

// all brings in versions, in their order, and at last has the index know the extents.
func (a *adoption) all(extents []extent, versions iter.Seq2[*salvaged, error], find bodies) error {
	a.live = map[uint32]int64{}
	var err error
	if a.files, err = segmentFiles(a.store.options.FS, a.store.segments.dir); err != nil {
		return err
	}
	var group []*salvaged
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		err := a.do(func(c *commit) error { return a.group(c, group, find) })
		group = group[:0]
		return err
	}
	for v, err := range versions {
		if err != nil {
			return err
		}
		if group = append(group, v); len(group) == groupWrites {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil || len(extents) == 0 {
		return err
	}
	return a.do(func(c *commit) error { return a.extend(c, extents) })
}

func (a *adoption) group(c *commit, group []*salvaged, find bodies) error {
	for _, v := range group {
		if err := a.version(c, v, find); err != nil {
			return fmt.Errorf("index version %d of %s: %w", v.Number, v.URL, err)
		}
	}
	return nil
}

func (a *adoption) version(c *commit, v *salvaged, find bodies) error {
	e, key, err := c.find(v.View(), v.Number)
	if err != nil {
		return err
	}
	if e != nil {
		return a.known(c, e, key, v)
	}
	last, err := c.last(v.View())
	if err != nil {
		return err
	}
	highest, err := c.store.tombstone(v.View())
	if err != nil {
		return err
	}
	p, err := a.body(c, v, find)
	if err != nil || p == nil {
		return err
	}
	p.refs++
	a.insert(c, v, last)
	if v.Number > highest {
		c.batch.Delete(tombstoneKey(v.View()))
	}
	return nil
}

// insert puts a version into the log, and into its place among those of its URL, of which last is the latest.
func (a *adoption) insert(c *commit, v *salvaged, last *entry) {
	e := v.entry
	e.Seq = c.counts.seq + 1
	if v.former != "" {
		c.setFormer(&e, v.former)
	}
	c.insert(&e, last, encodeLinks(v.links))
	a.live[e.record.segment] += e.whole().length
	a.took++
}

// insert has the index know a version that may not be the latest of its URL, which is last; nil if it has none.
func (c *commit) insert(e, last *entry, links []byte) {
	c.counts.seq = e.Seq
	c.counts.versions++
	switch {
	case last == nil:
		c.counts.urls++
		c.latest[e.View()] = e
	case last.Number < e.Number:
		c.setEntry(olderKey(last.View(), last.Number), last)
		c.latest[e.View()] = e
	default:
		c.setEntry(olderKey(e.View(), e.Number), e)
	}
	c.set(linksKey(e.Seq), links)
	c.set(logKey(e.Seq), encodeLog(e.View(), e.Number))
}

// known gives a version that the index has its place here, if that which it knows is lost.
func (a *adoption) known(c *commit, e *entry, key []byte, v *salvaged) error {
	switch {
	case e.record == v.record:
		a.live[e.record.segment] += e.whole().length
		return nil
	case e.Digest != v.Digest || e.whole().within(a.files):
		return nil
	}
	c.bury(e.whole())
	e.record, e.shotLength, e.metaLength, e.Screenshot = v.record, v.shotLength, v.metaLength, v.Screenshot
	a.live[e.record.segment] += e.whole().length
	a.took++
	if c.latest[e.View()] != e {
		c.setEntry(key, e)
	}
	p, err := c.body(e.Digest)
	if err == nil && p != nil && v.payload != nil && !p.record.within(a.files) {
		p.record, p.id, p.date, p.url = v.record, v.payload.id, v.payload.date, v.payload.url
	}
	return err
}

// body returns what the index is to know of a version's body; nil if that is lost.
func (a *adoption) body(c *commit, v *salvaged, find bodies) (*payload, error) {
	p, err := c.body(v.Digest)
	if err != nil || p != nil && p.record.within(a.files) {
		return p, err
	}
	found := v.payload
	if found == nil {
		if found, err = find(v.Digest); err != nil || found == nil {
			return nil, err
		}
		a.live[found.record.segment] += found.record.length
	}
	added := *found
	if p != nil {
		added.refs = p.refs
	} else {
		c.counts.payloads++
		c.counts.payloadBytes += uint64(added.size)
	}
	c.payloads[v.Digest] = &added
	return &added, nil
}

// within reports whether the file of a segment is long enough for what is said to lie there.
func (l location) within(files map[uint32]int64) bool {
	size, there := files[l.segment]
	return there && l.offset+l.length <= size
}

// extend has the index know segments as far as their records were looked at.
func (a *adoption) extend(c *commit, extents []extent) error {
	for _, e := range extents {
		if e.end == e.begin {
			continue
		}
		state := c.state(e.segment)
		if state == nil {
			if err := c.store.segments.add(e.segment); err != nil {
				return err
			}
			c.counts.segments++
			state = c.state(e.segment)
		}
		grown := e.end - state.size
		dead := max(0, grown-e.info-a.live[e.segment])
		state.size, state.records, state.dead = e.end, state.records+e.records, state.dead+dead
		c.counts.segmentBytes += uint64(grown)
		c.counts.dead += uint64(dead)
	}
	return nil
}

// directly does a job while nothing else is done: before the committer begins.
func (s *Store) directly(job func(*commit) error) error {
	counts, err := s.commit([]*write{{job: job}})
	if err == nil {
		s.durable = counts
	}
	return err
}
