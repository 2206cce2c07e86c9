package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/testutil"
)

// ledger notes what the frontier promised.
type ledger struct {
	mu       sync.Mutex
	offered  map[string]bool // promised to be handed out
	finished map[string]bool // promised not to be handed out again
	out      map[string]bool
	ended    map[string]bool // given back, and perhaps finished
	mostOut  int
}

func (l *ledger) note(set map[string]bool, urls ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range urls {
		set[u] = true
	}
}

// take checks that a URL is out once, and is asked for once: another offer may have come nearer to a
// page that is done, but then what is stored answers.
func (l *ledger) take(t *testing.T, lease *Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	url := lease.Request().URL
	stored := lease.Request().Stored
	if l.out[url] || l.finished[url] && !stored || stored && !l.ended[url] {
		t.Errorf("%s is handed out: out %v, ended %v, done %v, stored %v", url, l.out[url], l.ended[url], l.finished[url], stored)
	}
	l.out[url] = true
	l.mostOut = max(l.mostOut, len(l.out))
}

// giveBack notes that a lease ends: before Done, because once that has come to pass the URL, or another,
// may be handed out before Done has returned.
func (l *ledger) giveBack(url string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.out, url)
	l.ended[url] = true
}

// work crawls a site without an end, in which page n links to pages 2n+1 to 2n+4, until the queue is
// closed, and waits for nothing.
func (l *ledger) work(f *fixture, t *testing.T) {
	for {
		lease, err := f.q.Take(context.Background())
		if err != nil {
			return
		}
		req := lease.Request()
		l.take(t, lease)
		lease.Release(webrace.HostReport{})
		var host, n int
		if _, err := fmt.Sscanf(req.URL, "http://h%d/%d", &host, &n); err != nil {
			t.Error(err)
		}
		links := &webrace.Links{From: req.URL, Reach: req.Reach, Via: webrace.ViaLink}
		for i := 2*n + 1; i <= 2*n+4; i++ {
			links.URLs = append(links.URLs, fmt.Sprintf("http://h%d/%d", i%7, i))
		}
		f.q.Offer(links, func(_ Offered, err error) {
			if err != nil {
				return
			}
			l.note(l.offered, links.URLs...)
			l.giveBack(req.URL)
			lease.Done(f.visited(200, 1), func(err error) {
				if err == nil {
					l.note(l.finished, req.URL)
				}
			})
		})
	}
}

// Power is lost at any moment, under load: what was promised until then holds.
func TestPromisesHoldThroughPowerLossUnderLoad(t *testing.T) {
	t.Parallel()
	const workers, leases = 4, 16
	for seed := range testutil.Seeds(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 2))
			f := newFixture(t, QueueOptions{MaxLeases: leases})
			f.start(webrace.Crawl{ID: "c", Start: "http://h0/0", Scope: webrace.ScopeAny}, true)
			l := &ledger{offered: map[string]bool{"http://h0/0": true}, finished: map[string]bool{}, out: map[string]bool{}, ended: map[string]bool{}}
			var running sync.WaitGroup
			for range workers {
				running.Go(func() { l.work(f, t) })
			}
			for enough := 20 + rng.IntN(300); ; {
				l.mu.Lock()
				n := len(l.finished)
				l.mu.Unlock()
				if n >= enough {
					break
				}
				if err := f.q.waitForCommit(); err != nil {
					t.Fatal(err)
				}
			}
			l.mu.Lock()
			offered, finished := keysOf(l.offered), keysOf(l.finished)
			l.mu.Unlock()
			after := f.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
			f.close()
			running.Wait()
			f.fs = after
			f.open()
			f.start(webrace.Crawl{ID: "c", Start: "http://h0/0", Scope: webrace.ScopeAny}, false)
			asked, left := f.drainStored()
			for _, u := range finished {
				if asked[u] {
					t.Errorf("%s was done, and is asked for again", u)
				}
			}
			for _, u := range offered {
				if !left[u] && !l.finished[u] {
					t.Errorf("%s was accepted, and is lost", u)
				}
			}
			if l.mostOut > leases {
				t.Errorf("%d leases were out, want at most %d", l.mostOut, leases)
			}
		})
	}
}

// drainStored works everything off, and returns what was asked for, and that with what was stored.
func (f *fixture) drainStored() (asked, all map[string]bool) {
	f.t.Helper()
	asked, all = map[string]bool{}, map[string]bool{}
	f.q.Seal()
	for {
		l, err := f.q.Take(context.Background())
		if errors.Is(err, io.EOF) {
			return asked, all
		}
		if err != nil {
			f.t.Fatal(err)
		}
		req := l.Request()
		all[req.URL] = true
		asked[req.URL] = asked[req.URL] || !req.Stored
		f.done(l)
	}
}

// waitForCommit returns when a step handed in now is durable.
func (q *Queue) waitForCommit() error {
	done := make(chan error, 1)
	q.submit(step{apply: func(*changes) error { return nil }, done: func(err error) { done <- err }})
	return <-done
}

func keysOf(set map[string]bool) (list []string) {
	for k := range set {
		list = append(list, k)
	}
	return list
}

// Many take, offer, fail and finish at once: every page is worked on once, and the end comes.
func TestConcurrentWorkersFetchEveryPageOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Window: 4})
	for i := range 5 {
		f.start(webrace.Crawl{ID: fmt.Sprint(i), Start: fmt.Sprintf("http://h%d/0", i), Scope: webrace.ScopeAny, Urgency: 1 + i%3}, true)
	}
	f.q.Seal()
	var mu sync.Mutex
	fetched, tries := map[string]int{}, map[string]int{}
	work := func() {
		for {
			l, err := f.q.Take(context.Background())
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			req := l.Request()
			mu.Lock()
			tries[req.URL]++
			fails := len(req.URL)%3 == 0 && tries[req.URL] == 1
			if !req.Stored && !fails {
				fetched[req.URL]++
			}
			mu.Unlock()
			l.Release(webrace.HostReport{Parallel: 2})
			if fails {
				l.Done(Outcome{Err: errors.New("reset"), RetryAt: f.now()}, nil)
				continue
			}
			links := &webrace.Links{From: req.URL, Reach: req.Reach, Via: webrace.ViaLink}
			for i := range 40 {
				links.URLs = append(links.URLs, fmt.Sprintf("http://h%d/%d", i%5, i))
			}
			f.q.Offer(links, func(Offered, error) { l.Done(f.visited(200, 1), nil) })
		}
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(work)
	}
	for range 20 { // those who look on
		f.q.Stats()
		if _, err := f.q.Why("http://h0/0"); err != nil {
			t.Error(err)
		}
	}
	workers.Wait()
	for u, n := range fetched {
		if n != 1 {
			t.Errorf("%s was fetched %d times", u, n)
		}
	}
	if s := f.q.Stats(); len(fetched) != 44 || s.Queued != 0 || s.Due != 0 || s.Leased != 0 {
		t.Errorf("%d pages were fetched, want 44; stats %+v", len(fetched), s)
	}
}

// A page that was accepted, when the process died before it was done with the page that leads there, is handed out
// once that has led there again: what it says is compared with what that one says by now.
func TestAfterACrashAPageIsHandedOutBehindTheOneThatLeadsThere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		page string
		ends func(f *fixture, l *Lease)
	}{
		"it leads there again":        {"http://a.org/2", func(f *fixture, l *Lease) { f.links(l, "http://a.org/2") }},
		"the page is on another host": {"http://b.org/", func(f *fixture, l *Lease) { f.links(l, "http://b.org/") }},
		"it has no links any more":    {"http://a.org/2", func(f *fixture, l *Lease) { f.done(l) }},
		"it leads to nothing else":    {"http://a.org/2", func(f *fixture, l *Lease) { f.links(l) }},
		"it fails, and is to be tried again": {"http://a.org/2", func(f *fixture, l *Lease) {
			f.finish(l, Outcome{Err: errors.New("no answer"), RetryAt: f.now().Add(time.Hour)})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, QueueOptions{Fresh: -1})
			crawl := webrace.Crawl{ID: "x", Start: "http://a.org/", Scope: webrace.ScopeAny}
			f.start(crawl, true)
			f.links(f.take(), test.page)
			next := f.take() // while the page that leads there is out
			f.wantURL(next, test.page)
			f.crash()
			f.start(crawl, true)
			l := f.take()
			f.wantURL(l, "http://a.org/")
			f.none()
			if !f.q.Starved() {
				t.Error("it is not said that only a lease that is out keeps the page back")
			}
			test.ends(f, l)
			f.wantURL(f.take(), test.page)
		})
	}
}

// So is a page behind several that lead to one another, as those of a list.
func TestAfterACrashThePagesOfAListAreHandedOutOneAfterTheOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(crawlOf("a.org"), true)
	list := []string{"http://a.org/", "http://a.org/2", "http://a.org/3", "http://a.org/4"}
	for _, next := range list[1:] {
		f.links(f.take(), next)
	}
	f.crash()
	f.start(crawlOf("a.org"), true)
	for i, url := range list {
		l := f.take()
		f.wantURL(l, url)
		f.none()
		if i < len(list)-1 {
			f.links(l, list[i+1])
		}
	}
}

// So is where a URL redirects to, if the process died after that was durable: in this round it is not asked again.
func TestAfterACrashItIsKnownWhereAURLRedirectsTo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	redirects := func() *Lease {
		f.start(crawlOf("a.org"), true)
		l := f.take()
		f.wantURL(l, "http://a.org/")
		f.offer(webrace.Links{From: "http://a.org/", Reach: l.Request().Reach, Via: webrace.ViaRedirect, Redirects: 1, URLs: []string{"http://b.org/"}})
		return l
	}
	redirects()
	f.crash()
	l := redirects()
	f.start(webrace.Crawl{ID: "other", Start: "http://c.org/", Scope: webrace.ScopeAny}, true)
	f.finish(l, f.visited(302, 0))
	for range 2 {
		l := f.take()
		if l.Request().URL == "http://c.org/" {
			f.links(l, "http://a.org/")
		}
		f.done(l)
	}
	l = f.take()
	f.wantURL(l, "http://b.org/")
	f.wantReach(l, webrace.Reach{Crawl: "other", Distance: 1})
}

// What a killed run left waiting is handed out from its beginning: not from where a taker had come to when the crawl
// goes on, which passed over what waits for it before.
func TestWhatWaitsForACrawlIsNotHandedOutFromTheMiddle(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	c := crawlOf("a.org")
	f.start(c, true)
	first := f.take()
	f.links(first, "http://a.org/1", "http://a.org/2")
	f.done(first)
	f.crash()

	f.q.mu.Lock()
	now := f.q.store.now()
	if _, err := f.q.window.fill(now); err != nil {
		t.Fatal(err)
	}
	from := f.q.window.pick(now)
	if l, err := f.q.takeFrom(from, now); l != nil || err != nil { // it passes over /1
		t.Fatalf("of a crawl that is not of this run, it hands out %v, %v", l, err)
	}
	f.q.mu.Unlock()

	matcher, err := scope.New(c.Start, c.Scope)
	if err != nil {
		t.Fatal(err)
	}
	s := &start{q: f.q, crawl: c, scope: matcher, host: hostOf("a.org")}
	begun := make(chan error, 1)
	f.q.submit(step{
		wants: s.wants,
		apply: func(ch *changes) error {
			err := s.apply(ch)
			f.q.mu.Lock()
			defer f.q.mu.Unlock()
			if l, _, _ := f.q.try(now); l != nil {
				t.Errorf("before it is durable that the crawl goes on, %s is handed out", l.Request().URL)
			}
			return err
		},
		after: s.after,
		done:  func(err error) { begun <- err },
	})
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	f.wantURL(f.take(), "http://a.org/1")
}
