package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

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
	want := []webrace.Shown{{Crawl: "a", Version: 2, Revision: 20, Since: 1, SinceRevision: 10}, {Crawl: "b", Distance: 1, Version: 1, Revision: 10}}
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

func TestTheFailuresOfTheLastRunAreThoseOfNoOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	for i := range mostFailures + 2 {
		f.start(crawlOf(fmt.Sprintf("h%d.org", i)), true)
		f.finish(f.take(), Outcome{Err: errors.New("broken")})
	}
	if n := f.q.Stats().NoDoc; n != mostFailures+2 {
		t.Errorf("%d visits gave no document", n)
	}
	for _, want := range []int{mostFailures + 2, 0} {
		if err := f.q.Close(); err != nil {
			t.Fatal(err)
		}
		first, total := f.s.LastFailures("p")
		if total != want || len(first) != min(want, mostFailures) {
			t.Errorf("got %d of %d, want %d", len(first), total, want)
		}
		for _, failure := range first {
			if failure.Visit.Error != "broken" {
				t.Errorf("%+v", failure)
			}
		}
		var err error
		if f.q, err = f.s.Queue("p", f.opt); err != nil {
			t.Fatal(err)
		}
	}
	if first, total := f.s.LastFailures("unheard of"); first != nil || total != 0 {
		t.Errorf("of no pipeline: %v, %d", first, total)
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
