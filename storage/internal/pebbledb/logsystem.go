package pebbledb

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/diskspace"
)

// logSystem is a file system that ends the program where pebble cannot write its own log. Pebble does not go on
// without, but it panics then with locks that it does not hold as its deferred calls believe: the runtime ends the
// program with the stacks of all goroutines, and nothing can recover from that.
type logSystem struct {
	vfs.FS
	end func(error)
}

// logCategory is how pebble calls what it writes to its log.
const logCategory vfs.DiskWriteCategory = "pebble-wal"

func (s logSystem) Unwrap() vfs.FS { return s.FS }

func (s logSystem) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := s.FS.Create(name, c)
	return s.file(file, c, err)
}

func (s logSystem) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := s.FS.ReuseForWrite(from, to, c)
	return s.file(file, c, err)
}

// file watches a file of the log. One that cannot be made for another reason than want of room is left to pebble: a
// directory that may not be written is refused when it is opened.
func (s logSystem) file(file vfs.File, c vfs.DiskWriteCategory, err error) (vfs.File, error) {
	switch {
	case c != logCategory:
		return file, err
	case diskspace.IsFull(err):
		s.end(err)
	case err != nil:
		return nil, err
	}
	return logFile{file, s.end}, nil
}

// logFile is a file of the log.
type logFile struct {
	vfs.File
	end func(error)
}

func (f logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.must(err)
}

func (f logFile) Sync() error { return f.must(f.File.Sync()) }

func (f logFile) SyncData() error { return f.must(f.File.SyncData()) }

func (f logFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.must(err)
}

func (f logFile) Close() error { return f.must(f.File.Close()) }

func (f logFile) must(err error) error {
	if err != nil {
		f.end(err)
	}
	return err
}
