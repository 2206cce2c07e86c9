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
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}
