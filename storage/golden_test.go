package storage_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/fulltext"
)

// unpackGolden unpacks the data directory that a release of a format has left, and returns where it is.
func unpackGolden(t *testing.T, format int) string {
	t.Helper()
	file, err := os.Open(fmt.Sprintf("testdata/golden/format-%d.tar.gz", format))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Clean("/"+header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			var content []byte
			if content, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// mustHoldAndFindTheDemo wants everything to be there that the demo and a crawl with a delayed URL had left, and to
// be found.
func mustHoldAndFindTheDemo(t *testing.T, d *storage.Dir) {
	t.Helper()
	mustHoldTheDemo(t, d)
	index, err := d.Fulltext()
	if err != nil {
		t.Fatal(err)
	}
	if found, err := index.Search(t.Context(), fulltext.Query{Text: "ferry timetable"}); err != nil || found.Total == 0 {
		t.Errorf("search found %d: %v", found.Total, err)
	}
}

// mustHoldTheDemo is mustHoldAndFindTheDemo without the full-text index.
func mustHoldTheDemo(t *testing.T, d *storage.Dir) {
	t.Helper()
	store, err := d.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	for pipeline, want := range map[string][4]int{"crawl": {1, 1, 1, 0}, "webrace": {53, 0, 0, 3}} {
		queue, err := store.Queue(pipeline, frontier.QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := queue.Stats()
		if got := [4]int{s.Known, s.Queued, s.Delayed, s.Failed}; got != want {
			t.Errorf("frontier of %s: known, queued, delayed, failed %v, want %v", pipeline, got, want)
		}
		if err := queue.Close(); err != nil {
			t.Error(err)
		}
	}
	mustHoldDocuments(t, d)
	requests, err := d.Control()
	if err != nil {
		t.Fatal(err)
	}
	owners := make(map[string]int)
	for aci, err := range requests.ACIs(t.Context(), control.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if aci.ID == "" || aci.URI == "" {
			t.Errorf("annotation %+v", aci)
		}
		owners[aci.Owner]++
	}
	if len(owners) != 3 {
		t.Errorf("annotations of %v, want of three owners", owners)
	}
}

func mustHoldDocuments(t *testing.T, d *storage.Dir) {
	t.Helper()
	documents, err := d.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if s := documents.Stats(); s.URLs != 47 || s.Versions != 47 || s.Payloads != 46 {
		t.Errorf("objects: %+v", s)
	}
	versions, err := documents.Next(t.Context(), 0, 100)
	if err != nil || len(versions) != 47 {
		t.Fatalf("%d versions: %v", len(versions), err)
	}
	for _, v := range versions {
		if body, _, err := documents.Body(v); err != nil || int64(len(body)) != v.Size {
			t.Errorf("%s: %d bytes, want %d: %v", v.URL, len(body), v.Size, err)
		}
	}
}

func TestADirectoryOfFormat1IsMigratedAndKeepsEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	dir := unpackGolden(t, 1)
	for range 2 { // migrated, and opened again
		d := open(t, dir)
		mustHoldAndFindTheDemo(t, d)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(filepath.Join(dir, "format")); string(content) != "2\n" {
			t.Errorf("format %q: %v", content, err)
		}
	}
	if content, err := os.ReadFile(filepath.Join(dir, "before-format-2", "format")); string(content) != "1\n" {
		t.Errorf("the state before has format %q: %v", content, err)
	}
	mustHoldAndFindTheDemo(t, open(t, filepath.Join(dir, "before-format-2")))
}

// TestAMigrationThatWasInterruptedIsDoneFromTheStateBefore leaves directories as a crash at each step would.
func TestAMigrationThatWasInterruptedIsDoneFromTheStateBefore(t *testing.T) {
	t.Parallel()
	damage := func(t *testing.T, dir string) { // what is half migrated may be anything
		write(t, filepath.Join(dir, "control.db"), "half")
		remove(t, filepath.Join(dir, "objects"))
		remove(t, filepath.Join(dir, "frontier"))
		write(t, filepath.Join(dir, "frontier"), "a file")
	}
	for name, crash := range map[string]func(t *testing.T, dir string){
		"while the state before was copied": func(t *testing.T, dir string) {
			rename(t, filepath.Join(dir, "before-format-2"), filepath.Join(dir, "before-format-2.new"))
			remove(t, filepath.Join(dir, "before-format-2.new", "objects"))
			remove(t, filepath.Join(dir, "migrating"))
		},
		"before it began": func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, "migrating"))
			write(t, filepath.Join(dir, "before-format-2", "control.db"), "of another time")
		},
		"half-way": damage,
		"half-way, putting the state back": func(t *testing.T, dir string) {
			damage(t, dir)
			remove(t, filepath.Join(dir, "fulltext"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpackGolden(t, 1)
			if err := storage.KeepState(dir, filepath.Join(dir, "before-format-2")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "migrating"), "2\n")
			crash(t, dir)
			mustHoldAndFindTheDemo(t, open(t, dir))
			if _, err := os.Stat(filepath.Join(dir, "migrating")); err == nil {
				t.Error("the migration has no end")
			}
		})
	}
	t.Run("at the end", func(t *testing.T) {
		t.Parallel()
		dir := unpackGolden(t, 1)
		d := open(t, dir)
		d.Close()
		write(t, filepath.Join(dir, "migrating"), "2\n")
		mustHoldAndFindTheDemo(t, open(t, dir))
	})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestARunGoesOnInADirectoryOfFormat1 takes the one URL that the crawl of an older release had put off.
func TestARunGoesOnInADirectoryOfFormat1(t *testing.T) {
	t.Parallel()
	d, err := storage.Open(unpackGolden(t, 1), storage.Options{
		Frontier: frontier.Options{Now: func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f := filler{t, d}
	store, err := d.Frontier()
	f.ok(err)
	statuses, err := store.CrawlStatuses("crawl")
	f.ok(err)
	if len(statuses) != 1 || statuses[0].Pending != 1 {
		t.Fatalf("the crawl stands at %+v", statuses)
	}
	r := f.run("crawl")
	const start = "http://127.0.0.1:9/dead"
	round, err := r.queue.Start(t.Context(), webrace.Crawl{ID: statuses[0].Crawl, Start: start, Scope: webrace.ScopeHost}, true)
	f.ok(err)
	if !round.Resumed || round.Pending != 1 {
		t.Errorf("the round is %+v, want the one that was under way", round)
	}
	if url := r.end(visited(200, 1)); url != start {
		t.Errorf("%s was handed out, want %s", url, start)
	}
	r.queue.Seal()
	if l, err := r.queue.Take(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("then %v: %v", l, err)
	}
	f.ok(r.queue.Close())
	statuses, err = store.CrawlStatuses("crawl")
	f.ok(err)
	if statuses[0].Pending != 0 {
		t.Errorf("at the end the crawl stands at %+v", statuses)
	}
}

// The analysis of words was another one when the index was made: what was stored then and what comes now are found by
// the same words.
func TestPagesOfBeforeAndAfterAnUpgradeAreFound(t *testing.T) {
	t.Parallel()
	d := open(t, unpackGolden(t, 1))
	mustHoldAndFindTheDemo(t, d)
	documents, err := d.Objects()
	if err != nil {
		t.Fatal(err)
	}
	const fresh = "http://new.example/"
	durable := make(chan error, 1)
	_, err = documents.Put(&webrace.Document{
		URL: fresh, Outcome: webrace.Fetched, Status: 200, At: filledAt, MediaType: "text/html", Charset: "utf-8",
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte("<p>ตารางเวลาเรือ, a ferry timetable"),
	}, func(err error) { durable <- err })
	if err := errors.Join(err, <-durable); err != nil {
		t.Fatal(err)
	}
	index, err := d.Fulltext()
	if err != nil {
		t.Fatal(err)
	}
	if err := index.Refresh(t.Context(), []string{fresh}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]struct{ least, most uint64 }{`"ferry timetable"`: {2, 1000}, `"ตารางเวลา"`: {1, 1}} {
		if found, err := index.Search(t.Context(), fulltext.Query{Text: query}); err != nil || found.Total < want.least || found.Total > want.most {
			t.Errorf("%s finds %d: %v", query, found.Total, err)
		}
	}
}
