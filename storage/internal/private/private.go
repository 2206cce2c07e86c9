// Package private makes files and directories that their owner alone can read, whatever the umask is: in a data
// directory, directories are 0700 and files 0600. Libraries would make theirs wider, so each file is made before a
// library opens it: at no time, and after no kill, is there one that is open to others.
package private

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The modes of what is private.
const (
	Dir  os.FileMode = 0o700
	File os.FileMode = 0o600
)

// Disk is the file system of the operating system, in which all that is made is private.
var Disk vfs.FS = disk{vfs.Default}

type disk struct{ vfs.FS }

func (d disk) Unwrap() vfs.FS { return d.FS }

// Create makes a new file, also in place of one.
func (d disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return d.OpenReadWrite(name, c)
}

// OpenReadWrite leaves a file that is there as it is.
func (d disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	if err := Touch(name); err != nil {
		return nil, err
	}
	return d.FS.OpenReadWrite(name, c, o...)
}

func (d disk) Lock(name string) (io.Closer, error) {
	if err := Touch(name); err != nil {
		return nil, err
	}
	return d.FS.Lock(name)
}

func (d disk) MkdirAll(dir string, _ os.FileMode) error { return d.FS.MkdirAll(dir, Dir) }

// Touch makes an empty file, unless there is one: what a library then opens has its mode.
func Touch(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, File)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// Wider calls f for all in a directory, and for itself, that others than the owner may use. Where the system keeps no
// modes there is none.
func Wider(dir string, f func(path string, mode os.FileMode) error) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			return nil // it has none of its own
		}
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			return err
		}
		return f(path, info.Mode())
	})
}

// Narrow takes what others may do from a file or directory; its owner keeps what it may.
func Narrow(path string, mode os.FileMode) error { return os.Chmod(path, mode.Perm()&0o700) }
