package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
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
	for via, want := range map[webrace.Via]int{webrace.ViaRedirect: 0, webrace.ViaLink: 1, webrace.ViaSitemap: 1} {
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
	f := newFixture(t, QueueOptions{Rules: rules})
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
		{"of nobody", webrace.Links{URLs: []string{"http://a.org/4"}, Reach: []webrace.Reach{{Crawl: "stranger"}}}, Unknown},
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
	if s := f.q.Stats(); s.Refused[Repeat] != 1 || s.Refused[Unknown] != 3 || rules.Hits()[0].Count != 1 {
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

// newcomer starts crawl b, holds its start, and then has crawl a visit http://p.org/ in the same round.
func (f *fixture) newcomer(visit func(*Lease)) (startOfB *Lease) {
	f.t.Helper()
	f.start(webrace.Crawl{ID: "b", Start: "http://x.org/", Scope: webrace.ScopeAny}, true)
	startOfB = f.take()
	f.start(webrace.Crawl{ID: "a", Start: "http://p.org/"}, true)
	visit(f.take())
	return startOfB
}

func TestAStoredRedirectIsFollowedForNewcomersWithoutARequest(t *testing.T) {
	t.Parallel()
	for _, version := range []int{0, 1} { // also where a document was stored before the redirect
		f := newFixture(t, QueueOptions{Fresh: -1})
		b := f.newcomer(func(l *Lease) {
			f.offer(webrace.Links{From: "http://p.org/", Reach: l.Request().Reach, Via: webrace.ViaRedirect, Redirects: 1, URLs: []string{"http://p.org/home"}})
			f.finish(l, f.visited(301, version))
			f.done(f.take())
		})
		f.links(b, "http://p.org/")
		f.done(b)
		l := f.take()
		f.wantURL(l, "http://p.org/home")
		f.wantReach(l, webrace.Reach{Crawl: "b", Distance: 1})
		if r := l.Request(); !r.Stored || r.Redirects != 1 {
			t.Errorf("request is %+v", r)
		}
		f.done(l)
		f.q.Seal()
		f.end()
	}
}

func TestAVisitKnowsWhichVersionEachCrawlWasShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	visit := func(l *Lease, version int) {
		t.Helper()
		o := f.visited(200, version)
		o.Learned = append(o.Learned, func(v *webrace.Visit) { v.Revision = int64(10 * version) })
		f.finish(l, o)
	}
	b := f.newcomer(func(l *Lease) { visit(l, 1) })
	f.links(b, "http://p.org/")
	visit(b, 1)
	visit(f.take(), 1) // b comes to the page as well, and is shown the same version
	f.q.Seal()
	f.end()

	f.reopen()
	b = f.newcomer(func(l *Lease) { visit(l, 2) })
	f.links(b, "http://p.org/")
	visit(b, 1)
	l := f.take()
	want := []webrace.Shown{{Crawl: "a", Version: 2, Revision: 20}, {Crawl: "b", Distance: 1, Version: 1, Revision: 10}}
	if v := l.Request().Visit; !l.Request().Stored || v.Version != 2 || !slices.Equal(v.Shown, want) {
		t.Errorf("the request of the second crawl knows %+v, want version 2 shown as %v", v, want)
	}
	f.done(l)
	f.q.Seal()
	f.end()
}

func TestAStoredAnswerWithoutADocumentIsHandedOutAsSuch(t *testing.T) {
	t.Parallel()
	for _, version := range []int{0, 1} { // also where a document was stored before it was gone
		f := newFixture(t, QueueOptions{Fresh: -1})
		b := f.newcomer(func(l *Lease) {
			gone := f.visited(404, version)
			gone.Learned = append(gone.Learned, func(v *webrace.Visit) { v.Error = "404 Not Found" })
			f.finish(l, gone)
		})
		f.links(b, "http://p.org/")
		f.done(b)
		l := f.take()
		f.wantURL(l, "http://p.org/")
		f.wantStored(l, true)
		if v := l.Request().Visit; v.Version != version || v.Status != 404 {
			t.Errorf("visit is %+v", v)
		}
		f.finish(l, Outcome{})
		if n := f.q.Stats().Failed; n != 1 {
			t.Errorf("%d URLs are listed as failed after a stored 404 answered, want 1", n)
		}
	}
}

func TestCredentialsKeepDocumentsApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(webrace.Crawl{ID: "public", Start: "http://a.org/"}, true)
	f.start(webrace.Crawl{ID: "private", Start: "http://a.org/", Secret: "me"}, true)
	one, other := f.take(), f.take()
	if len(one.Request().Reach) != 1 || len(other.Request().Reach) != 1 {
		t.Errorf("reaches are %v and %v, want one crawl each", one.Request().Reach, other.Request().Reach)
	}
	f.links(one, "http://a.org/x")
	if o := f.links(other, "http://a.org/x"); o.Accepted != 1 {
		t.Errorf("the other's link: %+v, want it accepted", o)
	}
	if why, err := f.q.Why("http://a.org/x"); err != nil || len(why) != 2 {
		t.Errorf("why: %+v, %v, want one explanation for each", why, err)
	}
}

func TestAFailureIsTriedAgainAndThenReported(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Attempts: 3})
	f.start(crawlOf("a.org"), true)
	for i := range 3 {
		l := f.take()
		if v := l.Request().Visit; i > 0 && (v.Attempts != i || v.Error != "reset") {
			t.Errorf("attempt %d: visit is %+v", i+1, v)
		}
		f.finish(l, Outcome{Err: errors.New("reset"), RetryAt: time.Now(), Learned: []webrace.Learned{func(v *webrace.Visit) { v.Status = 99 }}})
		if i == 0 {
			f.crash()
			f.start(crawlOf("a.org"), true)
		}
	}
	f.none()
	failed := f.failed()
	if len(failed) != 1 || failed[0].URL != "http://a.org/" || failed[0].Visit.Attempts != 3 || failed[0].Visit.Error != "reset" || failed[0].Visit.Status != 0 {
		t.Fatalf("failed: %+v", failed)
	}
	if why, _ := f.q.Why("http://a.org/"); why[0].State != Failed || f.q.Stats().Failed != 1 {
		t.Errorf("why: %+v", why)
	}
	f.start(crawlOf("a.org"), true)
	f.done(f.take())
	if failed := f.failed(); len(failed) != 0 || f.q.Stats().Failed != 0 {
		t.Errorf("after a success %v are still failed", failed)
	}
}

func (f *fixture) failed() (all []Failure) {
	f.t.Helper()
	for failure, err := range f.q.Failed(context.Background()) {
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, failure)
	}
	return all
}

func TestAnErrorWithoutARetryIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	f.finish(f.take(), Outcome{Err: errors.New("broken")})
	f.none()
	if failed := f.failed(); len(failed) != 1 || failed[0].Visit.Error != "broken" {
		t.Errorf("failed: %+v", failed)
	}
}

// An answer like 404 ends a visit well, and yet there is no document: that is listed until there is one.
func TestAVisitThatLearnsOfNoDocumentIsListed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	f.finish(f.take(), Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) {
		v.At, v.Status, v.Error = time.Now(), 404, "404 Not Found"
	}}})
	f.none()
	check := func(when string) {
		t.Helper()
		failed := f.failed()
		if len(failed) != 1 || failed[0].Visit.Error != "404 Not Found" || failed[0].Visit.Attempts != 0 {
			t.Errorf("%s: failed: %+v", when, failed)
		}
		if why, err := f.q.Why("http://a.org/"); err != nil || why[0].State != Failed || f.q.Stats().Failed != 1 {
			t.Errorf("%s: why: %+v, %v", when, why, err)
		}
	}
	check("after the visit")
	f.crash()
	check("after a crash")
	other := crawlOf("a.org")
	other.ID, other.Levels = "other", 3
	f.start(other, true)
	l := f.take()
	f.wantStored(l, true)
	f.finish(l, Outcome{})
	check("after the stored answer served another crawl")

	f.opt.Fresh = -1
	f.crash()
	f.start(crawlOf("a.org"), true)
	f.done(f.take())
	if failed := f.failed(); len(failed) != 0 || f.q.Stats().Failed != 0 {
		t.Errorf("after a success %v are still failed", failed)
	}
}

func TestFailuresOfAPipelineAreReadWhetherItsQueueIsOpenOrNot(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	for i := range 5 {
		f.start(crawlOf(fmt.Sprintf("h%d.org", i)), true)
		f.finish(f.take(), Outcome{Err: errors.New("broken")})
	}
	for range 2 {
		for limit, want := range map[int]int{0: 5, 3: 3, 9: 5} {
			first, total, err := f.s.Failures(t.Context(), "p", limit)
			if err != nil || len(first) != want || total != 5 {
				t.Errorf("limit %d: got %d of %d: %v", limit, len(first), total, err)
			}
			for _, failure := range first {
				if failure.Visit.Error != "broken" {
					t.Errorf("limit %d: %+v", limit, failure)
				}
			}
		}
		if err := f.q.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if first, total, err := f.s.Failures(t.Context(), "unheard of", 1); first != nil || total != 0 || err != nil {
		t.Errorf("of no pipeline: %v, %d, %v", first, total, err)
	}
	if names, err := f.s.Pipelines(); err != nil || len(names) != 1 {
		t.Errorf("asking made a pipeline: %v, %v", names, err)
	}
}

func TestWhatWasLearnedIsInTheNextRequestAndNotInThisOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	want := webrace.Visit{
		At: time.Unix(5, 6).UTC(), Status: 200, ETag: `"x"`, LastModified: "then", Digest: webrace.Digest{1, 31: 2},
		Version: 7, Revision: 8, Baseline: []uint64{9, 1 << 63},
	}
	f.start(crawlOf("a.org"), true)
	f.finish(f.take(), Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { *v = want }}})
	f.crash()
	f.start(crawlOf("a.org"), true)
	l := f.take()
	got := *l.Request().Visit
	if !slices.Equal(got.Shown, []webrace.Shown{{Crawl: "a.org", Version: 7, Revision: 8}}) || !slices.Equal(got.Baseline, want.Baseline) {
		t.Errorf("visit is %+v", got)
	}
	got.Shown, got.Baseline = nil, nil
	if w := want; got.At != w.At || got.ETag != w.ETag || got.LastModified != w.LastModified || got.Digest != w.Digest || got.Version != w.Version || got.Revision != w.Revision {
		t.Errorf("visit is %+v, want %+v", got, want)
	}
	f.finish(l, Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.Baseline[0] = 0; v.Version = 9 }}})
	if v := l.Request().Visit; v.Version != 7 || v.Baseline[0] != 9 {
		t.Errorf("the request's own visit changed to %+v", v)
	}
}

func TestALeaseEndsOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(crawlOf("a.org"), true)
	l := f.take()
	l.Release(webrace.HostReport{Parallel: 9})
	f.done(l)
	var again error
	l.Done(Outcome{}, func(err error) { again = err })
	if again == nil || f.q.Stats().Done != 1 {
		t.Errorf("a second Done: %v, %+v", again, f.q.Stats())
	}
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
	if err := f.s.db.Set([]byte(formatKey), []byte{format + 1}, nil); err != nil {
		t.Fatal(err)
	}
	f.close()
	if s, err := Open("frontier", Options{FS: f.fs}); err == nil {
		s.Close()
		t.Error("a store of a newer format opens")
	}
}
