package control

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errReadOnly is an [fs.ErrPermission].
var errReadOnly = fmt.Errorf("the store is open for reading only: %w", fs.ErrPermission)

// openReadOnly opens what is there. A store that was closed is one file, which can be read where nothing
// may be created; one that was not has a log beside it, for which SQLite wants a file of its own there.
func (s *Store) openReadOnly() (err error) {
	if _, err := os.Stat(s.name); err != nil {
		return fmt.Errorf("open control store: %w", err)
	}
	if log, err := os.Stat(s.name + "-wal"); errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
		s.reading += "&immutable=1"
	}
	if s.readers, err = connect(s.name, s.options.Readers, s.reading+"&_pragma=query_only(1)"); err != nil {
		return s.explain("open", err)
	}
	if s.helper, err = connect(s.name, 1, s.reading+"&_pragma=query_only(1)"); err != nil {
		return errors.Join(s.explain("open", err), s.readers.Close())
	}
	version, err := s.version(context.Background(), s.readers)
	if err == nil && version < len(migrations) {
		err = fmt.Errorf("its tables are of version %d, and are brought to version %d when it is opened for writing: do that first", version, len(migrations))
	}
	if err == nil {
		err = s.countFrom(context.Background(), s.readers)
	}
	if err != nil {
		return errors.Join(s.explain("open for reading", err), s.readers.Close(), s.helper.Close())
	}
	return nil
}

// UpToDate reports whether the tables of a database are of the version that this program reads, as its header tells.
// One that was not closed may be, and be held not to be.
func UpToDate(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var version [4]byte
	const at = 60 // of user_version in the header of an SQLite database
	_, err = file.ReadAt(version[:], at)
	return err == nil && binary.BigEndian.Uint32(version[:]) == uint32(len(migrations))
}
