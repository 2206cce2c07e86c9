package frontier

import (
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

// before opens the frontier of a crawl that was shown some pages, in a round in which their site leads elsewhere.
func before(t *testing.T, o QueueOptions, pages ...string) *fixture {
	t.Helper()
	o.Fresh = -1
	o.LedTo = func(secret, url string, version int) []string {
		if secret != "" || url != "http://a.org/" || version != 1 {
			return nil
		}
		return pages
	}
	f := newFixture(t, o)
	f.start(crawlOf("a.org"), true)
	l := f.take()
	f.links(l, pages...)
	f.done(l)
	for range pages {
		f.done(f.take())
	}
	f.reopen()
	f.start(crawlOf("a.org"), true)
	return f
}

// A page that nothing leads to any more is asked whether it has moved, before what is new is handed out; in each order.
func TestAPageThatIsLeftIsAskedWhetherItHasMoved(t *testing.T) {
	t.Parallel()
	const old, stays, to = "http://a.org/old", "http://a.org/stays", "http://a.org/new"
	for _, order := range Orders {
		t.Run(string(order), func(t *testing.T) {
			f := before(t, QueueOptions{Order: order}, old, stays)
			start := f.take()
			f.links(start, to, stays)
			if order == BreadthFirst {
				f.crash()
				f.start(crawlOf("a.org"), true)
				start = f.take()
				f.links(start, to, stays)
			}
			l := f.hold()
			f.wantURL(l, old)
			if r := l.Request(); !r.Left || r.Stored || r.Visit == nil {
				t.Errorf("the request is %+v", r)
			}
			l.Release(webrace.HostReport{Redirect: true})
			if order != BestFirst { // the others come as they score
				other := f.take()
				f.wantURL(other, stays)
				if other.Request().Left {
					t.Error("what stays is asked only whether it has moved")
				}
				f.done(other)
			}
			f.redirected(l, 301, to)
			l = f.take()
			if order == BestFirst && l.Request().URL == stays {
				f.done(l)
				l = f.take()
			}
			f.wantURL(l, to)
			if v := l.Request().Visit; v == nil || v.Former.URL != old || l.Request().Left {
				t.Errorf("the new address knows %+v", v)
			}
			f.done(l)
			f.done(start)
			if order == BestFirst && f.q.Stats().Due > 0 {
				f.done(f.take())
			}
			f.q.Seal()
			f.end()
		})
	}
}

// One that has not moved is as it was, whatever it answers, and is handed out like any other once a page leads there in
// the same round.
func TestAPageThatIsLeftAndHasNotMovedIsAsItWas(t *testing.T) {
	t.Parallel()
	const old, to = "http://a.org/old", "http://a.org/new"
	for name, test := range map[string]struct {
		during bool // it is out when a page leads there
		status int
	}{
		"while it is asked":        {true, 200},
		"after it was asked":       {false, 200},
		"after it was not there":   {false, 404},
		"while it leads elsewhere": {true, 302},
	} {
		t.Run(name, func(t *testing.T) {
			f := before(t, QueueOptions{}, old)
			start := f.take()
			f.links(start, to)
			l := f.take()
			f.wantURL(l, old)
			if !l.Request().Left {
				t.Fatal("it is asked as any other")
			}
			leads := func() {
				if got := f.links(start, old); got.Accepted != 1 {
					t.Fatalf("a page leads there: %+v", got)
				}
			}
			if test.during {
				leads()
			}
			f.finish(l, f.visited(test.status, 7))
			if !test.during {
				leads()
			}
			var again *Lease
			for range 2 {
				if l := f.take(); l.Request().URL == old {
					again = l
				}
			}
			if again == nil {
				t.Fatal("it is not handed out again")
			}
			if r := again.Request(); r.Left || r.Stored || r.Visit.Version != 1 || r.Visit.Status != 200 {
				t.Errorf("it is handed out as %+v, visit %+v", r, r.Visit)
			}
		})
	}
}

// Nothing is asked where a page leads to nothing new, nor on other hosts, nor twice.
func TestWhatIsLeftIsNotAskedForNothing(t *testing.T) {
	t.Parallel()
	const old, stays, other = "http://a.org/old", "http://a.org/stays", "http://b.org/"
	f := before(t, QueueOptions{}, old, stays)
	f.crash()
	c := crawlOf("a.org")
	c.Scope = webrace.ScopeAny
	f.start(c, true)
	start := f.take()
	f.links(start, stays)
	f.done(start)
	f.done(f.take())
	f.none()
	f.start(c, true)
	start = f.take()
	f.links(start, stays, other)
	f.done(start)
	var urls []string
	for range 2 {
		l := f.take()
		urls = append(urls, l.Request().URL)
		f.done(l)
	}
	slices.Sort(urls)
	if !slices.Equal(urls, []string{stays, other}) {
		t.Errorf("asked are %v", urls)
	}
	f.none()
}

// What is new waits until the pages that are left are queued: not only until it is said where the document leads, in a
// process that takes over from one that died once the new pages were queued.
func TestWhatIsNewWaitsUntilWhatIsLeftIsQueued(t *testing.T) {
	t.Parallel()
	const old, to = "http://a.org/old", "http://a.org/new"
	f := before(t, QueueOptions{}, old)
	first := f.take()
	f.links(first, to)
	f.crash()
	f.start(crawlOf("a.org"), true)
	first = f.hold()
	first.Release(webrace.HostReport{})
	f.none()

	entered, goOn := make(chan struct{}), make(chan struct{})
	f.q.submit(step{apply: func(*changes) error {
		close(entered)
		<-goOn
		return nil
	}})
	<-entered
	f.q.Offer(&webrace.Links{From: "http://a.org/", Reach: first.Request().Reach, Via: webrace.ViaLink, URLs: []string{to}}, nil)
	f.q.mu.Lock()
	if err := first.callUp(); err != nil {
		t.Fatal(err)
	}
	if l, _, _ := f.q.try(f.q.store.now()); l != nil {
		t.Errorf("before it is durable where the start leads, %s is handed out", l.Request().URL)
	}
	f.q.mu.Unlock()
	close(goOn)
	l := f.take()
	f.wantURL(l, old)
}
