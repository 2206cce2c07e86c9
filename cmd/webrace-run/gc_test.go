package main

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// TestGarbageIsCollectedUnderACrawlButNeverWhatAnOwnerWaitsFor crawls a site whose pages change with each
// visit, while garbage is collected all the time with no retention at all, and owners come and take some of
// what they are told of. Whatever still waits, at any moment, is there to be read.
func TestGarbageIsCollectedUnderACrawlButNeverWhatAnOwnerWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pages, rounds = 40, 5
	var visits atomic.Int64
	var links []string
	for i := range pages {
		path := fmt.Sprintf("/%d", i+1)
		links = append(links, path)
		w.site.handle(path, func(rw http.ResponseWriter, r *http.Request) {
			drink := [2]string{"tea", "tea and coffee"}[i%2]
			serveDocument(rw, r, document(fmt.Sprintf("page %s speaks of %s for the %dth time", path, drink, visits.Add(1))))
		})
	}
	w.site.page("/", append(links, "on coffee")...) // bob waits for it, and so it stays
	urds := these(w.asks("ann", "/", depth(2), about("tea")), w.asks("bob", "/", depth(2), about("coffee")))

	dir := w.open()
	defer dir.Close()
	requests, documents := stores(t, dir)
	if _, err := requests.Put(t.Context(), urds); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var beside sync.WaitGroup
	var removed, kept int
	beside.Go(func() {
		for running(stop) {
			c, err := dir.Collect(t.Context(), storage.Retention{Versions: time.Nanosecond, Unmatched: time.Nanosecond})
			if err != nil {
				t.Error(err)
				return
			}
			removed, kept = removed+c.Versions, kept+c.Kept
			mustBeThere(t, requests, documents)
		}
	})
	beside.Go(func() {
		for running(stop) {
			time.Sleep(50 * time.Millisecond)
			if _, err := requests.Take(t.Context(), "ann"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	end := sync.OnceFunc(func() { close(stop); beside.Wait() })
	defer end()
	for range rounds {
		crawlIn(t, dir)
	}
	end()
	mustBeThere(t, requests, documents)
	told := 0
	for _, err := range requests.ACIs(t.Context(), control.Filter{Owner: "bob"}) {
		if err != nil {
			t.Fatal(err)
		}
		told++
	}
	if told != 1+pages/2*rounds {
		t.Errorf("bob was told %d times, want %d", told, 1+pages/2*rounds)
	}
	if removed == 0 {
		t.Error("nothing was removed")
	}
	t.Logf("%d versions removed, %d taken back", removed, kept)
}

// Everything that ann was told of is taken and removed. An owner whose crawl comes to it later has it fetched again,
// within the same run and without a request in vain, and she is told of what was added alone.
func TestWhatWasRemovedIsFetchedAgainForWhoComesToItLater(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{"fresh": nil, "not fresh": askAll} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			chain(w.site, 3)
			any := func(u *xmlschema.URD) { u.ProcessType = xmlschema.ProcessNonFilter }
			urds := these(w.asks("ann", "/1", depth(3), about("tea")), w.asks("eve", "/1", depth(3), any))
			w.run(urds)
			w.requests()
			w.news()
			w.removeAll("ann", "eve")

			w.page("/3", "the last page speaks of tea", "and of milk")
			bob := w.asks("bob", "/1", depth(3), about("tea"))
			w.run(append(urds, bob), options...)
			mustBe(t, "requests", w.requests(), "200 /1", "200 /2", "200 /3")
			mustBe(t, "told", w.news(), "bob /1", "bob /2", "bob /3", "eve /3")
			if v := w.versions("/2"); len(v) != 1 {
				t.Errorf("versions %+v, want one", v)
			}
			w.run(append(urds, bob), askAll...)
			mustBe(t, "requests", w.requests(), "304 /1", "304 /2", "304 /3")
			mustBe(t, "told again", w.news())
		})
	}
}

// removeAll has owners take what waits for them, and removes every version.
func (w *world) removeAll(owners ...string) {
	w.t.Helper()
	dir := w.open()
	defer dir.Close()
	requests, _ := stores(w.t, dir)
	for _, owner := range owners {
		if _, err := requests.Take(w.t.Context(), owner); err != nil {
			w.t.Fatal(err)
		}
	}
	c, err := dir.Collect(w.t.Context(), storage.Retention{Versions: time.Nanosecond, Unmatched: time.Nanosecond})
	if err != nil || c.Versions == 0 {
		w.t.Fatalf("%+v, %v: nothing was removed", c, err)
	}
}

func running(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return false
	default:
		return true
	}
}

func stores(t *testing.T, dir *storage.Dir) (*control.Store, *objects.Store) {
	t.Helper()
	requests, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	documents, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return requests, documents
}

// mustBeThere wants every version to be readable that an annotation speaks of which waits before and after
// it was looked for.
func mustBeThere(t *testing.T, requests *control.Store, documents *objects.Store) {
	t.Helper()
	var lost []control.ACI
	for a, err := range requests.ACIs(t.Context(), control.Filter{}) {
		if err != nil {
			t.Error(err)
			return
		}
		if !a.Retrieved.IsZero() {
			continue
		}
		v, err := documents.Get(a.URI, a.Docbase.Version)
		if err == nil {
			_, _, err = documents.Body(v)
		}
		if errors.Is(err, objects.ErrNotFound) {
			lost = append(lost, a)
		} else if err != nil {
			t.Error(err)
		}
	}
	for _, a := range lost {
		if !comesOrIsNotWaitedFor(t, requests, documents, a) {
			t.Errorf("%s waits for version %d of %s, which is gone", a.Owner, a.Docbase.Version, a.URI)
		}
	}
}

// comesOrIsNotWaitedFor reports whether a version that was not found is not waited for any more, or is found in
// the end: an annotation may be on disk a moment before what it speaks of is.
func comesOrIsNotWaitedFor(t *testing.T, requests *control.Store, documents *objects.Store, a control.ACI) bool {
	t.Helper()
	ref := control.VersionRef{URL: a.URI, Version: a.Docbase.Version}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		waiting, err := requests.Waiting(t.Context(), []control.VersionRef{ref})
		if err != nil {
			t.Error(err)
			return true
		}
		if _, err := documents.Get(ref.URL, ref.Version); err == nil || !waiting[ref] {
			return true
		}
	}
	return false
}

func crawlIn(t *testing.T, dir *storage.Dir) {
	t.Helper()
	loaded, err := config.Parse("pipelines.toml", webrace.Pipelines, config.LoadOptions{
		Run: []string{"webrace"}, Set: []string{"fetch.allow_networks=loopback", "frontier.fresh=0s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := loaded.Graph("webrace")
	if err != nil {
		t.Fatal(err)
	}
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	if _, err := graph.Run(t.Context(), pipeline.RunOptions{Resources: resources}); err != nil {
		t.Fatal(err)
	}
}
