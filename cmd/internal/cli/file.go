package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteWhole writes a file that is there when it is complete: it has another name until then, and what is there under
// its own stays as it is. It replaces a symbolic link, too.
func WriteWhole(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return writeBeside(path, mode, write, os.Rename)
}

// WriteNew is WriteWhole of a file that is not there yet: one that is, or comes meanwhile, stays, and nothing is
// written.
func WriteNew(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return isThere(path)
	}
	return writeBeside(path, mode, write, func(from, to string) error {
		err := os.Link(from, to) // which replaces nothing
		switch {
		case err == nil:
			return os.Remove(from)
		case errors.Is(err, fs.ErrExist):
			return isThere(path)
		}
		if _, err := os.Lstat(to); err == nil {
			return isThere(path)
		}
		return os.Rename(from, to) // where there are no links
	})
}

func isThere(path string) error {
	return Wrongf("%s is there already, and stays as it is: name another file", path)
}

// writeBeside writes a file under another name, and has it moved to its own.
func writeBeside(path string, mode fs.FileMode, write func(io.Writer) error, move func(from, to string) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return Wrong(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	err = write(out)
	if err == nil {
		err = errors.Join(out.Flush(), file.Chmod(mode), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = move(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}
