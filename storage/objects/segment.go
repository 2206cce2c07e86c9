package objects

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/durable"
)

// writeCategory names our writes in pebble's statistics of the file system.
const writeCategory vfs.DiskWriteCategory = "webrace-objects"

func segmentName(number uint32, c Compression) string {
	return fmt.Sprintf("seg-%08d.warc%s", number, c.extension())
}

// segmentNumber reads back what segmentName wrote; other files in the directory are not ours.
func segmentNumber(name string) (number uint32, c Compression, ok bool) {
	if _, err := fmt.Sscanf(name, "seg-%d.warc", &number); err != nil {
		return 0, 0, false
	}
	for _, c := range compressions {
		if name == segmentName(number, c) {
			return number, c, true
		}
	}
	return 0, 0, false
}

// segments is the directory of segment files, and the one among them that is written to. It belongs to
// the committer; reads take no part in its state.
type segments struct {
	fs      vfs.FS
	dir     string
	number  uint32   // of the segment written to
	file    vfs.File // nil until something is written
	pending []byte   // the last records, which are not in the file yet
	state   segmentState
	sealed  map[uint32]*segmentState // of the others
	zstd    numbers                  // of segments of which every record is compressed by zstd; for readers too
	limit   int64
	renewal func(name string, c Compression) []byte // makes the first record of a new segment
}

// look learns the compression of the segments that are files.
func (s *segments) look() error {
	names, err := s.fs.List(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list segments: %w", err)
	}
	for _, name := range names {
		if number, c, ok := segmentNumber(name); ok {
			s.learn(number, c)
		}
	}
	return nil
}

// learn notes the compression of a segment.
func (s *segments) learn(number uint32, c Compression) {
	if c == Zstd {
		s.zstd.add(number)
	} else {
		s.zstd.remove(number)
	}
}

func (s *segments) compressionOf(number uint32) Compression {
	if s.zstd.has(number) {
		return Zstd
	}
	return Gzip
}

// numbers is a set, of which the zero value is empty. It may be used by many goroutines. (A sync.Map is compiled again
// by whoever imports a package that holds one.)
type numbers struct {
	mu sync.RWMutex
	in map[uint32]bool
}

func (n *numbers) add(number uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.in == nil {
		n.in = make(map[uint32]bool)
	}
	n.in[number] = true
}

func (n *numbers) remove(number uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.in, number)
}

func (n *numbers) has(number uint32) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.in[number]
}

func (n *numbers) some() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.in) > 0
}

func (s *segments) name(number uint32) string { return segmentName(number, s.compressionOf(number)) }

func (s *segments) path(number uint32) string { return s.fs.PathJoin(s.dir, s.name(number)) }

// fits reports whether size more bytes of records of that compression belong in the segment that is written to.
func (s *segments) fits(size int64, c Compression) bool {
	return s.file != nil && s.state.compression == c && (s.state.size+size <= s.limit || s.state.records <= 1)
}

// known returns the state of a segment, to be changed; nil if there is no such segment.
func (s *segments) known(number uint32) *segmentState {
	if number == s.number && number != 0 {
		return &s.state
	}
	return s.sealed[number]
}

// add makes a segment known whose file is there. If it is above the one written to, that is written to no more.
func (s *segments) add(number uint32) error {
	state := segmentState{compression: s.compressionOf(number)}
	if number < s.number {
		s.sealed[number] = &state
		return nil
	}
	if s.file != nil {
		if err := errors.Join(s.flush(), s.file.Sync(), s.file.Close()); err != nil {
			return fmt.Errorf("close segment %d: %w", s.number, err)
		}
		s.file = nil
	}
	if s.number > 0 {
		former := s.state
		s.sealed[s.number] = &former
	}
	s.number, s.state = number, state
	return nil
}

// next closes the segment written to, which must be synced, and begins another.
func (s *segments) next(c Compression) error {
	if s.file != nil {
		if err := s.file.Close(); err != nil {
			return fmt.Errorf("close segment %d: %w", s.number, err)
		}
		s.file = nil
	}
	if s.number > 0 {
		state := s.state
		s.sealed[s.number] = &state
	}
	number, err := s.free()
	if err != nil {
		return err
	}
	s.number = number
	s.learn(number, c)
	file, err := s.fs.OpenReadWrite(s.path(s.number), writeCategory)
	if err != nil {
		return fmt.Errorf("create segment %d: %w", s.number, err)
	}
	s.file, s.state = file, segmentState{compression: c}
	if err := durable.SyncDir(s.fs, s.dir); err != nil {
		return err
	}
	return s.append(s.renewal(s.name(s.number), c), 1)
}

// free returns a number above that of the segment written to, whose file is not there or is empty: nothing is
// written over what the index does not know.
func (s *segments) free() (uint32, error) {
	for number := s.number + 1; ; number++ {
		taken := false
		for _, c := range compressions {
			info, err := s.fs.Stat(s.fs.PathJoin(s.dir, segmentName(number, c)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return 0, fmt.Errorf("look for segment %d: %w", number, err)
			}
			taken = taken || err == nil && info.Size() > 0
		}
		if !taken {
			return number, nil
		}
	}
}

// writeBytes are gathered to be written at a time: a call of the system costs more than a small record.
const writeBytes = 256 << 10

// append puts records behind the last one; they are in the file, and durable, after sync.
func (s *segments) append(p []byte, records uint64) error {
	if len(s.pending)+len(p) > writeBytes {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.state.size += int64(len(p))
	s.state.records += records
	if len(p) > writeBytes {
		return s.write(p)
	}
	s.pending = append(s.pending, p...)
	return nil
}

// flush writes what is pending.
func (s *segments) flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	p := s.pending
	s.pending = p[:0]
	return s.write(p)
}

// write writes the last bytes of the segment.
func (s *segments) write(p []byte) error {
	if _, err := s.file.WriteAt(p, s.state.size-int64(len(p))); err != nil {
		return fmt.Errorf("append to segment %d: %w", s.number, err)
	}
	return nil
}

func (s *segments) sync() error {
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.file.SyncData(); err != nil {
		return fmt.Errorf("sync segment %d: %w", s.number, err)
	}
	return nil
}

func (s *segments) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// read returns the bytes at l. It opens the file anew each time, which costs a fraction of inflating
// what it holds, and lets a segment be unlinked under readers.
func (s *segments) read(l location) ([]byte, error) {
	file, err := s.fs.Open(s.path(l.segment))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: segment %d is missing", ErrCorrupt, l.segment)
	}
	if err != nil {
		return nil, fmt.Errorf("open segment %d: %w", l.segment, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open segment %d: %w", l.segment, err)
	}
	if l.offset > info.Size() || l.length > info.Size()-l.offset {
		return nil, fmt.Errorf("%w: segment %d ends at %d, before the record at %d", ErrCorrupt, l.segment, info.Size(), l.offset)
	}
	p := make([]byte, l.length)
	if _, err := file.ReadAt(p, l.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read segment %d at %d: %w", l.segment, l.offset, err)
	}
	return p, nil
}

// truncate cuts a file down to size. Where the file system cannot, the part to keep is copied and takes
// the file's place.
func truncate(fsys vfs.FS, path string, size int64) error {
	file, err := fsys.OpenReadWrite(path, writeCategory)
	if err != nil {
		return fmt.Errorf("truncate %s: %w", path, err)
	}
	defer file.Close()
	if t, ok := file.(interface{ Truncate(int64) error }); ok {
		if err := errors.Join(t.Truncate(size), file.Sync()); err != nil {
			return fmt.Errorf("truncate %s: %w", path, err)
		}
		return nil
	}
	if err := copyPrefix(fsys, path+temporary, file, size); err != nil {
		return fmt.Errorf("truncate %s: %w", path, err)
	}
	if err := fsys.Rename(path+temporary, path); err != nil {
		return fmt.Errorf("truncate %s: %w", path, err)
	}
	return durable.SyncDir(fsys, fsys.PathDir(path))
}

// temporary ends the names of files that are not whole yet; open removes those a crash left.
const temporary = ".tmp"

func isTemporary(name string) bool {
	return strings.HasPrefix(name, "seg-") && strings.HasSuffix(name, temporary)
}

func copyPrefix(fsys vfs.FS, to string, from io.ReaderAt, size int64) error {
	file, err := fsys.Create(to, writeCategory)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{file}, io.NewSectionReader(from, 0, size), make([]byte, 1<<20))
	return errors.Join(err, file.Sync(), file.Close())
}

// makeDir makes dir and its parents, and makes their names durable.
func makeDir(fsys vfs.FS, dir string) error {
	var missing []string
	for p := dir; ; p = fsys.PathDir(p) {
		if _, err := fsys.Stat(p); err == nil || fsys.PathDir(p) == p {
			break
		}
		missing = append(missing, p)
	}
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make directory %s: %w", dir, err)
	}
	for _, p := range missing {
		if err := durable.SyncDir(fsys, fsys.PathDir(p)); err != nil {
			return err
		}
	}
	return nil
}
