package storage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/damage"
	"github.com/webrace/webrace/storage/quads"
)

// quadsOf returns the store of a directory, with what some documents state.
func quadsOf(t *testing.T, d *storage.Dir, urls ...string) *quads.Store {
	t.Helper()
	store, err := d.Quads()
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range urls {
		g := &webrace.Graph{Whole: true, Triples: []webrace.Triple{{Subject: webrace.Term("<" + url + ">"), Predicate: "<http://schema.org/name>", Object: `"ferries"`}}}
		done := make(chan error, 1)
		if _, err := store.Replace(quads.Context{URL: url, Version: 1, At: filledAt}, g, func(err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// exportOf returns what the quad store of a directory holds, which is checked as well.
func exportOf(t *testing.T, dir string) string {
	t.Helper()
	d := open(t, dir)
	if err := d.Check(t.Context(), false, func(f fsck.Finding) { t.Error(f) }); err != nil {
		t.Fatal(err)
	}
	snapshot, err := quadsOf(t, d).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := errors.Join(snapshot.Export(t.Context(), &out), snapshot.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The quad store is in a backup, comes back with it, alone as well, and is told of when it is gone.
func TestQuadsAreBackedUpAndRestored(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	d := open(t, dir)
	if _, err := d.Control(); err != nil {
		t.Fatal(err)
	}
	follow := func(d *storage.Dir, to uint64) {
		t.Helper()
		documents, err := d.Objects()
		if err == nil {
			err = documents.SetCursor(storage.QuadsCursor, to, true)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	quadsOf(t, d, "http://a.example/", "http://b.example/")
	follow(d, 2)
	if _, err := d.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	quadsOf(t, d, "http://later.example/")
	follow(d, 3)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := storage.Restore(t.Context(), copied, whole); err != nil {
		t.Fatal(err)
	}
	want := exportOf(t, whole)
	if n := strings.Count(want, "\n"); n != 8 {
		t.Errorf("a restored directory holds %d quads:\n%s", n, want)
	}
	mustBeFilledAgain(t, whole)
	if err := os.RemoveAll(filepath.Join(dir, "quads")); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	var lost *fsck.Error
	if _, err := d.Quads(); !errors.As(err, &lost) || !strings.Contains(err.Error(), "webrace-run quads") {
		t.Errorf("quads that are gone: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.RestoreStore(t.Context(), copied, dir, "quads"); err != nil {
		t.Fatal(err)
	}
	if got := exportOf(t, dir); got != want {
		t.Errorf("restored alone:\n%s\nwant\n%s", got, want)
	}
	mustBeFilledAgain(t, dir)
}

// mustBeFilledAgain fails a test if the follower that fills the quad store goes on where it was.
func mustBeFilledAgain(t *testing.T, dir string) {
	t.Helper()
	in(t, dir, func(d *storage.Dir) error {
		documents, err := d.Objects()
		if err != nil {
			return err
		}
		if cursor, err := documents.Cursor(storage.QuadsCursor); err != nil || cursor != 0 {
			t.Errorf("the follower of %s stands at %d, %v", dir, cursor, err)
		}
		return nil
	})
}

// A quad store that is lost, damaged or older is told of, and mended; the follower that fills it begins anew.
func TestQuadsAreMended(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind   string
		left   int // quads
		damage func(dir, older string) error
	}{
		"lost": {"missing store", 0, func(dir, _ string) error { return os.RemoveAll(filepath.Join(dir, "quads")) }},
		"damaged": {"damaged database", 0, func(dir, _ string) error {
			files, err := filepath.Glob(filepath.Join(dir, "quads", "MANIFEST-*"))
			for _, f := range files {
				err = errors.Join(err, os.Truncate(f, 5))
			}
			return err
		}},
		"older": {"older than what was stored last", 4, func(dir, older string) error {
			gen, err := os.ReadFile(filepath.Join(dir, "quads", "generation"))
			if err == nil {
				err = os.RemoveAll(filepath.Join(dir, "quads"))
			}
			if err == nil {
				err = os.CopyFS(filepath.Join(dir, "quads"), os.DirFS(filepath.Join(older, "quads")))
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "quads", "generation"), gen, 0o600)
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, older := t.TempDir(), t.TempDir()
			in(t, dir, func(d *storage.Dir) error {
				f := filler{t, d}
				documents, err := d.Objects()
				f.ok(err)
				f.put(documents, "http://a.example/", 1)
				f.ok(documents.SetCursor(storage.QuadsCursor, 1, true))
				_, err = d.Control()
				quadsOf(t, d, "http://a.example/")
				return err
			})
			if err := os.CopyFS(older, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			in(t, dir, func(d *storage.Dir) error { quadsOf(t, d, "http://b.example/"); return nil })
			if err := c.damage(dir, older); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range findings(t, dir, true) {
				found = found || f.Store == "quads" && f.Kind == c.kind && f.Repaired
			}
			if !found {
				t.Errorf("%s is not found, or not repaired", c.kind)
			}
			if n := strings.Count(exportOf(t, dir), "\n"); n != c.left {
				t.Errorf("%d quads are left, want %d", n, c.left)
			}
			mustBeFilledAgain(t, dir)
		})
	}
}

// Whatever happens to a file of the quad store is harmless, or told of; the repair leaves a store without damage.
func TestNoFileOfQuadsIsLostWithoutAWord(t *testing.T) {
	if testing.Short() {
		t.Skip("damages each file in each way: not in short mode")
	}
	t.Parallel()
	sound, older := filepath.Join(t.TempDir(), "sound"), filepath.Join(t.TempDir(), "older")
	grow := func(urls ...string) {
		in(t, sound, func(d *storage.Dir) error {
			quadsOf(t, d, urls...)
			_, err := d.Control()
			return err
		})
	}
	grow("http://a.example/", "http://b.example/")
	if err := os.CopyFS(older, os.DirFS(sound)); err != nil {
		t.Fatal(err)
	}
	grow("http://c.example/")
	want := exportOf(t, sound)
	files, err := os.ReadDir(filepath.Join(sound, "quads"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		if f.Name() == "LOCK" || strings.HasPrefix(f.Name(), "OPTIONS") {
			continue
		}
		for name, harm := range damage.Files {
			t.Run(f.Name()+" "+name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "data")
				if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
					t.Fatal(err)
				}
				changed, err := harm(filepath.Join(dir, "quads", f.Name()), filepath.Join(older, "quads", f.Name()))
				if err != nil || !changed {
					return
				}
				found := checked(t, dir, storage.Options{ReadOnly: true}, false)
				checked(t, dir, storage.Options{}, true)
				if got := exportOf(t, dir); got != want && len(found) == 0 {
					t.Errorf("nothing says that it is damaged; it holds\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// A collection of garbage removes what documents state that are stored no more.
func TestCollectQuads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in(t, dir, func(d *storage.Dir) error {
		f := filler{t, d}
		documents, err := d.Objects()
		f.ok(err)
		for n := range 3 {
			f.put(documents, fmt.Sprintf("http://doc.example/%d", n), n)
		}
		store := quadsOf(t, d, "http://doc.example/0", "http://doc.example/1", "http://gone.example/")
		_, err = store.Replace(quads.Context{URL: "http://never.example/", At: filledAt}, &webrace.Graph{Whole: true}, nil) // by a flow without a cache
		f.ok(err)
		c, err := d.Collect(t.Context(), storage.Retention{})
		f.ok(err)
		if c.Quads.Contexts != 1 || !strings.Contains(c.String(), "1 quad of 1 context removed") {
			t.Errorf("collected %+v: %v", c, c)
		}
		c, err = d.Collect(t.Context(), storage.Retention{Versions: time.Nanosecond, Unmatched: time.Nanosecond})
		f.ok(err)
		if c.Versions != 3 || c.Quads.Contexts != 2 {
			t.Errorf("collected %+v", c)
		}
		return nil
	})
	if got := exportOf(t, dir); strings.Count(got, "\n") != 2 || strings.Count(got, "<http://never.example/>") != 2 {
		t.Errorf("left:\n%s", got)
	}
}
