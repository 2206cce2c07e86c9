package objects

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// recover brings segments and index to agree, and sets the store up to go on from there. The index only ever
// names records that were synced before. What lies behind them is what a crash has left, or what the index has
// lost: see tail. To be mended, a store is set up as its index describes it.
func (s *Store) recover(mend bool) error {
	if err := s.checkFormat(); err != nil {
		return err
	}
	if err := s.checkGeneration(mend); err != nil {
		return err
	}
	var err error
	if s.durable, _, err = get(s, countersKey, decodeCounters); err != nil {
		return err
	}
	known, err := s.indexedSegments()
	if err != nil {
		return err
	}
	for _, k := range known {
		if s.segments.number > 0 {
			state := s.segments.state
			s.segments.sealed[s.segments.number] = &state
		}
		s.segments.number, s.segments.state = k.number, k.state
		s.segments.learn(k.number, k.state.compression)
		s.durable.dead += uint64(k.state.dead)
	}
	if !mend {
		err = s.recoverFiles(known)
	}
	s.accepted = s.durable.seq
	return err
}

// recoverFiles brings the files of segments in line with the index.
func (s *Store) recoverFiles(known []indexedSegment) error {
	if err := s.endDrops(); err != nil {
		return err
	}
	if err := s.recoverTail(); err != nil {
		return err
	}
	if err := s.warn(known); err != nil || s.options.ReadOnly {
		return err
	}
	return s.resume()
}

// resume opens the last segment to be written on, if it is as the index describes it and not full.
func (s *Store) resume() error {
	path := s.segments.path(s.segments.number)
	info, err := s.options.FS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (info.Size() != s.segments.state.size || info.Size() >= s.segments.limit) {
		return nil
	}
	if err == nil {
		s.segments.file, err = s.options.FS.OpenReadWrite(path, writeCategory)
	}
	if err != nil {
		return fmt.Errorf("open segment %d: %w", s.segments.number, err)
	}
	return nil
}

// warn logs which segments are not as the index describes them. What is missing is lost, but the rest stays
// readable, so it is no error; what is too much is left alone, for a check to look at.
func (s *Store) warn(known []indexedSegment) error {
	files, err := segmentFiles(s.options.FS, s.segments.dir)
	if err != nil {
		return err
	}
	log := s.options.Logger
	for _, k := range known {
		size, there := files[k.number]
		delete(files, k.number)
		switch {
		case !there:
			log.Error("object cache: a segment is missing", "file", s.segments.path(k.number), "bytes", k.state.size)
		case size < k.state.size:
			log.Error("object cache: a segment is too short", "file", s.segments.path(k.number), "bytes", size, "expected", k.state.size)
		}
	}
	for number := range files {
		if s.segments.known(number) == nil {
			log.Warn("object cache: a segment is not in the index; webrace-store fsck looks at it", "file", s.segments.path(number))
		}
	}
	return nil
}

// segmentFiles returns the sizes of the segments that are files, but for empty ones, which hold nothing.
func segmentFiles(fsys vfs.FS, dir string) (map[uint32]int64, error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	sizes := map[uint32]int64{}
	for _, name := range names {
		number, _, ok := segmentNumber(name)
		if !ok {
			continue
		}
		info, err := fsys.Stat(fsys.PathJoin(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list segments: %w", err)
		}
		if info.Size() > 0 {
			sizes[number] = info.Size()
		}
	}
	return sizes, nil
}

// endDrops removes the files of segments that the index has dropped, if a crash came before that was done.
func (s *Store) endDrops() error {
	if s.options.ReadOnly {
		return nil
	}
	prefix := []byte("x/")
	var failed error
	for key := range under(s.db, prefix, &failed) {
		number, ok := numberOf(key, prefix)
		if !ok || s.segments.known(number) != nil {
			return fmt.Errorf("%w: dropped segment %x", ErrCorrupt, key)
		}
		if err := s.removeDropped(number); err != nil {
			return err
		}
	}
	return failed
}

func (s *Store) checkFormat() error {
	n, ok, err := get(s, formatKey, decodeNumber)
	switch {
	case err != nil:
		return fmt.Errorf("read format: %w", err)
	case s.options.ReadOnly && n <= format:
		return nil
	case n > format:
		return fmt.Errorf("%w: %d, and this release reads up to %d", ErrFormat, n, format)
	case !ok || n < s.formatNeeded(): // format 1 knew no tombstones: all it holds reads the same
		s.format = s.formatNeeded()
		return s.db.Set(formatKey, encodeNumber(s.format), pebbledb.Sync)
	}
	s.format = n
	return nil
}

// formatNeeded is the oldest format in which the store can be, so that older releases read what they can.
func (s *Store) formatNeeded() uint64 {
	needed := uint64(formatGzip)
	if s.options.Compression == Zstd {
		needed = formatZstd
	}
	if s.segments.zstd.some() {
		needed = formatZstd
	}
	return needed
}

type indexedSegment struct {
	number uint32
	state  segmentState
}

// indexedSegments returns the segments that hold records, in order.
func (s *Store) indexedSegments() ([]indexedSegment, error) { return segmentsOf(s.db) }

func segmentsOf(index pebbledb.DB) ([]indexedSegment, error) {
	prefix := []byte("s/")
	var all []indexedSegment
	var failed error
	for key, value := range under(index, prefix, &failed) {
		number, ok := numberOf(key, prefix)
		state, err := decodeSegment(value)
		if err != nil || !ok {
			return nil, fmt.Errorf("%w: segment %x", ErrCorrupt, key)
		}
		all = append(all, indexedSegment{number, state})
	}
	return all, failed
}
