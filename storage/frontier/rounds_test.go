package frontier

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/schedule"
)

func TestAnUnfinishedRoundIsResumedAndNothingDoneIsAskedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	first := f.start(crawlOf("a.org"), true)
	l := f.take()
	f.links(l, pages("a.org", 3)...)
	f.done(l)
	out := f.take() // not done: to be handed out again
	f.crash()
	again := f.start(crawlOf("a.org"), true)
	if !again.Resumed || again.Number != first.Number || !again.Started.Equal(first.Started) || again.Pending != 3 {
		t.Errorf("round is %+v, want the rest of %+v", again, first)
	}
	got := f.drain()
	slices.Sort(got)
	if !slices.Equal(got, pages("a.org", 3)) || !slices.Contains(got, out.Request().URL) {
		t.Errorf("after the crash %v were taken, want the three links", got)
	}
}

func TestAFinishedRoundIsFollowedByANewOneThatAsksForEverything(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.round(crawlOf("a.org"))
	if r := f.start(crawlOf("a.org"), false); r.Number != 1 || r.Resumed || r.Pending != 0 {
		t.Errorf("round is %+v, want none opened", r)
	}
	f.none()
	if r := f.start(crawlOf("a.org"), true); r.Number != 2 || r.Resumed || r.Pending != 1 {
		t.Errorf("round is %+v, want a second one", r)
	}
	l := f.take()
	f.wantStored(l, false)
	if v := l.Request().Visit; v == nil || v.Status != 200 || v.Version != 1 || v.At.IsZero() {
		t.Errorf("visit is %+v, want the last round's", v)
	}
}

func TestFreshAnswersWithoutARequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fresh, timing, ago time.Duration
		want               bool
	}{
		{0, 0, 59 * time.Second, true},
		{0, 0, 61 * time.Second, false},
		{time.Hour, 0, 59 * time.Minute, true},
		{time.Hour, 20 * time.Minute, 9 * time.Minute, true},
		{time.Hour, 20 * time.Minute, 11 * time.Minute, false}, // at most half the timing
		{-1, 0, time.Nanosecond, false},
	} {
		now := time.Unix(1e9, 0)
		f := newFixtureAt(t, QueueOptions{Fresh: c.fresh}, func() time.Time { return now })
		cr := crawlOf("a.org")
		cr.Timing = c.timing
		f.round(cr)
		now = now.Add(c.ago)
		f.start(cr, true)
		f.wantStored(f.take(), c.want)
	}
}

// A document that was removed since answers nothing, and no server is asked to confirm it. What the visit
// knows of it stays. That there was no document, or that it is elsewhere, needs nothing that is stored.
func TestADocumentThatWasRemovedIsAskedForAgainWithoutConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, version int
		gone            bool
		stored          bool
		etag            string
	}{
		{200, 1, false, true, `"e"`},
		{200, 1, true, false, ""},
		{304, 1, true, false, ""},
		{404, 1, true, true, ""},
		{200, 0, true, true, `"e"`}, // nothing was ever stored: nothing can have gone
	} {
		f := newFixture(t, QueueOptions{Fresh: time.Hour, Gone: func(_, url string) bool { return c.gone && url == "http://a.org/" }})
		f.start(crawlOf("a.org"), true)
		o := f.visited(c.status, c.version)
		o.Learned = append(o.Learned, func(v *webrace.Visit) { v.ETag, v.LastModified, v.Baseline = `"e"`, "then", []uint64{7} })
		f.finish(f.take(), o)
		f.start(crawlOf("a.org"), true)
		l := f.take()
		f.wantStored(l, c.stored)
		if v := l.Request().Visit; v.ETag != c.etag || (v.LastModified == "") != (c.etag == "") || v.Version != c.version || len(v.Baseline) != 1 {
			t.Errorf("%+v: the visit says %+v", c, v)
		}
	}
}

func TestOnlyTheCrawlsOfThisRunAreServed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Window: 1})
	f.start(crawlOf("a"), true)
	f.start(crawlOf("b"), true)
	f.start(webrace.Crawl{ID: "c", Start: "http://b/"}, true)
	f.crash()
	f.start(webrace.Crawl{ID: "c", Start: "http://b/"}, true)
	if got := f.drain(); !slices.Equal(got, []string{"http://b/"}) {
		t.Fatalf("%v were taken for c alone", got)
	}
	if s := f.q.Stats(); s.Due != 0 || s.Queued != 1 {
		t.Errorf("stats: %+v, want one URL left for a", s)
	}
	f.reopen()
	if r := f.start(crawlOf("b"), false); r.Pending != 0 || r.Resumed {
		t.Errorf("b's round is %+v: what c fetched was b's as well", r)
	}
	f.start(crawlOf("a"), true)
	if got := f.drain(); !slices.Equal(got, []string{"http://a/"}) {
		t.Errorf("%v were taken for a", got)
	}
}

func TestRaisedLevelsReachDeeperPagesWithoutAskingAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	cr := crawlOf("a.org")
	cr.Levels = 2
	first := f.start(cr, true)
	start := f.take()
	cr.Levels = 3
	raised := f.start(cr, true) // while the start is out
	if !raised.Resumed || !raised.Started.Equal(first.Started) {
		t.Errorf("round is %+v, want %+v to go on", raised, first)
	}
	f.links(start, "http://a.org/1")
	f.done(start)
	one := f.take()
	if one.Request().URL != "http://a.org/1" {
		start, one = one, f.take()
	} else {
		start = f.take()
	}
	f.wantURL(start, "http://a.org/")
	f.wantStored(start, true)
	f.wantURL(one, "http://a.org/1")
	if o := f.links(one, "http://a.org/2"); o.Accepted != 1 {
		t.Errorf("a page of the third level: %+v", o)
	}
	cr.Levels = 1
	f.start(cr, true) // within the round, bounds only widen
	if o := f.links(one, "http://a.org/3"); o.Accepted != 1 {
		t.Errorf("a page of the third level after a start with one: %+v", o)
	}
}

func TestLoweredLevelsDropWhatLiesBeyond(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{MaxLeases: 3})
	f.start(crawlOf("a.org"), true)
	l := f.take()
	f.links(l, pages("a.org", 20)...)
	f.done(l)
	f.crash()
	cr := crawlOf("a.org")
	cr.Levels = 1
	f.start(cr, true)
	if got := f.drain(); len(got) > 0 {
		t.Errorf("%v were taken, but lie beyond the start page", got)
	}
	if s := f.q.Stats(); s.Queued != 0 || s.Due != 0 {
		t.Errorf("stats: %+v, want nothing left", s)
	}
}

func TestRoundsThatARunOpensCountFromItsBeginning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		continuous bool
		stored     bool
	}{
		"a run with an end": {false, true},
		"a run without":     {true, false},
	} {
		at := time.Unix(1e9, 0)
		f := newFixtureAt(t, QueueOptions{Fresh: -1, Began: at, Continuous: c.continuous, Revisit: schedule.Bounds{Min: 1, Max: 1}}, func() time.Time { return at })
		f.start(webrace.Crawl{ID: "a", Start: "http://p.org/"}, true)
		f.done(f.take()) // before the second crawl is started
		at = at.Add(time.Minute)
		f.start(webrace.Crawl{ID: "b", Start: "http://x.org/", Scope: webrace.ScopeAny}, true)
		start := f.take()
		f.links(start, "http://p.org/")
		f.done(start)
		l := f.take()
		f.wantURL(l, "http://p.org/")
		if got := l.Request().Stored; got != c.stored {
			t.Errorf("%s: the page that the first crawl had fetched is stored: %v, want %v", name, got, c.stored)
		}
		f.done(l)
		f.q.Seal()
		f.end()
	}
}

// Crawls that are begun while the disk is busy share its next syncs, and are as durable as any.
func TestCrawlsThatAreBegunTogetherShareACommit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	const crawls = 2*groupSize + 1
	busy, free := make(chan bool), make(chan bool)
	f.q.submit(step{apply: func(*changes) error {
		close(busy)
		<-free
		return nil
	}})
	<-busy
	before := f.s.db.Generation().Commits // the committer waits
	begun := make(chan error, crawls)
	for i := range crawls {
		if err := f.q.Begin(crawlOf(fmt.Sprintf("h%d.org", i)), true, func(r Round, err error) {
			if err == nil && (r.Number != 1 || r.Pending != 1) {
				err = fmt.Errorf("round is %+v, want the first, with its start", r)
			}
			begun <- err
		}); err != nil {
			t.Fatal(err)
		}
	}
	close(free)
	for range crawls {
		if err := <-begun; err != nil {
			t.Error(err)
		}
	}
	if got := f.s.db.Generation().Commits - before; got > 3 {
		t.Errorf("%d crawls were begun in %d commits, want 3", crawls, got)
	}
	f.crash()
	if got := f.q.Stats().Queued; got != crawls {
		t.Errorf("after a crash %d starts are queued, want %d", got, crawls)
	}
	if err := f.q.Begin(webrace.Crawl{Start: "http://a.org/"}, true, func(Round, error) { t.Error("it was begun") }); err == nil {
		t.Error("a crawl without an id is begun")
	}
}
