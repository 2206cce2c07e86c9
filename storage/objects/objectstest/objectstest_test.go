package objectstest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/objects"
)

// disk is a place in memory, whose stores are wrapped.
type disk struct {
	fs   *vfs.MemFS
	wrap func(*objects.Store) Store

	forgets bool
}

func (d *disk) Open() (Store, error) {
	fs := vfs.FS(d.fs)
	if d.forgets {
		fs = forgetful{fs}
	}
	s, err := objects.Open("/objects", objects.Options{FS: fs, SegmentSize: 4000, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return nil, err
	}
	return d.wrap(s), nil
}

func (d *disk) Crash() error {
	d.fs = d.fs.CrashClone(vfs.CrashCloneCfg{})
	return nil
}

func faultless(s *objects.Store) Store { return s }

func TestTheDefaultStoreConforms(t *testing.T) {
	Run(t, func(*testing.T) Place {
		return &disk{fs: vfs.NewCrashableMem(), wrap: faultless}
	})
}

// Stores with a fault each, that the suite must find.
type (
	hasty   struct{ *objects.Store } // removes without asking
	unheld  struct{ *objects.Store } // pins nothing
	eternal struct{ *objects.Store } // every document is a new version
	blind   struct{ *objects.Store } // takes what is cut for complete
)

// forgetful is a disk that claims to have written what it has not.
type forgetful struct{ vfs.FS }

func (f forgetful) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.OpenReadWrite(name, c, o...)
	return unsynced{file}, err
}

type unsynced struct{ vfs.File }

func (unsynced) Sync() error     { return nil }
func (unsynced) SyncData() error { return nil }

func (s hasty) Collect(ctx context.Context, o objects.CollectOptions) (objects.Collected, error) {
	o.Confirm = nil
	return s.Store.Collect(ctx, o)
}

func (s unheld) Pin(v objects.Version) (func(), error) {
	_, err := s.Get(v.URL, v.Number)
	return func() {}, err
}

func (s eternal) Put(d *webrace.Document, done func(error)) (objects.Version, error) {
	v, err := s.Store.Put(d, done)
	v.Changed = true
	return v, err
}

func (s blind) Put(d *webrace.Document, done func(error)) (objects.Version, error) {
	whole := *d
	whole.Truncated = false
	v, err := s.Store.Put(&whole, done)
	v.Truncated = d.Truncated
	return v, err
}

// judge stands in for a test, and remembers whether it failed.
type judge struct {
	*testing.T
	failed string
}

func (j *judge) Errorf(format string, args ...any) { j.failed = fmt.Sprintf(format, args...) }
func (j *judge) Fatalf(format string, args ...any) {
	j.Errorf(format, args...)
	runtime.Goexit()
}

func TestTheSuiteFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		guarantee string
		wrap      func(*objects.Store) Store
	}{
		"forgets": {"what was acknowledged survives a crash", faultless},
		"hasty":   {"a collection keeps what is pinned, confirmed or stored again", func(s *objects.Store) Store { return hasty{s} }},
		"unheld":  {"a collection keeps what is pinned, confirmed or stored again", func(s *objects.Store) Store { return unheld{s} }},
		"eternal": {"only a new digest makes a version", func(s *objects.Store) Store { return eternal{s} }},
		"blind":   {"a cut body never follows a complete one", func(s *objects.Store) Store { return blind{s} }},
	} {
		tried := false
		for _, g := range Guarantees {
			if g.Name != c.guarantee {
				continue
			}
			tried = true
			j := &judge{T: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				g.Try(j, &disk{vfs.NewCrashableMem(), c.wrap, name == "forgets"})
			}()
			<-done
			if j.failed == "" {
				t.Errorf("%s: a fault is not found", name)
			}
		}
		if !tried {
			t.Errorf("%s: there is no such guarantee", name)
		}
	}
}
