package control_test

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/storage/control"
)

func open(t *testing.T) *control.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "control.db"))
}

func openAt(t *testing.T, path string) *control.Store {
	t.Helper()
	s, err := control.Open(path, control.Options{})
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

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gather[T any](t *testing.T, results iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for v, err := range results {
		ok(t, err)
		all = append(all, v)
	}
	return all
}

func TestDeadLettersAreKeptUntilDeleted(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	first := control.DeadLetter{ID: "b", Time: time.Unix(5, 7).UTC(), Pipeline: "webrace", Stage: "normalize", Error: "a: b: c", Attempts: 3, Kind: "document", Item: []byte(`{"URL":"http://a.example/"}`)}
	_, err := s.PutDeadLetter(ctx, first)
	ok(t, err)
	id, err := s.PutDeadLetter(ctx, control.DeadLetter{Stage: "fetch", Item: []byte("{}")})
	ok(t, err)
	if id == "" {
		t.Fatal("no id was given")
	}
	first.Attempts = 4
	_, err = s.PutDeadLetter(ctx, first)
	ok(t, err)
	want := []control.DeadLetter{first, {ID: id, Stage: "fetch", Item: []byte("{}")}}
	ok(t, s.Close())

	s = openAt(t, path)
	if diff := cmp.Diff(want, gather(t, s.DeadLetters(ctx))); diff != "" {
		t.Error(diff)
	}
	got, err := s.DeadLetter(ctx, "b")
	ok(t, err)
	if diff := cmp.Diff(first, got); diff != "" {
		t.Error(diff)
	}
	ok(t, s.DeleteDeadLetter(ctx, "b"))
	if err := s.DeleteDeadLetter(ctx, "b"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("deleting twice: %v", err)
	}
	if _, err := s.DeadLetter(ctx, "b"); !errors.Is(err, control.ErrNotFound) || !strings.Contains(err.Error(), "dead letter b") {
		t.Errorf("reading what is deleted: %v", err)
	}
}

func TestReplaysAreTheMarkedLettersOfAPipeline(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openAt(t, filepath.Join(t.TempDir(), "control.db"))
	for _, l := range []control.DeadLetter{{ID: "a", Pipeline: "p"}, {ID: "b", Pipeline: "p"}, {ID: "c", Pipeline: "q"}, {ID: "d", Pipeline: "p"}} {
		_, err := s.PutDeadLetter(ctx, l)
		ok(t, err)
	}
	replays := func(pipeline string) (ids []string) {
		for _, l := range gather(t, s.Replays(ctx, pipeline)) {
			if !l.Replay {
				t.Errorf("letter %s is a replay and does not say so", l.ID)
			}
			ids = append(ids, l.ID)
		}
		return ids
	}
	if err := s.MarkReplay(ctx, "a", "none"); !errors.Is(err, control.ErrNotFound) || !strings.Contains(err.Error(), "none") {
		t.Errorf("marking what is not there: %v", err)
	}
	if got := replays("p"); got != nil {
		t.Errorf("%v are marked by a request that failed", got)
	}
	ok(t, s.MarkReplay(ctx, "d", "a", "c"))
	if got := replays("p"); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("replays of p: %v", got)
	}
	ok(t, s.DeleteDeadLetter(ctx, "a"))
	_, err := s.PutDeadLetter(ctx, control.DeadLetter{ID: "d", Pipeline: "p"}) // it failed again
	ok(t, err)
	if got := replays("p"); got != nil {
		t.Errorf("replays of p after they were dealt with: %v", got)
	}
	if got := replays("q"); !slices.Equal(got, []string{"c"}) {
		t.Errorf("replays of q: %v", got)
	}
}

func TestCursorsSurvive(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	for position := range int64(3) {
		ok(t, s.SetCursor(ctx, "mail", position+40))
	}
	ok(t, s.Close())
	s = openAt(t, path)
	for follower, want := range map[string]int64{"mail": 42, "webhook": 0} {
		got, err := s.Cursor(ctx, follower)
		ok(t, err)
		if got != want {
			t.Errorf("%s is at %d, want %d", follower, got, want)
		}
	}
}

func TestADamagedNewerOrForeignFileIsRefusedWithAdvice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"not a database": {func(t *testing.T, path string) {
			ok(t, os.WriteFile(path, []byte(strings.Repeat("hello, this is no database\n", 200)), 0o600))
		}, "restore it from a backup"},
		"damaged": {func(t *testing.T, path string) {
			s := openAt(t, path)
			_, err := s.PutDeadLetter(t.Context(), control.DeadLetter{ID: "x"})
			ok(t, err)
			ok(t, s.Close())
			content, err := os.ReadFile(path)
			ok(t, err)
			for i := 100; i < 4096; i++ { // the page that tells which tables there are
				content[i] = 0xa5
			}
			ok(t, os.WriteFile(path, content, 0o600))
		}, "restore it from a backup"},
		"newer": {func(t *testing.T, path string) {
			ok(t, openAt(t, path).Close())
			execute(t, path, "PRAGMA user_version = 99")
		}, "use the newer program"},
		"a directory": {func(t *testing.T, path string) { ok(t, os.Mkdir(path, 0o700)) }, "cannot be written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "control.db")
			c.make(t, path)
			s, err := control.Open(path, control.Options{})
			if err == nil {
				// Damage may show only when the tables are used.
				_, err = s.PutDeadLetter(t.Context(), control.DeadLetter{ID: "y"})
				defer s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want advice %q about %s", err, c.want, path)
			}
		})
	}
}

func TestALockedStoreSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	db, err := sql.Open("sqlite", path+"?_txlock=immediate")
	ok(t, err)
	defer db.Close()
	tx, err := db.Begin()
	ok(t, err)
	defer tx.Rollback()
	if _, err = s.PutDeadLetter(t.Context(), control.DeadLetter{}); err == nil || !strings.Contains(err.Error(), "another program has it locked") {
		t.Errorf("got %v", err)
	}
}

// A path is not a URL: what means something in one is a character in the other.
func TestAnyPathWillDo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?c=d#e%20f&_pragma=x.db")
	s := openAt(t, path)
	ok(t, s.SetCursor(t.Context(), "x", 1))
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestClosingTwiceDoesNoHarm(t *testing.T) {
	t.Parallel()
	s := open(t)
	ok(t, s.Close())
	ok(t, s.Close())
	if err := s.SetCursor(t.Context(), "x", 1); err == nil {
		t.Error("a closed store was written")
	}
}

func TestACancelledContextStopsWritingAndReading(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.SetCursor(ctx, "x", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("writing: %v", err)
	}
	for _, err := range s.DeadLetters(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("reading: %v", err)
		}
	}
}

// execute changes a database behind the store's back.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	ok(t, err)
	_, err = db.Exec(statement)
	ok(t, err)
	ok(t, db.Close())
}
