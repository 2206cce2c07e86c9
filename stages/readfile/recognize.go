package readfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// recognize finds out which of the files are known, under whatever name:
//
//   - the same file by device and inode, as long as what has been read of it is in it;
//   - one that has taken its place under its name, with what has been read of it, as rsync and editors make it;
//   - a copy of one whose content was replaced since (copytruncate);
//   - one that is compressed now, or not any more.
//
// The others are new. Files are compared only if there is one that is not known by its inode. It returns errMoved if
// files were renamed meanwhile.
func (s *stage) recognize(all []*target) error {
	s.all = all
	for _, k := range s.positions.files {
		k.taken = false
	}
	strange, compare := s.byInodes(all)
	if compare {
		if err := s.whereaboutsHold(); err != nil {
			return err
		}
		for _, t := range all {
			if t.known == nil || !t.known.taken {
				continue
			}
			holds, err := s.holds(t)
			if err != nil {
				return err
			}
			if !holds {
				s.replaced(t)
				strange = append(strange, t)
			}
		}
	}
	before := len(s.positions.files)
	err := s.adoptAll(strange)
	if err == nil && slices.ContainsFunc(strange, func(t *target) bool { return t.fresh }) {
		err = s.stillHold(all)
	}
	if err != nil {
		s.positions.unlearn(strange, before)
		return err
	}
	for _, t := range all {
		if t.known != nil && !t.copied {
			s.nameAs(t.known, t)
		}
	}
	return nil
}

// byInodes finds the files that are known by their inodes, and returns the others. They are to be compared unless all
// that is new is empty; and so is a file of which nothing has been read, which may have become another one, such as a
// .gz.
func (s *stage) byInodes(all []*target) (strange []*target, compare bool) {
	for _, t := range all {
		if t.info == nil {
			continue
		}
		t.known = s.positions.byInode(identify(t.path, t.info))
		if t.known != nil && t.known.fingerprint().Offset > 0 {
			t.known.taken = true
			compare = compare || t.known.read.Offset == 0 && !t.known.unchanged(t.info)
			continue
		}
		strange = append(strange, t)
		compare = compare || t.info.Size() > 0
	}
	return strange, compare
}

// whereaboutsHold returns errMoved if a known file that no path named has a name after all: it was renamed while the
// names were looked at. Another one that has its name now is not to be taken for it.
func (s *stage) whereaboutsHold() error {
	again, err := s.targets()
	if err != nil {
		return err
	}
	for _, t := range again {
		if t.info == nil {
			continue
		}
		if k := s.positions.byInode(identify(t.path, t.info)); k != nil && k.fingerprint().Offset > 0 && !k.taken {
			return errMoved
		}
	}
	return nil
}

// stillHold returns errMoved if a file was truncated while others were compared, of which one may be its copy. That
// its size and time are what they were says so only where they are old: a program may write as much again at once.
func (s *stage) stillHold(all []*target) error {
	for _, t := range all {
		if t.known == nil || t.copied || t.known.fingerprint().Offset == 0 {
			continue
		}
		info, err := os.Stat(t.path)
		if err != nil || stateOf(t.info, t.looked).isOf(info) {
			continue
		}
		if s.beginsWith(t, t.known.fingerprint()) != nil {
			return errMoved
		}
	}
	return nil
}

// adoptAll finds out what files are that are not known by their inode: first those that are compressed and known, for
// what was compressed is what it was, rather than what has its name now; last those that are compressed and are not
// known, which may be copies of files that are not known either.
func (s *stage) adoptAll(strange []*target) error {
	zipped := make(map[*target]bool) // an empty file may become one at any time
	for _, t := range strange {
		if zipped[t], t.missing = isZipped(t); errors.Is(t.missing, errMoved) {
			return t.missing
		}
	}
	adopted := make(map[*target]bool)
	for _, turn := range []struct{ zipped, mustBeKnown bool }{{true, true}, {false, false}, {true, false}} {
		for _, t := range strange {
			if t.missing != nil || zipped[t] != turn.zipped || adopted[t] {
				continue
			}
			adopted[t], t.missing = s.adopt(t, turn.zipped, turn.mustBeKnown)
			if errors.Is(t.missing, errMoved) {
				return t.missing
			}
		}
	}
	return nil
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
func (s *stage) holds(t *target) (bool, error) {
	if t.known.unchanged(t.info) {
		return true, nil
	}
	err := s.beginsWith(t, t.known.fingerprint())
	if errors.Is(err, errMoved) {
		return false, err
	}
	return !errors.Is(err, errReplaced), nil
}

// unchanged reports whether a file has been read to its end, and has not been written to since.
func (k *known) unchanged(info os.FileInfo) bool { return k.ended.isOf(info) }

// isOf reports whether a file certainly is as it was.
func (s state) isOf(info os.FileInfo) bool {
	return s.Size == info.Size() && s.Modified.Equal(info.ModTime()) && !s.Modified.IsZero()
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

// adopt finds what is known of a file whose inode is not, or of which nothing has been read, or makes it known. It
// returns false if nothing is known of the file and something must be.
func (s *stage) adopt(t *target, zipped, mustBeKnown bool) (bool, error) {
	begins, err := s.beginningOf(t, zipped)
	if err != nil {
		return false, err
	}
	best := t.known
	if !t.empty {
		if best, err = s.lookFor(t, zipped); err != nil {
			return false, err
		}
		if best == nil || best.fingerprint().Offset == 0 {
			if mustBeKnown {
				return false, nil
			}
			other, err := s.copyOf(t, zipped)
			if err != nil {
				return false, err
			}
			if other != nil {
				t.known, t.copied = other, true
				return true, nil
			}
		}
	}
	if best == nil {
		best = s.positions.add(t)
	}
	best.taken = true
	t.known = best
	t.fresh = !t.empty && best.fingerprint().Offset == 0
	s.positions.beginsSo(best, begins)
	return true, nil
}

// beginningOf returns how a file begins. It notes that there is nothing yet, and returns errMoved if the file has
// become a compressed one since it was looked at.
func (s *stage) beginningOf(t *target, zipped bool) (beginning, error) {
	c, close, err := openContent(t)
	if errors.Is(err, errMoved) {
		return beginning{}, err
	}
	if err != nil {
		t.empty = s.following() && errors.Is(err, io.ErrUnexpectedEOF) // of a .gz that is being written
		return beginning{}, nil                                        // who reads it will tell
	}
	defer close()
	if c.zipped != zipped {
		return beginning{}, errMoved
	}
	if s.options.Format == "xml" {
		return beginning{}, nil // more of it is not behind all of it
	}
	some, err := c.Peek(1)
	if len(some) > 0 {
		some, err = c.Peek(c.Buffered())
	}
	c.pass(some)
	t.empty = c.Offset == 0 && errors.Is(err, io.EOF)
	return beginning{c.Offset, c.Sum}, nil
}

// beginsSo notes how a file begins of which nothing has been read.
func (p *positions) beginsSo(k *known, begins beginning) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if begins.Offset > 0 && k.fingerprint().Offset == 0 {
		k.Begins, p.changed, p.strange = begins, true, true
	}
}

// lookFor returns the known file that one is, under whatever name, or else what is known of it.
func (s *stage) lookFor(t *target, zipped bool) (best *known, err error) {
	best = t.known
	for _, k := range s.positions.files {
		if print := k.fingerprint(); k.taken || print.Offset == 0 || best != nil && print.Offset <= best.fingerprint().Offset {
			continue
		}
		elsewhere := k.Path != t.path
		if k.Replaced && elsewhere || !k.Replaced && (!elsewhere || k.Gzip != zipped) {
			err := s.beginsWith(t, k.fingerprint())
			if errors.Is(err, errMoved) {
				return nil, err
			}
			if err == nil {
				best = k
			}
		}
	}
	return best, nil
}

// add makes a file known.
func (p *positions) add(t *target) *known {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := &known{Path: t.path, ID: t.id()}
	next := 0 // behind the files that had the inode, and are others
	for _, other := range p.files {
		id, number, _ := strings.Cut(other.ID, "~")
		if n, _ := strconv.Atoi(number); id == k.ID {
			next = max(next, n+1)
		}
	}
	if next > 0 {
		k.ID = fmt.Sprintf("%s~%d", k.ID, next)
	}
	p.files = append(p.files, k)
	return k
}

// unlearn drops what has just become known: of all files behind the first ones, and of those with something new.
func (p *positions) unlearn(strange []*target, first int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range strange {
		if t.fresh {
			t.known.Begins = beginning{}
		}
	}
	p.files = p.files[:first]
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
		sameInode := inode != 0 && other.Inode == inode && other.Device == device // which is used again
		if other != k && !other.taken && (other.Path == t.path || sameInode) {
			other.Replaced = true
		}
	}
	if k.Path != t.path || k.Inode != inode || k.Device != device || k.Replaced {
		p.changed, p.strange = true, true
	}
	if k.Inode != inode || k.Device != device {
		k.letGo() // the other file has what is in this one
	}
	k.Path, k.Device, k.Inode, k.Replaced, k.Seen = t.path, device, inode, false, t.looked.UTC().Truncate(time.Second)
}

// copyOf returns the known file that one is a copy of, which may still be being made: what gzip writes lies beside the
// file until it is complete; and what was copied so that the file can be truncated, until it is. Whether that will come
// is known only in a run that goes on, after a while.
func (s *stage) copyOf(t *target, zipped bool) (*known, error) {
	if !zipped && (!s.following() || t.looked.Sub(t.info.ModTime()) > copiedFor) {
		return nil, nil
	}
	for _, other := range s.all {
		if other.known == nil || other.known.Gzip || other == t || !zipped && other.known.fingerprint().Offset == 0 {
			continue
		}
		same, err := isBeginning(t, other)
		if errors.Is(err, errMoved) {
			return nil, err
		}
		if err == nil && same {
			return other.known, nil
		}
	}
	return nil, nil
}

// isBeginning reports whether all that a file holds, as far as it can be read, is how another one begins.
func isBeginning(t, other *target) (bool, error) {
	a, closeA, err := openContent(t)
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
		if errors.Is(err, errReplaced) {
			return false, errMoved
		}
		if m, _ := io.ReadFull(b, beside[:n]); m < n || !bytes.Equal(part[:n], beside[:n]) {
			return false, nil
		}
		if err != nil {
			return some || n > 0, nil
		}
	}
}
