//go:build unix

package storage

import (
	"syscall"
	"testing"
)

// A program that another goroutine is starting has every open file for a moment, until it becomes what it
// is to be.
func TestAClosedDirectoryIsFreeThoughAChildHasItsLockFile(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(d.lock.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
