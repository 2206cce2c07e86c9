package states

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

func open(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// committed waits until writes are durable.
func committed(s *Store, writes ...Write) error {
	done := make(chan error, 1)
	s.Commit(writes, func(err error) { done <- err })
	return <-done
}

// all returns what a state has.
func all(t *testing.T, s *Store, state string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	if err := s.Each(state, func(key string, value []byte) error { found[key] = string(value); return nil }); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStatesAreApartAndStay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	err := committed(s, Write{"p/s/a", "k", []byte("1")}, Write{"p/s/a", "", []byte("empty key")}, Write{"p/s/a", "k\x00\xff", []byte{}},
		Write{"p/s/ab", "k", []byte("2")}, Write{"p/s", "a\x00k", []byte("3")}, Write{"p/s/a", "gone", []byte("x")})
	if err == nil {
		err = committed(s, Write{"p/s/a", "gone", nil}, Write{"p/s/a", "never", nil})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Options{})
	for state, want := range map[string]map[string]string{
		"p/s/a": {"k": "1", "": "empty key", "k\x00\xff": ""}, "p/s/ab": {"k": "2"}, "p/s": {"a\x00k": "3"}, "p": {},
	} {
		if got := all(t, s, state); !maps.Equal(got, want) {
			t.Errorf("state %s has %q, want %q", state, got, want)
		}
	}
	if value, err := s.Get("p/s/a", "k\x00\xff"); value == nil || err != nil {
		t.Errorf("an empty value is %v, %v", value, err)
	}
	if value, err := s.Get("p/s/a", "gone"); value != nil || err != nil {
		t.Errorf("what was removed is %q, %v", value, err)
	}
	if err := committed(s, Write{"a\x00b", "k", []byte("x")}); err == nil {
		t.Error("a state may be called a\\0b, whose keys are those of another")
	}
}

// TestWhatWasPromisedSurvivesPowerLoss cuts the power after each of some commits: what is there then is what a number
// of them had made, and no fewer than had called back.
func TestWhatWasPromisedSurvivesPowerLoss(t *testing.T) {
	for cut := range 20 {
		disk := vfs.NewCrashableMem()
		s, err := Open("states", Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		called := make(chan int, 20)
		for i := range cut {
			s.Commit([]Write{{"s", "n", fmt.Append(nil, i+1)}, {"s", fmt.Sprint("at ", i), []byte("x")}}, func(err error) {
				if err != nil {
					t.Error(err)
				}
				called <- i + 1
			})
		}
		durable := 0
		for range cut / 2 {
			durable = <-called
		}
		after := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		again := open(t, "states", Options{FS: after})
		value, err := again.Get("s", "n")
		n := 0
		_, _ = fmt.Sscan(string(value), &n)
		if err != nil || n < durable || len(all(t, again, "s")) != n+min(n, 1) {
			t.Errorf("%d commits had called back, and %d are there, with %d keys; %v", durable, n, len(all(t, again, "s")), err)
		}
	}
}

func TestReadOnlyStatesChangeNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	if err := committed(s, Write{"s", "k", []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := committed(s, Write{"s", "k", []byte("2")}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed, it says %v", err)
	}
	s = open(t, dir, Options{ReadOnly: true})
	if err := committed(s, Write{"s", "k", []byte("2")}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("read-only, it says %v", err)
	}
	if got := all(t, s, "s"); got["k"] != "1" {
		t.Errorf("it has %q", got)
	}
}

func TestNoEndIsToldWhileABackupKeepsThem(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	release := s.KeepEnds()
	done := make(chan error, 1)
	s.Commit([]Write{{"s", "k", []byte("1")}}, func(err error) { done <- err })
	copied := filepath.Join(t.TempDir(), "copy")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for reached(dir) < 2 { // the write is durable
	}
	select {
	case <-done:
		t.Error("the end was told while it was kept")
	default:
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := all(t, open(t, copied, Options{}), "s"); got["k"] != "1" {
		t.Errorf("the copy has %q", got)
	}
}

// reached is how many commits were counted.
func reached(dir string) uint64 {
	g, err := generation.Read(vfs.Default, filepath.Join(dir, generation.FileName))
	if err != nil {
		return 0
	}
	return g.Commits
}

func TestAnOlderStoreOfStatesIsRefused(t *testing.T) {
	disk := vfs.NewMem()
	s := open(t, "states", Options{FS: disk})
	if err := s.Backup(t.Context(), "old"); err != nil {
		t.Fatal(err)
	}
	if err := committed(s, Write{"s", "k", []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Clone(disk, disk, "states/"+generation.FileName, "old/"+generation.FileName); err != nil {
		t.Fatal(err)
	}
	_, err := Open("old", Options{FS: disk, Logger: slog.New(slog.DiscardHandler)})
	var refused *fsck.Error
	if !errors.As(err, &refused) || refused.Kind != generation.Older || !strings.Contains(refused.Mend, "--only states") {
		t.Errorf("it says %v", err)
	}
}

func TestCheckFindsAKeyOfNoState(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	if err := s.db.Set([]byte(valueKey+"no separator"), nil, pebbledb.Sync); err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, repair := range []bool{false, true, false} {
		var found []fsck.Finding
		if err := s.Check(t.Context(), repair, func(f fsck.Finding) { found = append(found, f) }); err != nil {
			t.Fatal(err)
		}
		if len(found) != want || want > 0 && found[0].Repaired != repair {
			t.Errorf("repair %t: it finds %v", repair, found)
		}
		if repair {
			want = 0
		}
	}
}

// The names are those of all states that have a key, whatever others they begin with.
func TestNames(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), Options{})
	mustBe := func(want string) {
		t.Helper()
		names, err := s.Names()
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%q, %v, want %q", names, err, want)
		}
	}
	mustBe("")
	if err := committed(s, Write{"p/ask/answers", "a/1", []byte("x")}, Write{"p/ask/answers", "b", []byte("x")}, Write{"p/ask", "", []byte("x")}, Write{"q", "\xff", []byte("x")}); err != nil {
		t.Fatal(err)
	}
	mustBe("p/ask p/ask/answers q")
	if err := committed(s, Write{"p/ask/answers", "a/1", nil}, Write{"p/ask", "", nil}); err != nil {
		t.Fatal(err)
	}
	mustBe("p/ask/answers q")
}
