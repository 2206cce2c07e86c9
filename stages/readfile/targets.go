package readfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// target is a file that is to be read.
type target struct {
	path    string
	info    os.FileInfo // nil if it is none that can be known again: standard input, a pipe
	looked  time.Time   // when that was so
	known   *known      // nil where nothing is remembered
	place   string      // of its items, for their keys
	copied  bool        // from another target, by a compressor: nothing is read
	gone    bool        // it is not named any more, but still open
	leaving bool        // and is read for the last time
	missing error
}

// targets returns the files that the paths name. A pattern may match nothing; a file that is named must be there.
func (s *stage) targets() (all []*target, err error) {
	paths, err := s.paths()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		t := &target{path: path}
		if path != "-" {
			t.looked = time.Now()
			info, err := os.Stat(path)
			if t.missing = err; err == nil && info.Mode().IsRegular() {
				t.info = info
			}
		}
		all = append(all, t)
	}
	return all, nil
}

func (s *stage) paths() (all []string, err error) {
	for _, pattern := range s.options.Paths {
		if pattern == "-" || !strings.ContainsAny(pattern, "*?[") {
			all = append(all, pattern)
			continue
		}
		matched, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, matched...)
	}
	return all, nil
}

// recognize finds out which of the files are known, under whatever name:
//
//   - the same file by device and inode, as long as what has been read of it is in it;
//   - one that has taken its place under its name, with what has been read of it, as rsync and editors make it;
//   - a copy of one whose content was replaced since (copytruncate);
//   - one that is compressed now, or not any more.
//
// The others are new. Files are compared only if there is one that is not known by its inode.
func (s *stage) recognize(all []*target) {
	s.all = all
	for _, k := range s.positions.files {
		k.taken = false
	}
	var strange []*target
	for _, t := range all {
		if t.info == nil {
			continue
		}
		t.known = s.positions.byInode(identify(t.path, t.info))
		if t.known != nil && t.known.read.Offset > 0 {
			t.known.taken = true
		} else {
			strange = append(strange, t)
		}
	}
	if len(strange) > 0 {
		for _, t := range all {
			if t.known != nil && t.known.taken && !s.holds(t) {
				s.replaced(t)
				strange = append(strange, t)
			}
		}
	}
	for _, zipped := range []bool{true, false} { // what was compressed is what it was, rather than what has its name now
		for _, t := range strange {
			if is, err := isZipped(t.path); err != nil {
				t.missing = err
			} else if is == zipped {
				s.adopt(t, zipped)
			}
		}
	}
	for _, t := range all {
		if t.known != nil && !t.copied {
			s.nameAs(t.known, t)
		}
	}
}

func (p *positions) byInode(device, inode uint64) *known {
	for _, k := range p.files {
		if inode != 0 && k.Inode == inode && k.Device == device && !k.Replaced {
			return k
		}
	}
	return nil
}

// replaced notes that a file holds something else by now.
func (s *stage) replaced(t *target) {
	s.positions.mu.Lock()
	defer s.positions.mu.Unlock()
	t.known.Replaced, t.known.taken = true, false
	t.known.letGo()
	t.known = nil
}

// holds reports whether a file still holds what has been read of it.
func (s *stage) holds(t *target) bool {
	k := t.known
	if k.unchanged(t.info) {
		return true
	}
	_, close, err := s.openAt(t.path, k.read)
	if err == nil {
		close()
	}
	return !errors.Is(err, errReplaced)
}

// unchanged reports whether a file has been read to its end, and has not been written to since.
func (k *known) unchanged(info os.FileInfo) bool {
	return k.ended.Size == info.Size() && k.ended.Modified.Equal(info.ModTime()) && !k.ended.Modified.IsZero()
}

// stateOf is what tells a file that has changed, if that is certain: one that is written to again at once may have
// the same time.
func stateOf(info os.FileInfo, looked time.Time) state {
	const coarsest = 2 * time.Second // of the times that file systems keep
	if looked.Sub(info.ModTime()) < coarsest {
		return state{}
	}
	return state{info.Size(), info.ModTime()}
}

// adopt finds what is known of a file whose inode is not, or of which nothing has been read, or makes it known.
func (s *stage) adopt(t *target, zipped bool) {
	best := t.known
	for _, k := range s.positions.files {
		if k.taken || k.read.Offset == 0 || best != nil && k.read.Offset <= best.read.Offset {
			continue
		}
		elsewhere := k.Path != t.path
		if k.Replaced && elsewhere || !k.Replaced && (!elsewhere || k.Gzip != zipped) {
			if _, close, err := s.openAt(t.path, k.read); err == nil {
				close()
				best = k
			}
		}
	}
	if zipped && (best == nil || best.read.Offset == 0) {
		if other := s.copyOf(t); other != nil {
			t.known, t.copied = other, true
			return
		}
	}
	if best == nil {
		best = s.positions.add(t)
	}
	best.taken = true
	t.known = best
}

// add makes a file known.
func (p *positions) add(t *target) *known {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := &known{Path: t.path, ID: t.id()}
	before := 0 // files that had the inode, and are others
	for _, other := range p.files {
		if id, _, _ := strings.Cut(other.ID, "~"); id == k.ID {
			before++
		}
	}
	if before > 0 {
		k.ID = fmt.Sprintf("%s~%d", k.ID, before)
	}
	p.files = append(p.files, k)
	return k
}

// id names a file, whatever it is called; "" if it is none that can be known again.
func (t *target) id() string {
	if t.known != nil {
		return t.known.ID
	}
	if t.info == nil {
		return ""
	}
	if _, inode := identify(t.path, t.info); inode != 0 {
		return strconv.FormatUint(inode, 16)
	}
	return filepath.ToSlash(t.path)
}

// nameAs notes what a file is called by now.
func (s *stage) nameAs(k *known, t *target) {
	p := s.positions
	device, inode := identify(t.path, t.info)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range p.files {
		if other != k && other.Path == t.path && !other.taken {
			other.Replaced = true
		}
	}
	if k.Path != t.path || k.Inode != inode || k.Device != device || k.Replaced {
		p.changed = true
	}
	if k.Inode != inode || k.Device != device {
		k.letGo() // the other file has what is in this one
	}
	k.Path, k.Device, k.Inode, k.Replaced, k.Seen = t.path, device, inode, false, t.looked.UTC().Truncate(time.Second)
}

// copyOf returns the known file that one is a compressed copy of, which may still be being made: what gzip writes lies
// beside the file until it is complete.
func (s *stage) copyOf(t *target) *known {
	for _, other := range s.all {
		if other.known == nil || other.known.Gzip || other == t {
			continue
		}
		if same, err := isBeginning(t.path, other.path); err == nil && same {
			return other.known
		}
	}
	return nil
}

// isBeginning reports whether all that a file holds, as far as it can be read, is how another one begins.
func isBeginning(path, other string) (bool, error) {
	a, closeA, err := openContent(path)
	if err != nil {
		return false, err
	}
	defer closeA()
	b, closeB, err := openContent(other)
	if err != nil {
		return false, err
	}
	defer closeB()
	part, beside := make([]byte, bufferBytes), make([]byte, bufferBytes)
	for some := false; ; some = true {
		n, err := io.ReadFull(a, part)
		if m, _ := io.ReadFull(b, beside[:n]); m < n || !bytes.Equal(part[:n], beside[:n]) {
			return false, nil
		}
		if err != nil {
			return some || n > 0, nil
		}
	}
}

func isZipped(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	magic := make([]byte, len(gzipMagic))
	n, _ := io.ReadFull(file, magic)
	return string(magic[:n]) == gzipMagic, nil
}

func openContent(path string) (*content, func(), error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	c, err := contentOf(file)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return c, func() { file.Close() }, nil
}

// openAt opens a file at a mark; errReplaced says that it is not the one that the mark is of.
func (s *stage) openAt(path string, at mark) (*content, func(), error) {
	c, close, err := openContent(path)
	if err != nil {
		return nil, nil, asReplaced(err)
	}
	if s.options.Format == "xml" {
		c.decode()
	}
	if err := c.advance(at); err != nil {
		close()
		return nil, nil, err
	}
	return c, close, nil
}

// asReplaced takes for another file what does not hold what it did. What the system refuses says nothing of that.
func asReplaced(err error) error {
	var refused *fs.PathError
	if errors.As(err, &refused) {
		return err
	}
	return errReplaced
}
