package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// A store is copied while it is written to and collected; each copy is whole, and goes its own way.
func TestBackupOfAStoreInUseOpensAsAStore(t *testing.T) {
	fsys := vfs.NewMem()
	s := open(t, fsys, Options{SegmentSize: 5000})
	for i := range 30 {
		put(t, s, page(fmt.Sprint(home, i), fmt.Sprint("body ", i, strings.Repeat("x", 100))))
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			put(t, s, page(fmt.Sprint(home, 100+i%20), fmt.Sprint("body ", i)))
			if i%10 == 0 {
				collect(t, s, CollectOptions{MinAlive: 0.9, Verdict: only(Remove, func(v Version) bool { return v.Seq > 30 && v.Seq%3 != 0 })})
			}
		}
	}()
	for i := range 8 {
		to := fmt.Sprint("/backup", i)
		if err := s.Backup(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		copied, err := Open(to, Options{FS: fsys, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		sound(t, copied)
		for i := range 30 {
			wantBody(t, copied, mustLatest(t, copied, fmt.Sprint(home, i)), fmt.Sprint("body ", i, strings.Repeat("x", 100)))
		}
		put(t, copied, page(home, "only in the copy"))
		collect(t, copied, CollectOptions{MinAlive: 0.99, Verdict: only(Remove, func(v Version) bool { return v.URL != home })})
		sound(t, copied)
		copied.Close()
	}
	close(stop)
	<-stopped
	sound(t, s)
	if err := s.Backup(t.Context(), "/backup0"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a backup over another: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, "/given-up"); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if _, err := fsys.Stat("/given-up"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is left of it: %v", err)
	}
	s.Close()
	s = open(t, fsys, Options{})
	defer s.Close()
	sound(t, s)
}

// Nothing is written, not even what opening would otherwise clean up.
func TestReadOnlyReadsAndChangesNothing(t *testing.T) {
	mem := vfs.NewMem()
	s := open(t, mem, Options{})
	v := put(t, s, page(home, "body"))
	if err := s.SetCursor("me", 1, true); err != nil {
		t.Fatal(err)
	}
	state := s.segments.state
	s.Close()
	appendGarbage(t, mem, s.segments.path(1), state.size)

	media := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return errorfs.ErrInjected
		}
		return nil
	}))
	s = open(t, media, Options{ReadOnly: true})
	wantBody(t, s, v, "body")
	if seq, err := s.Cursor("me"); err != nil || seq != 1 || s.Last() != 1 {
		t.Errorf("cursor %d, last %d, %v", seq, s.Last(), err)
	}
	_, err1 := s.Put(page(home, "other"), nil)
	_, err2 := s.Touch(home, noon, nil)
	_, err3 := s.Collect(t.Context(), CollectOptions{})
	err4 := s.SetCursor("me", 2, false)
	err5 := s.Check(t.Context(), true, nil)
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%d: %v", i+1, err)
		}
	}
	sound(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err := Open("/nowhere", Options{FS: mem, ReadOnly: true, Logger: quiet()}); err == nil {
		s.Close()
		t.Error("a store that is not there was opened")
	}
}

// damages are things that happen to stores, with what a check reports of each. A document is lost only with its record:
// what the index has lost of it is made again.
var damages = []struct {
	name, kind string
	do         func(t *testing.T, s *Store)
	lost       int // documents, of ten; those that have an older version that is not are not
}{
	{"missing segment", damageMissingSegment, func(t *testing.T, s *Store) { removeFile(t, s, 2) }, 2},
	{"follower too far", damageFollower, func(t *testing.T, s *Store) { setTo(t, s, cursorKey("x/y"), encodeNumber(13)) }, 0},
	{"follower somewhere", damageUnreadable, func(t *testing.T, s *Store) { setTo(t, s, cursorKey("x/y"), []byte{9}) }, 0},
	{"short segment", damageShortSegment, func(t *testing.T, s *Store) { cutFile(t, s, 2, 0.5) }, 1},
	{"short last segment", damageShortSegment, func(t *testing.T, s *Store) { cutFile(t, s, s.segments.number, 0.5) }, 0},
	{"older without latest", damageOrder, func(t *testing.T, s *Store) { unset(t, s, latestKey(home+"0")) }, 0},
	{"no log entry", damageNoLog, func(t *testing.T, s *Store) { unset(t, s, logKey(3)) }, 0},
	{"no links", damageNoLinks, func(t *testing.T, s *Store) { unset(t, s, linksKey(3)) }, 0},
	{"orphan log entry", damageOrphanLog, func(t *testing.T, s *Store) { setTo(t, s, logKey(99), encodeLog(home+"99", 1)) }, 0},
	{"orphan links", damageOrphanLinks, func(t *testing.T, s *Store) { setTo(t, s, linksKey(99), encodeLinks(nil)) }, 0},
	{"no body entry", damageBody, func(t *testing.T, s *Store) { unset(t, s, payloadKey(mustLatest(t, s, home+"2").Digest)) }, 0},
	{"unreadable body entry", damageUnreadable, func(t *testing.T, s *Store) {
		setTo(t, s, payloadKey(mustLatest(t, s, home+"2").Digest), []byte("?"))
	}, 0},
	{"orphan body", damageOrphanBody, func(t *testing.T, s *Store) {
		setTo(t, s, payloadKey([32]byte{1}), encodePayload(&payload{refs: 1, size: 5}))
	}, 0},
	{"unreadable version", damageUnreadable, func(t *testing.T, s *Store) { setTo(t, s, latestKey(home+"4"), []byte{schema, 1}) }, 0},
	{"references", damageReferences, func(t *testing.T, s *Store) {
		key := payloadKey(mustLatest(t, s, home+"2").Digest)
		p, _, err := get(s, key, decodePayload)
		if err != nil {
			t.Fatal(err)
		}
		p.refs += 3
		setTo(t, s, key, encodePayload(&p))
	}, 0},
	{"dead bytes", damageDead, func(t *testing.T, s *Store) {
		state := *s.segments.known(1)
		state.dead += 100
		setTo(t, s, segmentKey(1), encodeSegment(&state))
	}, 0},
	{"counters", damageCounters, func(t *testing.T, s *Store) {
		setTo(t, s, countersKey, encodeCounters(&counters{seq: 11, versions: 3}))
	}, 0},
	{"entry at another record", damageLost, func(t *testing.T, s *Store) {
		a, b := mustEntry(t, s, home+"4"), mustEntry(t, s, home+"5")
		a.record, a.metaLength = b.record, b.metaLength
		setTo(t, s, latestKey(a.URL), encodeEntry(&a))
	}, 0},
	{"entry outside", damageLost, func(t *testing.T, s *Store) {
		a := mustEntry(t, s, home+"4")
		a.record.offset = 1 << 40
		setTo(t, s, latestKey(a.URL), encodeEntry(&a))
	}, 0},
	{"rotten record", damageLost, func(t *testing.T, s *Store) {
		a := mustEntry(t, s, home+"4")
		file, err := s.options.FS.OpenReadWrite(s.segments.path(a.record.segment), writeCategory)
		if err == nil {
			_, err = file.WriteAt([]byte("rot"), a.record.offset+a.record.length-40)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}, 1},
}

func TestCheckFindsAndRepairsDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	eachCompression(t, checkFindsAndRepairsDamage)
}

func checkFindsAndRepairsDamage(t *testing.T, c Compression) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			fsys := vfs.NewMem()
			s := open(t, fsys, Options{SegmentSize: 3000, Compression: c})
			for i := range 10 {
				put(t, s, page(fmt.Sprint(home, i), fmt.Sprint("body ", i)))
			}
			put(t, s, page(home+"0", "second"))
			put(t, s, page(home+"1", "body 2"))
			sound(t, s)
			d.do(t, s)
			s.Close()
			s = open(t, fsys, Options{SegmentSize: 3000})
			defer func() { s.Close() }()

			asSlowly(t, s)
			found := kinds(t, s, false)
			if found[d.kind] == 0 || found[d.kind+" (repaired)"] > 0 {
				t.Errorf("found %v", found)
			}
			if repaired := kinds(t, s, true); repaired[d.kind+" (repaired)"] == 0 {
				t.Errorf("repaired %v", repaired)
			}
			sound(t, s)
			lost := 0
			for i := range 10 {
				v, err := s.Latest(fmt.Sprint(home, i))
				if errors.Is(err, ErrNotFound) {
					lost++
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := s.Body(v); err != nil {
					t.Error(err)
				}
				if links, err := s.Links(v); err != nil || len(links) != 3 {
					t.Errorf("%d links, %v", len(links), err)
				}
			}
			if lost != d.lost {
				t.Errorf("%d documents are lost, want %d", lost, d.lost)
			}
			for i := range 10 {
				put(t, s, page(fmt.Sprint(home, i), fmt.Sprint("again ", i)))
			}
			s.Close()
			s = open(t, fsys, Options{})
			sound(t, s)
		})
	}
}

func kinds(t *testing.T, s *Store, repair bool) map[string]int {
	t.Helper()
	found := map[string]int{}
	if err := s.CheckDeep(t.Context(), repair, func(f fsck.Finding) {
		kind := f.Kind
		if f.Repaired {
			kind += " (repaired)"
		}
		found[kind]++
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

func mustEntry(t *testing.T, s *Store, url string) entry {
	t.Helper()
	e, err := s.entry(url, 0)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func unset(t *testing.T, s *Store, key []byte) {
	t.Helper()
	if err := s.db.Delete(key, pebbledb.Sync); err != nil {
		t.Fatal(err)
	}
}

func setTo(t *testing.T, s *Store, key, value []byte) {
	t.Helper()
	if err := s.db.Set(key, value, pebbledb.Sync); err != nil {
		t.Fatal(err)
	}
}

func removeFile(t *testing.T, s *Store, number uint32) {
	t.Helper()
	if err := s.options.FS.Remove(s.segments.path(number)); err != nil {
		t.Fatal(err)
	}
}

func cutFile(t *testing.T, s *Store, number uint32, part float64) {
	t.Helper()
	state := s.segments.known(number)
	if err := truncate(s.options.FS, s.segments.path(number), int64(float64(state.size)*part)); err != nil {
		t.Fatal(err)
	}
}
