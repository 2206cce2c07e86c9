// Package writable finds out whether files could be written, without writing them: nothing is changed or
// made that is there afterwards. A yes is about this moment.
package writable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File returns why a file could not be appended to, or made where there is none, with the directories that it
// is in. What is no regular file, such as a pipe or a terminal, is not tried: opening it may wait for its reader.
func File(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Dir(filepath.Dir(path))
	case err != nil:
		return err
	case info.IsDir():
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("is a directory")}
	case !info.Mode().IsRegular():
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// Dir returns why no file could be made in a directory, or in the nearest one above it that there is, in which
// it would be made itself.
func Dir(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "write to", Path: path, Err: errors.New("is no directory")}
	}
	file, err := os.CreateTemp(path, ".webrace-check-*")
	if err != nil {
		return fmt.Errorf("write to %s: %w", path, errors.Unwrap(err))
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
