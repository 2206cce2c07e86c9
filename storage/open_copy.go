package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/webrace/webrace/storage/control"
)

// OpenCopy opens a copy of a data directory, which is made in an empty directory: all that is done to it leaves the
// original byte for byte as it was. Files that are never written again, as most of a large directory are, are not
// copied: the copy has symbolic links to them. So the original is held for reading until the copy is closed; who would
// own it meanwhile gets a [LockedError], and so does who opens a copy of one that is owned. Of a directory that is not
// there, or holds no stores yet, the copy is an empty one. The full-text index, queues and secrets are part of it. A
// control store from outside is no part of it, and is used as it is: give a copy of it where it must not change.
func OpenCopy(path, to string, o Options) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open a copy of a data directory: %w", err)
	}
	held, err := acquire(path, true)
	if err != nil {
		return nil, err
	}
	d, err := openCopy(path, to, o)
	if err != nil {
		return nil, errors.Join(err, held.release())
	}
	d.from = held
	return d, nil
}

func openCopy(path, to string, o Options) (*Dir, error) {
	format, err := readFormat(path)
	if err != nil {
		return nil, formatError(path, err.Error())
	}
	if format == 0 && holdsStores(path) {
		return nil, formatError(path, "it is not there, and stores are")
	}
	if format > 0 {
		if err := copyStores(path, to, o.ControlStore == nil); err != nil {
			return nil, fmt.Errorf("copy data directory %s: %w", path, err)
		}
	}
	return Open(to, o)
}

// copyStores copies what belongs to the stores of a directory, and leaves out what was set aside, and what was kept
// before migrations; the control store and its key only if they are the directory's.
func copyStores(path, to string, ownsControl bool) error {
	place := copyFile
	if UpToDate(path) { // otherwise a migration looks for files
		place = linkOrCopy
	}
	for _, name := range append([]string{formatFile, madeFile, migrationFile, control.KeyFile}, stores...) {
		if !ownsControl && (name == control.KeyFile || slices.Contains(controlFiles, name)) {
			continue
		}
		if err := copyTreeBy(filepath.Join(path, name), filepath.Join(to, name), place); err != nil {
			return err
		}
	}
	return nil
}

// linkOrCopy makes a symbolic link to a file that is never written again, and a copy of any other. The key of the
// secrets is replaced, never written to, and should lie in one place alone.
func linkOrCopy(path, target string) error {
	if (isFinal(path) || filepath.Base(path) == control.KeyFile) && os.Symlink(path, target) == nil {
		return nil
	}
	return copyFile(path, target)
}
