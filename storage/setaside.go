package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/webrace/webrace/storage/internal/setaside"
)

// SetAside returns the paths of what crashes and repairs have set aside, within the directory, and how many bytes that
// is.
func (d *Dir) SetAside() (paths []string, bytes int64, err error) {
	err = filepath.WalkDir(d.path, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file of a store that is in use
		}
		if err != nil || !setaside.Is(e.Name()) {
			return err
		}
		size, err := sizeOf(path)
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(d.path, path)
		paths, bytes = append(paths, rest), bytes+size
		if err == nil && e.IsDir() {
			err = filepath.SkipDir
		}
		return err
	})
	return paths, bytes, err
}

func sizeOf(path string) (bytes int64, err error) {
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// RemoveSetAside removes what was set aside, which nothing else does, and returns how many bytes that was.
func (d *Dir) RemoveSetAside() (bytes int64, err error) {
	if d.readOnly {
		return 0, fmt.Errorf("remove what was set aside in %s: %w", d.path, fs.ErrPermission)
	}
	paths, bytes, err := d.SetAside()
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		if err := os.RemoveAll(d.Path(path)); err != nil {
			return 0, err
		}
	}
	return bytes, nil
}
