package control

import (
	"context"
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
	if _, err := os.Stat(s.path); err != nil {
		return fmt.Errorf("open control store: %w", err)
	}
	if log, err := os.Stat(s.path + "-wal"); errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
		s.reading += "&immutable=1"
	}
	if s.readers, err = connect(s.path, s.options.Readers, s.reading+"&_pragma=query_only(1)"); err != nil {
		return s.explain("open", err)
	}
	if s.helper, err = connect(s.path, 1, s.reading+"&_pragma=query_only(1)"); err != nil {
		return errors.Join(s.explain("open", err), s.readers.Close())
	}
	version, err := s.version(context.Background(), s.readers)
	if err == nil && version < len(migrations) {
		err = fmt.Errorf("its tables are of version %d, and are brought to version %d when it is opened for writing: do that first", version, len(migrations))
	}
	if err != nil {
		return errors.Join(s.explain("open for reading", err), s.readers.Close(), s.helper.Close())
	}
	return nil
}
