package objects

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/webrace/webrace/storage/internal/setaside"
)

// This file compares the index with all that lies in the segments: records that it does not know are not garbage, as
// long as it is not known why they are.

// unindexed finds segments, and ends of segments, that the index does not know. Repaired, the versions in them are
// brought into the index; what holds none of any use is set aside.
func (c *check) unindexed() error {
	extents, err := c.extents()
	if err != nil || len(extents) == 0 {
		return err
	}
	for _, e := range extents {
		kind, detail := damageFile, fmt.Sprintf("%d bytes", e.size)
		if e.begin > 0 {
			kind, detail = damageTail, fmt.Sprintf("%d bytes from %d on", e.size-e.begin, e.begin)
		}
		c.report.Reportf("objects", kind, c.store.segments.name(e.segment), c.repair, "%s", detail)
	}
	if !c.repair {
		return nil
	}
	return c.adopt(extents)
}

// extents returns what the index does not know of the files of segments. The end of the last one is left to the next
// opening, unless the index is being mended.
func (c *check) extents() (all []extent, err error) {
	s := c.store
	files, err := segmentFiles(s.options.FS, s.segments.dir)
	if err != nil {
		return nil, err
	}
	for _, number := range slices.Sorted(maps.Keys(files)) {
		begin := int64(0)
		if state := s.segments.known(number); state != nil {
			begin = state.size
		}
		if files[number] > begin && (number < s.segments.number || c.mending) {
			all = append(all, extent{segment: number, begin: begin, end: begin, size: files[number]})
		}
	}
	return all, nil
}

// adopt brings the versions of extents into the index, and sets aside what holds none.
func (c *check) adopt(extents []extent) error {
	s := c.store
	a, err := c.indexed(extents)
	if err != nil {
		return err
	}
	var kept []extent
	for _, e := range extents {
		switch {
		case e.begin == 0 && a.live[e.segment] == 0:
			_, err = setaside.Move(s.options.FS, s.segments.path(e.segment))
		case e.end < e.size:
			err = s.cut(e.segment, e.end)
			fallthrough
		default:
			kept = append(kept, e)
		}
		if err != nil {
			return err
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return s.exclusively(func(work *commit) error { return a.extend(work, kept) })
}

// unaccounted finds segments with more bytes that belong to nothing than the index has counted: records that it has
// lost, as by a hole in its own log. Repaired, their versions are brought back.
func (c *check) unaccounted() error {
	all, err := c.store.indexedSegments()
	if err != nil {
		return err
	}
	var extents []extent
	for _, k := range all {
		if c.cut[k.number] || c.deadIn(k) <= k.state.dead {
			continue
		}
		if !c.repair || !c.mended && len(c.ours) == 0 {
			c.report.Reportf("objects", damageLostRecords, c.store.segments.name(k.number), c.repair,
				"%d bytes are of no version, and %d were given up", c.deadIn(k), k.state.dead)
		}
		extents = append(extents, extent{segment: k.number, begin: 0, size: k.state.size})
	}
	if !c.repair || len(extents) == 0 {
		return nil
	}
	if err := c.bringBack(extents); err != nil {
		return err
	}
	if err := c.versions(); err != nil {
		return err
	}
	return c.references()
}

// bringBack brings versions of segments into the index that has lost them.
func (c *check) bringBack(extents []extent) error {
	if _, err := c.indexed(extents); err != nil {
		return err
	}
	return errors.Join(c.measure(), c.screen())
}

// indexed brings the versions of extents into the index.
func (c *check) indexed(extents []extent) (_ *adoption, err error) {
	h, err := c.store.newHarvest()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	for i := range extents {
		if err := h.extent(c.ctx, &extents[i]); err != nil {
			return nil, err
		}
	}
	c.mended = true
	a := &adoption{store: c.store, do: c.store.exclusively}
	return a, a.all(nil, h.versions(), h.body)
}

// measure finds how much can be read of segments that repairs have written to.
func (c *check) measure() error {
	all, err := c.store.indexedSegments()
	for _, k := range all {
		if !c.cut[k.number] {
			c.readable[k.number] = k.state.size
		}
	}
	return err
}

// deadIn is how many bytes of a segment belong to nothing.
func (c *check) deadIn(k indexedSegment) int64 {
	return max(0, k.state.size-c.store.infoLength(k.number)-c.live[k.number])
}
