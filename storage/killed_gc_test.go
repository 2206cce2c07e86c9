package storage_test

import (
	"context"
	"errors"
	"testing"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
)

// TestWhatAKilledCollectionRemovedIsNotFound ends a collection between the removal of versions and that of their
// words, as kill -9 would.
func TestWhatAKilledCollectionRemovedIsNotFound(t *testing.T) {
	t.Parallel()
	dir := unpackGolden(t, 1)
	in(t, dir, func(*storage.Dir) error { return nil }) // migrates it
	if why := outdated(t, dir); why != "an older release made it" {
		t.Errorf("who opens the directory for reading alone is told of its index: %q", why)
	}
	found := func() uint64 {
		d := open(t, dir)
		defer d.Close()
		index, err := d.Fulltext()
		if err != nil {
			t.Fatal(err)
		}
		answer, err := index.Search(t.Context(), fulltext.Query{Text: "ferry timetable"})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Total
	}
	if found() == 0 {
		t.Fatal("nothing is found to begin with")
	}
	d := open(t, dir)
	documents, err := d.Objects()
	if err != nil {
		t.Fatal(err)
	}
	killed := errors.New("killed")
	_, err = documents.Collect(t.Context(), objects.CollectOptions{
		Verdict: func(_ context.Context, versions []objects.Version) ([]objects.Verdict, error) {
			verdicts := make([]objects.Verdict, len(versions))
			for i := range verdicts {
				verdicts[i] = objects.Remove
			}
			return verdicts, nil
		},
		Removed: func([]string) error { return killed },
	})
	if !errors.Is(err, killed) {
		t.Fatalf("collected: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if why := outdated(t, dir); why == "" {
		t.Error("who opens the directory for reading alone is not told that the index is to be brought up to date")
	}
	if n := found(); n != 0 {
		t.Errorf("a search finds %d that were removed", n)
	}
	if why := outdated(t, dir); why != "" {
		t.Errorf("the index was brought up to date, and still: %s", why)
	}
	for _, f := range findings(t, dir, false) {
		if f.Store == "fulltext" {
			t.Errorf("found %v", f)
		}
	}
}

// outdated returns what a program is told that opens the directory for reading alone, and wants to search.
func outdated(t *testing.T, dir string) string {
	t.Helper()
	d, err := storage.Open(dir, storage.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	why, err := d.FulltextOutdated()
	if err != nil {
		t.Fatal(err)
	}
	return why
}
