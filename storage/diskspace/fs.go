package diskspace

import (
	"context"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS returns a file system that is another one, but whose writers wait for space, and all who open a file for a
// descriptor. Removing and reading never wait.
func (w *Watch) FS(inner vfs.FS) vfs.FS { return fileSystem{inner, w} }

type fileSystem struct {
	vfs.FS
	watch *Watch
}

// small is what making a name takes of a disk, at most.
const small = 4096

func (fs fileSystem) name(f func() error) error {
	return fs.watch.do(context.Background(), small, f)
}

// Open waits for a descriptor, as do all that open a file.
func (fs fileSystem) Open(name string, o ...vfs.OpenOption) (opened vfs.File, err error) {
	err = fs.watch.opening(context.Background(), func() (err error) {
		opened, err = fs.FS.Open(name, o...)
		return err
	})
	return opened, err
}

func (fs fileSystem) OpenDir(name string) (opened vfs.File, err error) {
	err = fs.watch.opening(context.Background(), func() (err error) {
		opened, err = fs.FS.OpenDir(name)
		return err
	})
	return opened, err
}

// file opens one by open.
func (fs fileSystem) file(open func() (vfs.File, error)) (vfs.File, error) {
	var opened vfs.File
	err := fs.name(func() (err error) {
		opened, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	f := &file{opened, fs.watch}
	if t, ok := opened.(truncater); ok {
		return truncatable{f, t}, nil
	}
	return f, nil
}

func (fs fileSystem) Unwrap() vfs.FS { return fs.FS }

func (fs fileSystem) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

func (fs fileSystem) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, o...) })
}

// ReuseForWrite takes two steps, of which each can be repeated.
func (fs fileSystem) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.Rename(from, to); err != nil {
		return nil, err
	}
	return fs.OpenReadWrite(to, c)
}

func (fs fileSystem) Link(from, to string) error {
	return fs.name(func() error { return fs.FS.Link(from, to) })
}

func (fs fileSystem) Rename(from, to string) error {
	return fs.name(func() error { return fs.FS.Rename(from, to) })
}

func (fs fileSystem) MkdirAll(dir string, mode os.FileMode) error {
	return fs.name(func() error { return fs.FS.MkdirAll(dir, mode) })
}

func (fs fileSystem) Lock(name string) (lock io.Closer, err error) {
	err = fs.name(func() (err error) {
		lock, err = fs.FS.Lock(name)
		return err
	})
	return lock, err
}

// file is one that is written to. Its syncs are those of the inner one: see the package comment.
type file struct {
	vfs.File
	watch *Watch
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.watch.do(context.Background(), int64(len(p)), func() error {
		m, err := f.File.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

func (f *file) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.watch.do(context.Background(), int64(len(p)), func() error {
		m, err := f.File.WriteAt(p[n:], at+int64(n))
		n += m
		return err
	})
	return n, err
}

// Preallocate is for speed alone: without space for it, the writes that follow may still find theirs.
func (f *file) Preallocate(offset, length int64) error {
	if !f.watch.admits(length, false) {
		return nil
	}
	err := f.watch.write(length, func() error { return f.File.Preallocate(offset, length) })
	if IsFull(err) {
		return nil
	}
	return err
}

type truncater interface{ Truncate(int64) error }

// truncatable is a file that can be cut, which takes no space.
type truncatable struct {
	*file
	truncater
}
