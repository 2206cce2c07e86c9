package pebbledb

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// Whatever of its log pebble cannot write, and whether the writer waits for it or not, the program ends with what is
// wrong. Without that, a log that cannot be closed or followed by the next ends it with the stacks of all goroutines.
func TestALogThatCannotBeWrittenEndsTheProgramWithAWord(t *testing.T) {
	t.Parallel()
	full := func(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite }
	for name, c := range map[string]struct {
		fails func(errorfs.Op) bool
		err   error
		sync  Durability
	}{
		"full, a writer that waits":         {full, syscall.ENOSPC, Sync},
		"full, a writer that does not wait": {full, syscall.ENOSPC, NoSync},
		"no room for the next":              {func(op errorfs.Op) bool { return op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite }, syscall.ENOSPC, NoSync},
		"broken, a writer that waits":       {full, syscall.EIO, Sync},
		"broken, a writer that does not":    {full, syscall.EIO, NoSync},
		"a log whose sync fails":            {func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData }, syscall.EIO, Sync},
	} {
		var failing atomic.Bool
		disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if failing.Load() && strings.HasSuffix(op.Path, ".log") && c.fails(op) {
				return c.err
			}
			return nil
		}))
		ended := make(chan error, 100)
		db, err := Open("db", Options{
			Name: "database of a test", FS: disk, Memtable: 64 << 10, Logger: slog.New(slog.DiscardHandler),
			Fatal: func(err error) { ended <- err; select {} }, // never returns
		})
		if err != nil {
			t.Fatal(err)
		}
		failing.Store(true)
		go func() {
			for value := bytes.Repeat([]byte("x"), 1000); ; {
				if err := db.Set([]byte("key"), value, c.sync); err != nil {
					ended <- errors.New("a write returns: " + err.Error())
					return
				}
			}
		}()
		if err := <-ended; !errors.Is(err, c.err) || !strings.HasPrefix(err.Error(), "database of a test: ") {
			t.Errorf("%s: it ends with %v", name, err)
		}
	}
}

func TestADirectoryThatMayNotBeWrittenIsRefusedWhenItIsOpened(t *testing.T) {
	t.Parallel()
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate {
			return syscall.EACCES
		}
		return nil
	}))
	if _, err := Open("db", Options{
		Name: "database of a test", FS: disk, Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Error("it ends:", err) },
	}); !errors.Is(err, syscall.EACCES) {
		t.Error(err)
	}
}
