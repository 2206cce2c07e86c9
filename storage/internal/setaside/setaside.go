// Package setaside keeps what a repair takes away: it is renamed, never removed.
package setaside

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/internal/durable"
)

// Suffix ends the name of what was set aside.
const Suffix = ".set-aside"

// Is reports whether a name is that of something set aside.
func Is(name string) bool { return strings.HasSuffix(name, Suffix) }

// Move renames a file or directory, durably, and returns its new path: path.set-aside, or path.2.set-aside and
// so on if there is one already.
func Move(fsys vfs.FS, path string) (to string, err error) {
	if to, err = free(fsys, path); err == nil {
		err = fsys.Rename(path, to)
	}
	if err == nil {
		err = durable.SyncDir(fsys, fsys.PathDir(path))
	}
	if err != nil {
		return "", fmt.Errorf("set %s aside: %w", path, err)
	}
	return to, nil
}

// CopyTail copies what a file has from an offset on to a file beside it, durably, and returns the path of that.
func CopyTail(fsys vfs.FS, path string, from int64) (to string, err error) {
	if to, err = free(fsys, fmt.Sprintf("%s.at-%d", path, from)); err == nil {
		err = copyTail(fsys, path, to, from)
	}
	if err != nil {
		return "", fmt.Errorf("set the end of %s aside: %w", path, err)
	}
	return to, nil
}

func copyTail(fsys vfs.FS, path, to string, from int64) error {
	in, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := fsys.Create(to, "webrace-set-aside")
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, io.NewSectionReader(in, from, info.Size()-from), make([]byte, 1<<20))
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, fsys.Remove(to))
	}
	return durable.SyncDir(fsys, fsys.PathDir(to))
}

// free returns a path that nothing has.
func free(fsys vfs.FS, path string) (string, error) {
	for n := 1; ; n++ {
		to := path + Suffix
		if n > 1 {
			to = fmt.Sprintf("%s.%d%s", path, n, Suffix)
		}
		_, err := fsys.Stat(to)
		if errors.Is(err, fs.ErrNotExist) {
			return to, nil
		}
		if err != nil {
			return "", err
		}
	}
}
