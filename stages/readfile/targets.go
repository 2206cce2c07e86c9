package readfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	copied  bool        // from another target, which is there as well: nothing is read
	empty   bool        // so far: nothing is read, lest it is not known again
	fresh   bool        // nothing is known of what it holds
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

func isZipped(t *target) (bool, error) {
	file, err := t.open()
	if err != nil {
		return false, err
	}
	defer file.Close()
	magic := make([]byte, len(gzipMagic))
	n, _ := io.ReadFull(file, magic)
	return string(magic[:n]) == gzipMagic, nil
}

// errMoved means that a file has not the name any more that it had when the names were looked at.
var errMoved = errors.New("it was renamed meanwhile")

// open opens a file that is known again: the one that had the name when the names were looked at.
func (t *target) open() (*os.File, error) {
	file, err := os.Open(t.path)
	switch {
	case t.info == nil:
		return file, err
	case errors.Is(err, fs.ErrNotExist):
		return nil, errMoved
	case err != nil:
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(info, t.info) {
		err = errMoved
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func openContent(t *target) (*content, func(), error) {
	file, err := t.open()
	if err != nil {
		return nil, nil, err
	}
	c, err := contentOf(steadily(file))
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return c, func() { file.Close() }, nil
}

// beginsWith returns errReplaced if a file does not begin with what is before a mark.
func (s *stage) beginsWith(t *target, print mark) error {
	c, close, err := openContent(t)
	if err != nil {
		return asReplaced(err)
	}
	defer close()
	if s.options.Format == "xml" {
		c.decode()
	}
	return c.advance(print)
}

// asReplaced takes for another file what does not hold what it did. What the system refuses tells nothing of that.
func asReplaced(err error) error {
	var refused *fs.PathError
	if errors.As(err, &refused) || errors.Is(err, errMoved) {
		return err
	}
	return errReplaced
}
