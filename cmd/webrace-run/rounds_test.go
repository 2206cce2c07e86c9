package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/xmlschema"
)

func TestAfterCompletionTheSameCommandAsksForEverythingAgainConditionally(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 3)
	urds := these(w.asks("ann", "/1", depth(0), about("tea"), every(24*time.Hour)))
	w.run(urds)
	w.requests()
	said := w.run(urds, askAll...)
	for _, a := range w.requestsInOrder() {
		if !a.conditional || a.status != http.StatusNotModified {
			t.Errorf("%v, conditionally: %v", a, a.conditional)
		}
	}
	mustSay(t, said, "3 not modified", "0 annotations")
}

func TestOnA304TheStoredLinksAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "unchanging", "/child")
	w.page("/child", "water")
	urds := these(w.asks("ann", "/", depth(2), about("tea")))
	w.run(urds)
	w.requests()
	w.page("/child", "water", "and tea")
	w.run(urds, askAll...)
	mustBe(t, "requests", w.requests(), "304 /", "200 /child")
	mustBe(t, "told", w.news(), "ann /child")
}

func TestADocumentValidatedLatelyAnswersWithoutARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 3)
	urds := these(w.asks("ann", "/1", depth(0)))
	w.run(urds)
	w.requests()
	said := w.run(urds)
	mustBe(t, "requests", w.requests())
	mustSay(t, said, "3 from the store", "frontier.fresh=0s")
}

func TestFreshIsAtMostHalfTheShortestTimingThatAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "a page")
	w.run(these(w.asks("ann", "/")))
	w.requests()
	w.run(these(w.asks("ann", "/"), w.asks("bob", "/", every(time.Millisecond))))
	mustBe(t, "requests", w.requests(), "304 /")
}

// leaveUnfinished runs the pipeline while the page at a path asks to be left alone for a second, and does
// not wait for it.
func (w *world) leaveUnfinished(urds []*xmlschema.URD, path string) {
	w.t.Helper()
	w.mu.Lock()
	page := w.pages[path]
	w.mu.Unlock()
	w.handle(path, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Retry-After", "1")
		rw.WriteHeader(http.StatusServiceUnavailable)
	})
	said := w.run(urds, "--set", "frontier.wait=0s")
	mustSay(w.t, said, "left for the next run")
	w.handle(path, page)
}

func TestARunResumesAnUnfinishedRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 4)
	urds := these(w.asks("ann", "/1", depth(0), about("tea")))
	w.leaveUnfinished(urds, "/3")
	mustBe(t, "requests of the first run", w.requests(), "200 /1", "200 /2", "503 /3")
	w.run(urds, askAll...)
	mustBe(t, "requests of the second run", w.requests(), "200 /3", "200 /4")
	mustBe(t, "told", w.news(), "ann /1", "ann /2", "ann /3", "ann /4")
	w.run(urds, askAll...)
	mustBe(t, "requests of a new round", w.requests(), "304 /1", "304 /2", "304 /3", "304 /4")
}

// Who joins an unfinished round of a crawl that is under way is in time for what was not fetched yet, and
// told of the rest with the next one.
func TestWhoJoinsAnUnfinishedRoundCostsNoRequestForWhatWasDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 3)
	ann, bob := w.asks("ann", "/1", depth(0), about("tea")), w.asks("bob", "/1", depth(0), about("tea"))
	w.leaveUnfinished(these(ann), "/3")
	w.requests()
	mustBe(t, "told by the first run", w.news(), "ann /1", "ann /2")
	w.run(these(ann, bob), askAll...)
	mustBe(t, "requests", w.requests(), "200 /3")
	mustBe(t, "told of what was left", w.news(), "ann /3", "bob /3")
	w.run(these(ann, bob))
	mustBe(t, "requests of the next round", w.requests())
	mustBe(t, "told by the next round", w.news(), "bob /1", "bob /2")
}

// Who asks for more levels than the unfinished round had is served what was fetched in it.
func TestWhoDeepensAnUnfinishedRoundCostsNoRequestForWhatWasDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 4)
	ann, bob := w.asks("ann", "/1", depth(2), about("tea")), w.asks("bob", "/1", depth(0), about("tea"))
	w.page("/1", "page 1 speaks of tea", "/2", "/aside")
	w.page("/aside", "nothing to see")
	w.leaveUnfinished(these(ann), "/aside")
	w.requests()
	mustBe(t, "told by the first run", w.news(), "ann /1", "ann /2")
	w.run(these(ann, bob), askAll...)
	mustBe(t, "requests", w.requests(), "200 /3", "200 /4", "200 /aside")
	mustBe(t, "told", w.news(), "bob /1", "bob /2", "bob /3", "bob /4")
}

// The second run is cut while it has the new page in hand: were anything learned before the end, the
// third would be answered 304, or compare the page with itself.
func TestARequestThatDiedHalfWayTeachesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := these(w.asks("ann", "/", about("tea")))
	w.page("/", "water")
	w.run(urds)
	w.requests()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	edited := document("water", "and tea")
	w.handle("/", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("ETag", `"edited"`)
		if r.Header.Get("If-None-Match") == `"edited"` {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		if ctx.Err() == nil { // all of the page, but never the end of it
			rw.Write(edited)
			rw.(interface{ Unwrap() http.ResponseWriter }).Unwrap().(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
			return
		}
		rw.Write(edited)
	})
	root := newRoot()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(t.Output())
	root.SetErr(t.Output())
	root.SetArgs(append([]string{"webrace", "--data", w.data, "--set", "fetch.allow_networks=loopback"}, askAll...))
	root.ExecuteContext(ctx)
	mustBe(t, "told by the cut run", w.news())
	testutil.Await(t, "the request is on record, its handler having ended", func() bool { return len(w.requests()) > 0 })
	w.run(urds, askAll...)
	mustBe(t, "requests", w.requests(), "200 /")
	mustBe(t, "told", w.news(), "ann /")
}

func TestIdenticalContentIsNoNewVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := document("tea")
	w.handle("/", func(rw http.ResponseWriter, _ *http.Request) { // no validators
		rw.Header().Set("Content-Type", "text/html")
		rw.Write(body)
	})
	urds := these(w.asks("ann", "/"), w.asks("bob", "/", about("tea")))
	w.run(urds)
	w.news()
	w.run(urds, askAll...)
	mustBe(t, "requests", w.requests(), "200 /", "200 /")
	mustBe(t, "told", w.news())
	versions := w.versions("/")
	if len(versions) != 1 || versions[0].Number != 1 {
		t.Errorf("%d versions of content that did not change: %+v", len(versions), versions)
	}
	if v := versions[0]; !v.ValidatedAt.After(v.FetchedAt) {
		t.Errorf("validated at %v, want later than fetched, %v", v.ValidatedAt, v.FetchedAt)
	}
}

func TestAChangedDigestIsTheNextVersionOfItsURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := these(w.asks("ann", "/"))
	for i := range 3 {
		w.page("/", fmt.Sprintf("edition %d", i))
		w.run(urds, askAll...)
	}
	w.run(urds, askAll...) // a 304
	for i, v := range w.versions("/") {
		if v.Number != i+1 {
			t.Errorf("version %d has number %d", i+1, v.Number)
		}
	}
	if n := len(w.versions("/")); n != 3 {
		t.Errorf("%d versions of a page that was there in 3", n)
	}
}

// Each pipeline asks for itself, and both tell the same.
func TestTwoPipelinesFetchADocumentTwiceAndTellOfItOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	w.run(these(w.asks("ann", "/", about("tea"))))
	mustBe(t, "told by the first", w.news(), "ann /")
	out, complaints, err := webraceRun("crawl", w.URL+"/", "--depth", "1", "--data", w.data, "--set", "fetch.allow_networks=loopback")
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, complaints)
	}
	mustBe(t, "requests", w.requests(), "200 /", "200 /")
	mustBe(t, "told by the second", w.news())
	if n := len(w.versions("/")); n != 1 {
		t.Errorf("%d versions of one content", n)
	}
}

// Both crawls have more pages than can be in flight. The urgent one goes first, and the other one goes on.
func TestTheUrgentHaveMoreWeightAndNobodyStarves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pages = 60
	for _, start := range []string{"/urgent", "/patient"} {
		var links []string
		for i := range pages {
			path := fmt.Sprintf("%s/%d", start, i)
			links = append(links, path)
			w.page(path, "a page")
		}
		w.page(start, links...)
	}
	w.run(these(w.asks("ann", "/urgent", depth(2), urgency(3)), w.asks("bob", "/patient", depth(2), urgency(1))),
		"--set", "frontier.leases=2", "--set", "fetch.workers=2")

	order := w.requestsInOrder()
	if len(order) != 2*(pages+1) {
		t.Fatalf("%d requests, want %d", len(order), 2*(pages+1))
	}
	var sum, overtaken int // of the places of urgent pages; patient pages before the last urgent one
	patient := 0
	for place, a := range order {
		if strings.HasPrefix(a.path, "/patient") {
			patient++
			continue
		}
		sum += place
		overtaken = patient
	}
	if overtaken < 5 {
		t.Errorf("%d patient pages were fetched before the last urgent one: they starve", overtaken)
	}
	if average, middle := sum/(pages+1), len(order)/2; average >= middle {
		t.Errorf("urgent pages come at place %d of %d on average: they have no more weight", average, len(order))
	}
}

func TestADocumentThatIsNotStoredAnyMoreIsFetchedAnewInTheSameRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea", "/a")
	w.page("/a", "tea again")
	urds := these(w.asks("ann", "/", depth(2), about("tea")))
	w.run(urds)
	mustBe(t, "told", w.news(), "ann /", "ann /a")
	w.requests()
	if err := os.RemoveAll(filepath.Join(w.data, "objects")); err != nil {
		t.Fatal(err)
	}
	if said, _ := w.store("fsck", "--repair"); !strings.Contains(said, "missing store") { // begins an empty one
		t.Fatal(said)
	}
	w.run(urds, askAll...)
	mustBe(t, "requests", w.requests(), "200 /", "200 /a")
	if n := len(w.versions("/a")); n != 1 {
		t.Errorf("%d versions of /a are stored, want 1", n)
	}
	mustBe(t, "told again", w.news())
}
