package diskspace

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// Whoever opens a file while this process has no descriptor left waits until it has one, which is told once; other
// errors, and the end of the watch, are returned.
func TestAFileIsOpenedWhenThereIsADescriptor(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(vfs.FS) error{
		"read":   func(fs vfs.FS) error { _, err := fs.Open("file"); return err },
		"list":   func(fs vfs.FS) error { _, err := fs.OpenDir(""); return err },
		"create": func(fs vfs.FS) error { _, err := fs.Create("new", vfs.WriteCategoryUnspecified); return err },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lacking error
				tries, told := 0, 0
				inner := vfs.NewMem()
				if _, err := inner.Create("file", vfs.WriteCategoryUnspecified); err != nil {
					t.Fatal(err)
				}
				w := New(Options{Exhausted: func(error) { told++ }, FS: inner})
				disk := w.FS(errorfs.Wrap(inner, errorfs.InjectorFunc(func(errorfs.Op) error {
					tries++
					if tries == 100 {
						lacking = nil
					}
					return lacking
				})))

				lacking = &fs.PathError{Op: "open", Path: "file", Err: syscall.EMFILE}
				began := time.Now()
				if err := open(disk); err != nil || told != 1 || tries != 100 || time.Since(began) < 90*time.Second {
					t.Errorf("%v after %d tries and %v, told %d times", err, tries, time.Since(began), told)
				}
				lacking = syscall.EACCES
				if err := open(disk); !errors.Is(err, syscall.EACCES) {
					t.Errorf("another failure is %v", err)
				}
				lacking = syscall.ENFILE
				time.AfterFunc(time.Minute, w.Close)
				if err := open(disk); !errors.Is(err, syscall.ENFILE) || told != 2 {
					t.Errorf("%v, told %d times", err, told)
				}
			})
		})
	}
}
