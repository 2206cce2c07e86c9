package frontier

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

func TestDepthCountsLevelsOfPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ levels, want int }{{1, 1}, {2, 2}, {3, 3}, {0, 4}} {
		f := newFixture(t, QueueOptions{})
		cr := crawlOf("a.org")
		cr.Levels = c.levels
		f.start(cr, true)
		f.q.Seal()
		n := 0
		for _, next := range []string{"http://a.org/1", "http://a.org/2", "http://a.org/3"} {
			l := f.take()
			n++
			o := f.links(l, next)
			f.done(l)
			if o.Refused[Depth] == 1 {
				break
			}
		}
		if n += len(f.drain()); n != c.want {
			t.Errorf("%d levels of a chain of four: %d pages, want %d", c.levels, n, c.want)
		}
	}
}

func TestARedirectStaysAtItsLevelAndASitemapGoesFurther(t *testing.T) {
	t.Parallel()
	for via, want := range map[webrace.Via]int{webrace.ViaRedirect: 0, webrace.ViaLink: 1, webrace.ViaSitemap: 1, webrace.ViaRobots: 1, webrace.ViaFeed: 1} {
		f := newFixture(t, QueueOptions{})
		f.start(crawlOf("a.org"), true)
		l := f.take()
		f.offer(webrace.Links{From: "http://a.org/", Reach: l.Request().Reach, Via: via, Redirects: 1, URLs: []string{"http://a.org/x"}})
		f.done(l)
		l = f.take()
		f.wantReach(l, webrace.Reach{Crawl: "a.org", Distance: want})
		if l.Request().From != "http://a.org/" || (via == webrace.ViaRedirect) != (l.Request().Redirects == 1) {
			t.Errorf("via %s: request is %+v", via, l.Request())
		}
	}
}

func TestTheDoorRefusesByReason(t *testing.T) {
	t.Parallel()
	rules, err := scope.ParseRules([]string{"deny path /private/"})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, QueueOptions{Gate: scope.NewGate(rules)})
	f.start(webrace.Crawl{ID: "host", Start: "http://a.org/", Levels: 2}, true)
	f.start(webrace.Crawl{ID: "domain", Start: "http://a.org/", Scope: webrace.ScopeDomain, Levels: 3}, true)
	reach := []webrace.Reach{{Crawl: "domain"}, {Crawl: "host"}}
	for _, c := range []struct {
		name  string
		links webrace.Links
		want  Reason
	}{
		{"a link", webrace.Links{URLs: []string{"http://a.org/1"}, Reach: reach}, accepted},
		{"the same again", webrace.Links{URLs: []string{"http://a.org/1"}, Reach: reach}, Repeat},
		{"in one of two scopes", webrace.Links{URLs: []string{"http://www.a.org/"}, Reach: reach}, accepted},
		{"out of scope", webrace.Links{URLs: []string{"http://b.org/"}, Reach: reach}, Scope},
		{"too deep for one", webrace.Links{URLs: []string{"http://a.org/2"}, Reach: []webrace.Reach{{Crawl: "domain", Distance: 1}, {Crawl: "host", Distance: 1}}}, accepted},
		{"too deep", webrace.Links{URLs: []string{"http://a.org/3"}, Reach: []webrace.Reach{{Crawl: "host", Distance: 1}}}, Depth},
		{"denied", webrace.Links{URLs: []string{"http://a.org/private/x"}, Reach: reach}, Rule},
		{"of an unknown crawl", webrace.Links{URLs: []string{"http://a.org/4"}, Reach: []webrace.Reach{{Crawl: "stranger"}}}, Unknown},
		{"of an empty reach", webrace.Links{URLs: []string{"http://a.org/4"}}, Unknown},
		{"no URL", webrace.Links{URLs: []string{"mailto:me@a.org"}, Reach: reach}, Invalid},
		{"a tenth redirect", webrace.Links{URLs: []string{"http://a.org/5"}, Reach: reach, Via: webrace.ViaRedirect, Redirects: 10}, accepted},
		{"an eleventh redirect", webrace.Links{URLs: []string{"http://a.org/6"}, Reach: reach, Via: webrace.ViaRedirect, Redirects: 11}, Redirects},
		{"too far for a number", webrace.Links{URLs: []string{"http://a.org/7"}, Reach: []webrace.Reach{{Crawl: "host", Distance: -1}}}, Unknown},
	} {
		if c.links.Via == "" {
			c.links.Via = webrace.ViaLink
		}
		var want Offered
		if c.want == accepted {
			want.Accepted = 1
		} else {
			want.Refused[c.want] = 1
		}
		if got := f.offer(c.links); got != want {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
	}
	if s := f.q.Stats(); s.Refused[Repeat] != 1 || s.Refused[Unknown] != 3 || rules.List()[0].Hits() != 1 {
		t.Errorf("refusals are counted as %+v", s)
	}
	if r := f.start(webrace.Crawl{ID: "p", Start: "http://a.org/private/"}, true); r.Refused != Rule || r.Pending != 0 {
		t.Errorf("a start that a rule denies: %+v", r)
	}
}

func TestTwoOwnersCostOneFetchAndGetTheirOwnPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(webrace.Crawl{ID: "shallow", Start: "http://a.org/", Levels: 2}, true)
	f.start(webrace.Crawl{ID: "deep", Start: "http://a.org/", Levels: 3, Scope: webrace.ScopeDomain}, true)
	f.q.Seal()
	l := f.take()
	f.wantReach(l, webrace.Reach{Crawl: "deep"}, webrace.Reach{Crawl: "shallow"})
	f.links(l, "http://a.org/1")
	f.done(l)
	l = f.take()
	f.wantReach(l, webrace.Reach{Crawl: "deep", Distance: 1}, webrace.Reach{Crawl: "shallow", Distance: 1})
	f.links(l, "http://a.org/2")
	f.done(l)
	l = f.take()
	f.wantReach(l, webrace.Reach{Crawl: "deep", Distance: 2})
	f.done(l)
	f.end()
}

func TestAnOfferThatAddsACrawlOrLowersADistanceIsAccepted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(crawlOf("a"), true)
	f.start(crawlOf("b"), true)
	f.drainQuietly()
	const page = "http://p.org/"
	offer := func(crawl string, distance int) int {
		return f.offer(webrace.Links{From: "http://x/", Via: webrace.ViaLink, Reach: []webrace.Reach{{Crawl: crawl, Distance: distance}}, URLs: []string{page}}).Accepted
	}
	if offer("a", 4) != 1 || offer("a", 4) != 0 || offer("a", 7) != 0 || offer("a", 3) != 1 {
		t.Error("a is to be accepted at 4, not again at 4 or 7, again at 3")
	}
	l := f.take()
	f.wantReach(l, webrace.Reach{Crawl: "a", Distance: 4})
	f.wantStored(l, false)
	f.done(l)
	f.none()
	if offer("b", 2) != 1 {
		t.Error("another crawl is not accepted")
	}
	l = f.take()
	f.wantReach(l, webrace.Reach{Crawl: "b", Distance: 3})
	f.wantStored(l, true)
	if v := l.Request().Visit; !slices.Equal(v.Shown, []webrace.Shown{{Crawl: "a", Distance: 4, Version: 1}}) {
		t.Errorf("the visit was shown to %v", v.Shown)
	}
	f.done(l)
	if offer("a", 0) != 1 {
		t.Error("a lower distance is not accepted after the visit")
	}
	l = f.take()
	f.wantReach(l, webrace.Reach{Crawl: "a", Distance: 1})
	f.wantStored(l, true)
	if v := l.Request().Visit; !slices.Equal(v.Shown, []webrace.Shown{{Crawl: "a", Distance: 4, Version: 1}, {Crawl: "b", Distance: 3, Version: 1}}) {
		t.Errorf("the visit was shown to %v", v.Shown)
	}
}

// drainQuietly works off what is there now, without an end.
func (f *fixture) drainQuietly() {
	f.t.Helper()
	for {
		f.q.mu.Lock()
		l, _, err := f.q.try(f.now())
		f.q.mu.Unlock()
		if err != nil {
			f.t.Fatal(err)
		}
		if l == nil {
			return
		}
		f.done(l)
	}
}

func TestAnOfferForALeasedURLIsServedAfterwards(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(crawlOf("a"), true)
	f.start(crawlOf("b"), true)
	f.drainQuietly()
	links := webrace.Links{From: "http://x/", Via: webrace.ViaLink, Reach: []webrace.Reach{{Crawl: "a", Distance: 5}}, URLs: []string{"http://p.org/"}}
	f.offer(links)
	l := f.take()
	links.Reach = []webrace.Reach{{Crawl: "a", Distance: 2}, {Crawl: "b", Distance: 9}}
	if o := f.offer(links); o.Accepted != 1 {
		t.Fatalf("the newcomers are not accepted: %+v", o)
	}
	f.none()
	f.done(l)
	l = f.take()
	f.wantReach(l, webrace.Reach{Crawl: "a", Distance: 3}, webrace.Reach{Crawl: "b", Distance: 10})
	f.wantStored(l, true)
	f.done(l)
	f.none()
}

func TestAMoreUrgentOfferForALeasedURLDoesNotHandItOutTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(webrace.Crawl{ID: "a", Start: "http://p.org/", Urgency: 1}, true)
	l := f.take()
	f.start(webrace.Crawl{ID: "b", Start: "http://p.org/", Urgency: 3}, true)
	f.none()
	f.done(l)
	l = f.take()
	f.wantReach(l, webrace.Reach{Crawl: "b"})
	f.done(l)
	f.none()
}

func TestQueuesDoNotShareAnything(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	other, err := f.s.Queue("p2", QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.s.Queue("p", QueueOptions{}); err == nil {
		t.Error("a queue is open twice")
	}
	f.start(crawlOf("a.org"), true)
	if s := other.Stats(); s.Queued != 0 {
		t.Errorf("the other queue has %+v", s)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if other, err = f.s.Queue("p2", QueueOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Start(context.Background(), crawlOf("a.org"), true); err != nil {
		t.Error(err)
	}
	if names, err := f.s.Pipelines(); err != nil || !slices.Equal(names, []string{"p", "p2"}) {
		t.Errorf("pipelines are %v, %v", names, err)
	}
}

func TestAClosedQueueSaysSo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	l := f.take()
	waits := make(chan error)
	go func() {
		_, err := f.q.Take(context.Background())
		waits <- err
	}()
	if err := f.q.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waits; !errors.Is(err, ErrClosed) {
		t.Errorf("a Take that waited: %v", err)
	}
	var done error
	l.Done(Outcome{}, func(err error) { done = err })
	if _, err := f.q.Start(context.Background(), crawlOf("b.org"), true); !errors.Is(err, ErrClosed) || !errors.Is(done, ErrClosed) {
		t.Errorf("start: %v, done: %v", err, done)
	}
	if err := f.s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.q.Why("http://a.org/"); !errors.Is(err, ErrClosed) {
		t.Errorf("why: %v", err)
	}
	if _, err := f.s.Queue("q", QueueOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("queue: %v", err)
	}
}

func TestANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	if err := f.s.db.Set([]byte(kind.FormatKey), []byte{kind.Format + 1}, pebbledb.Sync); err != nil {
		t.Fatal(err)
	}
	f.close()
	if s, err := Open("frontier", Options{FS: f.fs}); err == nil {
		s.Close()
		t.Error("a store of a newer format opens")
	}
}
