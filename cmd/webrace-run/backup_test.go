package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

func TestACrawlGoesOnFromABackupThatWasMadeWhileItRan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pages, before = 60, 20
	var served atomic.Int64
	reached, made := make(chan struct{}), make(chan struct{})
	var links []string
	for i := range pages {
		path := fmt.Sprintf("/%d", i+1)
		links = append(links, path)
		w.site.handle(path, func(rw http.ResponseWriter, r *http.Request) {
			if i < 2*before && served.Add(1) == before {
				close(reached)
			}
			if i >= 2*before {
				<-made // so that there is something to be in the middle of
			}
			serveDocument(rw, r, document("page "+path+" speaks of tea"))
		})
	}
	w.site.page("/", links...)
	dir := w.open()
	defer dir.Close()
	requests, _ := stores(t, dir)
	if _, err := requests.Put(t.Context(), these(w.asks("ann", "/", depth(2), about("tea")))); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	backedUp := make(chan error, 1)
	go func() {
		<-reached
		_, err := dir.Backup(context.Background(), copied)
		close(made)
		backedUp <- err
	}()
	crawlIn(t, dir)
	if err := <-backedUp; err != nil {
		t.Fatal(err)
	}

	data := filepath.Join(t.TempDir(), "data")
	if _, err := storage.Restore(t.Context(), copied, data); err != nil {
		t.Fatal(err)
	}
	restored, err := storage.Open(data, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	if err := restored.Check(t.Context(), false, func(f fsck.Finding) { t.Error(f) }); err != nil {
		t.Fatal(err)
	}
	had := len(annotationsIn(t, restored))
	crawlIn(t, restored)
	if want := annotationsIn(t, dir); !slices.Equal(annotationsIn(t, restored), want) || len(want) != pages || had == pages {
		t.Errorf("the copy had %d annotations and came to %d, the crawl itself to %d, of %d pages", had, len(annotationsIn(t, restored)), len(want), pages)
	}
	if got, want := documentsIn(t, restored), documentsIn(t, dir); !slices.Equal(got, want) || len(want) != 1+pages {
		t.Errorf("the copy came to %d versions, the crawl itself to %d", len(got), len(want))
	}
}

// annotationsIn returns the ids of all annotations, sorted.
func annotationsIn(t *testing.T, dir *storage.Dir) (ids []string) {
	t.Helper()
	requests, _ := stores(t, dir)
	for a, err := range requests.ACIs(t.Context(), control.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	return ids
}

// documentsIn returns the latest version of every document, in the order of URLs.
func documentsIn(t *testing.T, dir *storage.Dir) (all []string) {
	t.Helper()
	_, documents := stores(t, dir)
	for v, err := range documents.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %d %v", v.URL, v.Number, v.Digest))
	}
	return all
}

func TestReadOnlyMediaCanBeLookedAt(t *testing.T) {
	t.Parallel()
	disk := testutil.NewDisk(t, 200)
	w := newWorld(t)
	w.data = filepath.Join(disk.Path, "data")
	w.site.page("/", "all about tea")
	w.run(these(w.asks("ann", "/", about("tea"))))
	dir := w.open()
	want := documentsIn(t, dir)
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	disk.ReadOnly()
	for range 2 {
		dir, err := storage.Open(w.data, storage.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close() // two who look do not disturb each other
		if got := documentsIn(t, dir); !slices.Equal(got, want) || len(annotationsIn(t, dir)) != 1 {
			t.Errorf("%q and %d annotations, want %q", got, len(annotationsIn(t, dir)), want)
		}
		if _, err := dir.Collect(t.Context(), storage.Retention{Versions: 1, Unmatched: 1, Annotations: 1}); err == nil {
			t.Error("garbage is collected where nothing can be written")
		}
	}
	if _, _, err := webraceRun("webrace", "--data", w.data); !errors.Is(err, syscall.EROFS) {
		t.Errorf("a run where nothing can be written: %v", err)
	}
}
