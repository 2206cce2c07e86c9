package objects

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
)

// recover brings segments and index to agree, and sets the store up to go on from there. The index is
// right: it only ever names records that were synced before.
func (s *Store) recover() error {
	if err := s.checkFormat(); err != nil {
		return err
	}
	var err error
	if s.durable, _, err = get(s, countersKey, decodeCounters); err != nil {
		return err
	}
	s.accepted = s.durable.seq
	known, err := s.indexedSegments()
	if err != nil {
		return err
	}
	if !s.options.ReadOnly {
		if err := s.removeUnindexed(known); err != nil {
			return err
		}
	}
	for _, k := range known {
		whole, err := s.checkSegment(k)
		if err != nil {
			return err
		}
		if s.segments.number > 0 {
			state := s.segments.state
			s.segments.sealed[s.segments.number] = &state
		}
		s.segments.number, s.segments.state, s.segments.file = k.number, k.state, nil
		s.durable.dead += uint64(k.state.dead)
		if !whole || k.number != known[len(known)-1].number || k.state.size >= s.segments.limit || s.options.ReadOnly {
			continue
		}
		if s.segments.file, err = s.options.FS.OpenReadWrite(s.segments.path(k.number), writeCategory); err != nil {
			return fmt.Errorf("open segment %d: %w", k.number, err)
		}
	}
	return nil
}

func (s *Store) checkFormat() error {
	n, ok, err := get(s, formatKey, decodeNumber)
	switch {
	case err != nil:
		return fmt.Errorf("read format: %w", err)
	case s.options.ReadOnly && n <= format:
		return nil
	case !ok || n < format: // format 1 knew no tombstones: all it holds reads the same
		return s.db.Set(formatKey, encodeNumber(format), pebble.Sync)
	case n > format:
		return fmt.Errorf("%w: %d, and this release reads up to %d", ErrFormat, n, format)
	}
	return nil
}

type indexedSegment struct {
	number uint32
	state  segmentState
}

// indexedSegments returns the segments that hold records, in order.
func (s *Store) indexedSegments() ([]indexedSegment, error) { return segmentsOf(s.db) }

func segmentsOf(index *pebble.DB) ([]indexedSegment, error) {
	prefix := []byte("s/")
	it, err := over(index, prefix)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	defer it.Close()
	var all []indexedSegment
	for it.First(); it.Valid(); it.Next() {
		number, ok := numberOf(it.Key(), prefix)
		state, err := decodeSegment(it.Value())
		if err != nil || !ok {
			return nil, fmt.Errorf("%w: segment %x", ErrCorrupt, it.Key())
		}
		all = append(all, indexedSegment{number, state})
	}
	return all, it.Error()
}

// removeUnindexed removes segments that were begun and never got an indexed record.
func (s *Store) removeUnindexed(known []indexedSegment) error {
	indexed := map[uint32]bool{}
	for _, k := range known {
		indexed[k.number] = true
	}
	names, err := s.options.FS.List(s.segments.dir)
	if err != nil {
		return fmt.Errorf("list segments: %w", err)
	}
	for _, name := range names {
		number, ok := segmentNumber(name)
		if (!ok || indexed[number]) && !isTemporary(name) {
			continue
		}
		s.options.Logger.Warn("object cache: removing a file that a crash left without records", "file", name)
		if err := s.options.FS.Remove(s.options.FS.PathJoin(s.segments.dir, name)); err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
	}
	return nil
}

// checkSegment cuts off what lies behind the last record of a segment. It reports whether all that
// should be there is; what is missing is lost, but the rest stays readable, so it is no error.
func (s *Store) checkSegment(k indexedSegment) (whole bool, err error) {
	path := s.segments.path(k.number)
	info, err := s.options.FS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.options.Logger.Error("object cache: a segment is missing", "file", path, "bytes", k.state.size)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open segment %d: %w", k.number, err)
	}
	if info.Size() < k.state.size {
		s.options.Logger.Error("object cache: a segment is too short", "file", path, "bytes", info.Size(), "expected", k.state.size)
		return false, nil
	}
	if info.Size() > k.state.size && !s.options.ReadOnly {
		s.options.Logger.Warn("object cache: cutting off a torn tail", "file", path, "bytes", info.Size()-k.state.size)
		return true, truncate(s.options.FS, path, k.state.size)
	}
	return true, nil
}
