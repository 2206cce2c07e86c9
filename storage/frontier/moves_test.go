package frontier

import (
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

// redirected ends a lease as one that is answered by a redirect, and returns what came of where it leads.
func (f *fixture) redirected(l *Lease, status int, to string) Offered {
	f.t.Helper()
	r := l.Request()
	o := f.offer(webrace.Links{From: r.URL, Reach: r.Reach, Via: webrace.ViaRedirect, Redirects: r.Redirects + 1, Permanent: isPermanent(status), URLs: []string{to}})
	f.finish(l, Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At, v.Status = f.now(), status }}})
	return o
}

// known is what a visit leaves behind that found a version.
func (f *fixture) known(version int) Outcome {
	return Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) {
		*v = webrace.Visit{
			At: f.now(), Status: 200, ETag: "e", Version: version, Former: v.Former, Digest: webrace.Digest{byte(version)}, Revision: int64(10 * version),
			Baseline: []uint64{uint64(version)}, Reading: 2, Numbers: []webrace.Told{{URD: 1, Number: 5}}, Absent: []webrace.Absent{{Rules: 7, Version: 1}},
		}
	}}}
}

// A document that moves for good is known at its new URL, also if the process dies before that is asked for.
func TestADocumentThatMovesForGoodIsKnownAtItsNewURL(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(crawlOf("a.org"), true)
	f.finish(f.take(), f.known(3))
	f.reopen()
	f.start(crawlOf("a.org"), true)
	f.redirected(f.take(), 301, "http://a.org/new")
	f.crash()
	f.start(crawlOf("a.org"), true)
	l := f.take()
	f.wantURL(l, "http://a.org/new")
	v := l.Request().Visit
	if v == nil || v.Version != 3 || v.Former != (webrace.Former{URL: "http://a.org/", Version: 3}) || !v.IsInherited() {
		t.Fatalf("the request knows %+v", v)
	}
	if !slices.Equal(v.Shown, []webrace.Shown{{Crawl: "a.org", Version: 3, Revision: 30}}) || v.Revision != 30 || v.Reading != 2 ||
		!slices.Equal(v.Baseline, []uint64{3}) || len(v.Numbers) != 1 || len(v.Absent) != 1 || v.Digest != (webrace.Digest{3}) {
		t.Errorf("the request knows %+v", v)
	}
	if l.Request().Stored || v.ETag != "" || !v.At.IsZero() || v.Status != 0 {
		t.Errorf("it was visited: %+v", v)
	}
	f.finish(l, f.known(4))
	f.reopen()
	f.start(crawlOf("a.org"), true)
	f.redirected(f.take(), 301, "http://a.org/new")
	l = f.take()
	if v := l.Request().Visit; v.Version != 4 || v.IsInherited() || v.Former.Version != 3 || v.Shown[0].Version != 4 {
		t.Errorf("the next request knows %+v", v)
	}
}

// Who inherits what, where two rounds go by: in the first, pages are visited, in the second some of them have moved.
func TestWhatInheritsOfADocumentThatHasMoved(t *testing.T) {
	t.Parallel()
	const a, b, c = "http://a.org/a", "http://a.org/b", "http://a.org/c"
	for name, test := range map[string]struct {
		known map[string]int    // the version of what is visited in the first round
		moves map[string]string // and where it leads in the second
		odd   string            // what of these moves for now only
		want  webrace.Former    // of c
		shown int
	}{
		"it moves":                         {map[string]int{a: 3}, map[string]string{a: c}, "", webrace.Former{URL: a, Version: 3}, 3},
		"it moves for now":                 {map[string]int{a: 3}, map[string]string{a: c}, a, webrace.Former{}, 0},
		"it moves twice":                   {map[string]int{a: 3}, map[string]string{a: b, b: c}, "", webrace.Former{URL: a, Version: 3}, 3},
		"it moves for now, then for good":  {map[string]int{a: 3}, map[string]string{a: b, b: c}, a, webrace.Former{}, 0},
		"it moves for good, then for now":  {map[string]int{a: 3}, map[string]string{a: b, b: c}, b, webrace.Former{}, 0},
		"to what is known":                 {map[string]int{a: 3, c: 2}, map[string]string{a: c}, "", webrace.Former{}, 2},
		"two move to one":                  {map[string]int{a: 3, b: 5}, map[string]string{a: c, b: c}, "", webrace.Former{URL: a, Version: 3}, 3},
		"from what never gave a document":  {map[string]int{a: 0}, map[string]string{a: c}, "", webrace.Former{}, 0},
		"over what was known itself to it": {map[string]int{a: 3, b: 5}, map[string]string{a: b, b: c}, "", webrace.Former{URL: b, Version: 5}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, QueueOptions{Fresh: -1})
			crawl := webrace.Crawl{ID: "x", Start: "http://a.org/", Scope: webrace.ScopeAny}
			var pages []string
			for _, url := range []string{a, b, c} {
				if _, ok := test.known[url]; ok {
					pages = append(pages, url)
				}
			}
			f.start(crawl, true)
			l := f.take()
			f.links(l, pages...)
			f.done(l)
			for range pages {
				l := f.take()
				f.finish(l, f.known(test.known[l.Request().URL]))
			}
			f.reopen()
			f.start(crawl, true)
			l = f.take()
			f.links(l, pages...)
			f.done(l)
			for {
				l := f.take()
				url := l.Request().URL
				to := test.moves[url]
				status := 301
				if url == test.odd {
					status = 302
				}
				if to != "" {
					f.redirected(l, status, to)
				}
				if url != c {
					continue
				}
				v := l.Request().Visit
				if v == nil {
					v = new(webrace.Visit)
				}
				shown, _ := v.ShownTo("x")
				if v.Former != test.want || shown.Version != test.shown {
					t.Errorf("what was %v there, and %d was shown; want %v and %d", v.Former, shown.Version, test.want, test.shown)
				}
				return
			}
		})
	}
}

// A crawl that comes to the new URL later goes on from what it was shown itself; one that had not seen the document is
// shown all of it.
func TestEachCrawlGoesOnFromWhatItWasShownBeforeTheMove(t *testing.T) {
	t.Parallel()
	const old, to = "http://p.org/old", "http://p.org/new"
	f := newFixture(t, QueueOptions{Fresh: -1})
	visit := func(crawl string, version int) {
		t.Helper()
		f.start(webrace.Crawl{ID: crawl, Start: "http://" + crawl + ".org/", Scope: webrace.ScopeAny}, true)
		l := f.take()
		f.links(l, old)
		f.done(l)
		f.finish(f.take(), f.known(version))
		f.reopen()
	}
	visit("a", 2)
	visit("b", 3)
	for _, c := range []struct {
		crawl string
		shown int
	}{{"b", 3}, {"a", 2}, {"c", 0}} {
		f.start(webrace.Crawl{ID: c.crawl, Start: "http://" + c.crawl + ".org/", Scope: webrace.ScopeAny}, true)
		l := f.take()
		f.links(l, old)
		f.done(l)
		f.redirected(f.take(), 308, to)
		l = f.take()
		f.wantURL(l, to)
		if shown, _ := l.Request().Visit.ShownTo(c.crawl); shown.Version != c.shown {
			t.Errorf("crawl %s was shown version %d, want %d", c.crawl, shown.Version, c.shown)
		}
		f.finish(l, f.known(4))
		f.reopen()
	}
}

func TestTheCounterpartOfAPageOnTheSiteBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, to, from, want string }{
		{"https://a.org/x?y", "https://a.org/", "http://a.org/", "http://a.org/x?y"},
		{"http://www.a.org/x", "http://www.a.org/", "http://a.org/", "http://a.org/x"},
		{"http://new.org/x", "http://new.org/", "http://old.org/", "http://old.org/x"},
		{"http://new.org/docs/x", "http://new.org/docs/", "http://old.org/", "http://old.org/x"},
		{"http://blog.a.org/x", "http://blog.a.org/", "http://a.org/blog/", "http://a.org/blog/x"},
		{"http://new.org/a/x", "http://new.org/a/index.html", "http://old.org/b/index.html", "http://old.org/b/x"},
		{"http://other.org/x", "http://new.org/", "http://old.org/", ""},
		{"http://new.organic/x", "http://new.org/", "http://old.org/", ""},
		{"http://new.org/x", "http://new.org/docs/", "http://old.org/", ""},
		{"http://new.org/x", "http://new.org/?q", "http://old.org/", ""},
		{"http://a.org/new/x", "http://a.org/new/", "http://a.org/old/", ""},
	} {
		if got, ok := counterpart(c.url, c.to, c.from); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s under %s, which was %s: %q, %v, want %q", c.url, c.to, c.from, got, ok, c.want)
		}
	}
}

// A site that moves to another host, over two redirects, takes its pages along, also if the process dies behind those
// of the start.
func TestAPageOfASiteThatHasMovedIsKnown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	crawl := webrace.Crawl{ID: "a", Start: "http://old.org/", Scope: webrace.ScopeHost}
	f.start(crawl, true)
	l := f.take()
	f.links(l, "http://old.org/x")
	f.finish(l, f.known(1))
	f.finish(f.take(), f.known(2))
	f.reopen()
	f.start(crawl, true)
	f.redirected(f.take(), 301, "https://old.org/")
	f.crash()
	f.start(crawl, true)
	f.redirected(f.take(), 308, "https://new.org/")
	f.crash()
	f.start(crawl, true)
	l = f.take()
	f.wantURL(l, "https://new.org/")
	if v := l.Request().Visit; v.Former != (webrace.Former{URL: "http://old.org/", Version: 1}) {
		t.Errorf("the start was %+v", v.Former)
	}
	f.links(l, "https://new.org/x", "https://new.org/y")
	f.finish(l, f.known(2))
	for range 2 {
		l := f.take()
		v, url := l.Request().Visit, l.Request().URL
		if url == "https://new.org/x" && (v == nil || v.Former != (webrace.Former{URL: "http://old.org/x", Version: 2}) || v.Shown[0].Version != 2) {
			t.Errorf("the visit of %s is %+v", url, v)
		}
		if url == "https://new.org/y" && v != nil {
			t.Errorf("the visit of %s is %+v", url, v)
		}
		f.done(l)
	}
}

// A page that no crawl has seen waits for one that was queued before, on the same host, and may have moved there: until
// that has answered, and if by a redirect, until that is known.
func TestAPageThatMayHaveMovedIsNotAskedForBeforeThatIsKnown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	crawl := webrace.Crawl{ID: "a", Start: "http://a.org/", Scope: webrace.ScopeAny}
	round := func(pages ...string) {
		t.Helper()
		f.start(crawl, true)
		l := f.take()
		l.Release(webrace.HostReport{})
		f.links(l, pages...)
		f.done(l)
	}
	round("http://a.org/x")
	l := f.hold()
	l.Release(webrace.HostReport{Parallel: 8})
	f.finish(l, f.known(2))
	f.reopen()

	round("http://a.org/x", "http://a.org/moved", "http://b.org/")
	x := f.hold()
	f.wantURL(x, "http://a.org/x")
	l = f.hold()
	f.wantURL(l, "http://b.org/") // another host waits for nothing
	f.done(l)
	f.none()
	if !f.q.Starved() {
		t.Error("the queue does not say that it waits for a lease")
	}
	x.Release(webrace.HostReport{Redirect: true})
	f.waitForCommit()
	f.none()
	f.redirected(x, 301, "http://a.org/moved")
	l = f.hold()
	f.wantURL(l, "http://a.org/moved")
	if v := l.Request().Visit; v == nil || v.Version != 2 {
		t.Errorf("the request knows %+v", v)
	}
	f.finish(l, f.known(3))
	f.reopen()

	round("http://a.org/moved", "http://a.org/new")
	l = f.hold()
	f.wantURL(l, "http://a.org/moved")
	f.none()
	l.Release(webrace.HostReport{Documents: 1})
	f.wantURL(f.hold(), "http://a.org/new") // what becomes of the document is not waited for
}

// So does a page that inherits already, until it is known who else has moved there.
func TestAPageToWhichOneHasMovedWaitsForOthersThatMayHave(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	crawl := webrace.Crawl{ID: "a", Start: "http://a.org/", Scope: webrace.ScopeAny}
	round := func() {
		t.Helper()
		f.start(crawl, true)
		l := f.take()
		f.links(l, "http://a.org/x", "http://a.org/y")
		f.done(l)
	}
	round()
	for version := range 2 {
		l := f.hold()
		l.Release(webrace.HostReport{Parallel: 8})
		f.finish(l, f.known(8*(version+1)))
	}
	f.reopen()
	round()
	x, y := f.hold(), f.hold()
	y.Release(webrace.HostReport{Redirect: true})
	f.redirected(y, 301, "http://a.org/new")
	f.none()
	x.Release(webrace.HostReport{Redirect: true})
	f.redirected(x, 301, "http://a.org/new")
	l := f.hold()
	f.wantURL(l, "http://a.org/new")
	if v := l.Request().Visit; v.Former.URL != "http://a.org/y" || !slices.Equal(v.Baseline, []uint64{8, 16}) {
		t.Errorf("the request knows %+v", v)
	}
}
