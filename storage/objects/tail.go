package objects

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/setaside"
)

// A crash may come after records were synced, and before the index names them. They were not acknowledged, so
// they could go; but nothing tells them from records that the index has lost. So whole records are indexed, whatever
// they are, and only what is no whole record is taken off, and kept in a file of its own beside the segment. A crash
// leaves no more behind the index than one group of writes: if there is more, the index is an older one.

// tailRecords is how many records a tail is looked at for: a group has up to three for each write, and so has a batch
// of records that move.
const tailRecords = 3 * max(groupWrites, movedRecords)

// tail is what lies behind the records that the index knows, in the last segment and those after it.
type tail struct {
	extents  []extent
	versions []*salvaged
	bodies   map[webrace.Digest]*payload
}

// extent is a part of a segment that the index does not know: it begins where the index ends. What lies behind end
// is no record.
type extent struct {
	segment          uint32
	begin, end, size int64
	records          uint64
	info             int64 // of these bytes, those of the record that a segment begins with
}

// recoverTail indexes what is whole of the tail, and sets the rest aside. A store that is only read is refused if its
// index is an older one, and else sees nothing of the tail.
func (s *Store) recoverTail() error {
	t, err := s.readTail()
	if err != nil || len(t.extents) == 0 || s.options.ReadOnly {
		return err
	}
	if n := len(t.versions); n > 0 {
		s.options.Logger.Warn("object cache: a crash has left versions behind the index; they are indexed", "versions", n)
	}
	for i := range t.extents {
		if err := s.trim(&t.extents[i]); err != nil {
			return err
		}
	}
	versions := func(yield func(*salvaged, error) bool) {
		for _, v := range t.versions {
			if !yield(v, nil) {
				return
			}
		}
	}
	a := &adoption{store: s, do: s.directly}
	return a.all(t.extents, versions, func(d webrace.Digest) (*payload, error) { return t.bodies[d], nil })
}

// readTail finds what is in the tail.
func (s *Store) readTail() (*tail, error) {
	t := &tail{bodies: map[webrace.Digest]*payload{}}
	files, err := segmentFiles(s.options.FS, s.segments.dir)
	if err != nil {
		return nil, err
	}
	last := s.segments.number
	for _, number := range slices.Sorted(maps.Keys(files)) {
		begin := int64(0)
		if number == last {
			begin = s.segments.state.size
		}
		if number < last || files[number] <= begin {
			continue
		}
		e := extent{segment: number, begin: begin, end: begin, size: files[number]}
		if err := s.readExtent(t, &e); err != nil {
			return nil, err
		}
		t.extents = append(t.extents, e)
	}
	unknown, err := s.unknown(t.versions)
	if err == nil && unknown > groupWrites {
		err = indexError(damageOldIndex, s.options.FS.PathJoin(s.segments.dir, indexName),
			fmt.Sprintf("more than %d versions that it does not know lie behind the last one it knows", groupWrites))
	}
	return t, err
}

// readExtent finds the whole records of an extent, up to the first that is not.
func (s *Store) readExtent(t *tail, e *extent) error {
	file, err := s.options.FS.Open(s.segments.path(e.segment))
	if err != nil {
		return fmt.Errorf("open segment %d: %w", e.segment, err)
	}
	defer file.Close()
	p := pairs{add: t.add}
	for in := (&scanner{segment: e.segment, file: file, at: e.begin, end: e.size}); in.at < in.end && e.records < tailRecords; {
		r, err := in.here()
		if errors.Is(err, ErrCorrupt) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		in.at = r.at.offset + r.at.length
		e.take(r)
		if err := p.next(r); err != nil {
			return err
		}
	}
	return p.end(e.size)
}

// take counts a record as one of the extent.
func (e *extent) take(r *scanned) {
	e.end = r.at.offset + r.at.length
	e.records++
	if r.at.offset == 0 && r.fields["warc-type"] == typeInfo {
		e.info = r.at.length
	}
}

func (t *tail) add(v *salvaged) error {
	if v.payload != nil && t.bodies[v.Digest] == nil {
		t.bodies[v.Digest] = v.payload
	}
	if v.metaLength > 0 {
		t.versions = append(t.versions, v)
	}
	return nil
}

// unknown counts the versions that the index neither has nor ever had.
func (s *Store) unknown(versions []*salvaged) (n int, err error) {
	for _, v := range versions {
		latest, _, err := s.durableLatest(v.View())
		if err != nil {
			return 0, err
		}
		highest, err := s.tombstone(v.View())
		if err != nil {
			return 0, err
		}
		if v.Number > max(latest.Number, highest) {
			n++
		}
	}
	return n, nil
}

// trim takes off the file of an extent what is no record, and keeps it beside.
func (s *Store) trim(e *extent) error {
	if e.end == e.size {
		return nil
	}
	path := s.segments.path(e.segment)
	if e.end == 0 {
		to, err := setaside.Move(s.options.FS, path)
		s.options.Logger.Warn("object cache: a file that holds no record was set aside", "file", path, "to", to)
		return err
	}
	return s.cut(e.segment, e.end)
}

// cut cuts a segment, and keeps what it cuts off in a file beside it.
func (s *Store) cut(segment uint32, size int64) error {
	path := s.segments.path(segment)
	to, err := setaside.CopyTail(s.options.FS, path, size)
	if err != nil {
		return err
	}
	s.options.Logger.Warn("object cache: a torn end was set aside", "file", path, "from", size, "to", to)
	return truncate(s.options.FS, path, size)
}

// pairs makes versions of records that lie one behind the other: a pair, with a screenshot between them or not. A
// version without meta-info is one whose response outlives it, for the body; or, if what follows is no record, one
// whose meta-info is damaged.
type pairs struct {
	add  func(*salvaged) error
	last *salvaged // whose screenshot or metadata record may follow
}

func (p *pairs) next(r *scanned) error {
	if p.last != nil {
		if p.last.show(r) {
			return nil
		}
		mine, err := p.last.describe(r)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
		if mine {
			return p.end(r.at.offset + r.at.length)
		}
	}
	if err := p.end(r.at.offset); err != nil {
		return err
	}
	v, err := versionOf(r)
	if err != nil {
		return nil // another kind of record
	}
	p.last = v
	return nil
}

// end hands in the last version, behind which the next record begins, or the file ends.
func (p *pairs) end(next int64) error {
	last := p.last
	if p.last = nil; last == nil {
		return nil
	}
	last.torn = last.metaLength == 0 && next > last.meta().offset
	return p.add(last)
}
