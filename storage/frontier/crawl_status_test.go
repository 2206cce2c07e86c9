package frontier

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/storage/schedule"
)

// answered is the outcome of a request that brought a document.
func (f *fixture) answered(digest byte) Outcome {
	o := f.visited(200, int(digest))
	o.Learned = append(o.Learned, func(v *webrace.Visit) { v.Digest = webrace.Digest{digest} })
	return o
}

func (f *fixture) status(crawl string) CrawlStatus {
	f.t.Helper()
	all, err := f.s.CrawlStatuses("p")
	if err != nil {
		f.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(s CrawlStatus) bool { return s.Crawl == crawl })
	if i < 0 {
		f.t.Fatalf("crawl %s has no status in %v", crawl, all)
	}
	return all[i]
}

func TestStatusesTellWhatACrawlCostAndFound(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0).UTC()
	f := newFixtureAt(t, QueueOptions{Fresh: -1}, func() time.Time { return at })
	cr := crawlOf("a.org")
	cr.Timing = 8 * time.Hour
	r := f.start(cr, true)
	other := webrace.Crawl{ID: "b", Start: "http://b.org/", Scope: webrace.ScopeAny}
	f.start(other, false)
	if got, want := f.status("b"), (CrawlStatus{Crawl: "b"}); got != want {
		t.Errorf("before its first round: %+v, want %+v", got, want)
	}
	l := f.take()
	f.links(l, "http://a.org/1", "http://a.org/2")
	f.finish(l, f.answered(1))
	f.finish(f.take(), Outcome{Err: errors.New("reset"), RetryAt: at}) // costs the host a request as well
	f.done(f.take())
	want := CrawlStatus{Crawl: "a.org", Round: 1, Started: r.Started, Pending: 1, Requests: 3, Visited: at, Interval: time.Hour, Changed: true}
	for _, when := range []string{"in the round", "after a crash"} {
		if got := f.status("a.org"); got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
		f.crash()
		f.start(cr, false)
	}
	f.done(f.take())
	at = at.Add(time.Hour)
	f.start(cr, true)
	f.finish(f.take(), f.answered(1))
	if err := f.q.Close(); err != nil {
		t.Fatal(err)
	}
	got := f.status("a.org")
	if got.Round != 2 || got.Pending != 0 || got.Requests != 5 || !got.Visited.Equal(at) || got.Interval != 90*time.Minute || got.Changed {
		t.Errorf("with the queue closed, after an unchanged visit: %+v", got)
	}
	if all, err := f.s.CrawlStatuses("unheard of"); len(all) > 0 || err != nil {
		t.Errorf("of no pipeline: %v, %v", all, err)
	}
}

func TestARequestThatServesTwoCrawlsCountsForEachAndAStoredAnswerForNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(webrace.Crawl{ID: "a", Start: "http://p.org/"}, true)
	f.start(webrace.Crawl{ID: "b", Start: "http://p.org/", Scope: webrace.ScopeAny}, true)
	f.finish(f.take(), f.answered(1))
	at := f.status("a").Visited
	f.opt.Fresh = time.Hour
	f.reopen()
	f.start(webrace.Crawl{ID: "c", Start: "http://p.org/", Levels: 1}, true)
	l := f.take()
	f.wantStored(l, true)
	f.finish(l, Outcome{})
	for id, want := range map[string]uint64{"a": 1, "b": 1, "c": 0} {
		if s := f.status(id); s.Requests != want || !s.Visited.Equal(at) || s.Changed != (id != "c") {
			t.Errorf("%+v, want %d requests", s, want)
		}
	}
}

func TestNewsOfStatusesComeOnceAndInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, QueueOptions{Fresh: -1})
		cursor := uint64(0)
		next := func(want ...string) (last CrawlStatus) {
			t.Helper()
			all, at, err := f.s.WaitStatus(t.Context(), "p", cursor)
			if err != nil {
				t.Fatal(err)
			}
			cursor = at
			var got []string
			for _, s := range all {
				got, last = append(got, s.Crawl), s
			}
			if !slices.Equal(got, want) {
				t.Errorf("news of %v, want %v", got, want)
			}
			return last
		}
		f.start(crawlOf("a.org"), true)
		f.start(crawlOf("b.org"), true)
		starts := map[string]*Lease{}
		for range 2 {
			l := f.hold()
			starts[l.Request().URL] = l
		}
		for _, url := range []string{"http://a.org/", "http://b.org/"} {
			f.links(starts[url], url+"1")
			f.done(starts[url])
		}
		if s := next("a.org", "b.org"); s.Visited.IsZero() || s.Pending != 1 {
			t.Errorf("after the visit of the start: %+v", s)
		}
		got := make(chan struct{})
		go func() {
			defer close(got)
			if s := next("a.org"); s.Pending != 0 {
				t.Errorf("after the round: %+v", s)
			}
		}()
		synctest.Wait()
		select {
		case <-got:
			t.Fatal("there were news before anything happened")
		default:
		}
		l := f.hold()
		if l.Request().URL != "http://a.org/1" {
			l = f.hold() // b's is left as it is
		}
		f.done(l)
		<-got
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, at, err := f.s.WaitStatus(ctx, "p", cursor); !errors.Is(err, context.Canceled) || at != cursor {
			t.Errorf("without news: cursor %d, %v", at, err)
		}
		ended := make(chan error)
		go func() {
			_, _, err := f.s.WaitStatus(context.Background(), "p", cursor)
			ended <- err
		}()
		synctest.Wait()
		f.close()
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("when the store closes: %v", err)
		}
	})
}

// In a run that goes on and on, a round asks for the start, and for other pages when they are due.
func TestAContinuousRoundAsksForWhatIsDue(t *testing.T) {
	t.Parallel()
	for _, continuous := range []bool{true, false} {
		at := time.Unix(1e9, 0).UTC()
		f := newFixtureAt(t, QueueOptions{Fresh: -1, Continuous: continuous}, func() time.Time { return at })
		cr := crawlOf("a.org")
		cr.Timing = time.Hour
		round := func() (asked []string) {
			t.Helper()
			at = at.Add(time.Hour)
			f.start(cr, true)
			for range 2 {
				l := f.take()
				if l.Request().URL == cr.Start {
					f.links(l, "http://a.org/deep")
				}
				if l.Request().Stored {
					f.finish(l, Outcome{})
					continue
				}
				asked = append(asked, l.Request().URL)
				f.finish(l, f.answered(1))
			}
			f.none()
			return asked
		}
		all := []string{"http://a.org/", "http://a.org/deep"}
		// The deep page is visited after 1 hour, is then due in 1.5 and so visited after 2, and so on.
		for i, due := range []bool{true, true, false, true, false, false, true} {
			want := all
			if continuous && !due {
				want = all[:1]
			}
			if got := round(); !slices.Equal(got, want) {
				t.Errorf("continuous %v, round %d asks for %v, want %v", continuous, i, got, want)
			}
		}
	}
}

func TestIntervalsKeepToTheTimingOfTheCrawls(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	crawl := func(timing time.Duration) *crawl {
		c := &crawl{}
		pointer.Store(&c.now, &pass{Crawl: webrace.Crawl{Timing: timing}})
		return c
	}
	day, hour, never := crawl(24*time.Hour), crawl(time.Hour), crawl(0)
	own := schedule.Bounds{Min: time.Minute, Max: 2 * time.Minute, Shrink: 0.1, Grow: 2}
	for _, c := range []struct {
		option schedule.Bounds
		served []served
		want   schedule.Bounds
	}{
		{served: []served{{crawl: never}}, want: schedule.Bounds{Min: time.Hour, Max: 720 * time.Hour}},
		{served: []served{{crawl: day}}, want: schedule.Bounds{Min: 3 * time.Hour, Max: 24 * time.Hour}},
		{served: []served{{crawl: day, distance: 1}}, want: schedule.Bounds{Min: 24 * time.Hour, Max: 768 * time.Hour}},
		{served: []served{{crawl: day, distance: 1}, {crawl: never}, {crawl: hour, distance: 2}}, want: schedule.Bounds{Min: time.Hour / 8, Max: time.Hour}},
		{served: []served{{crawl: crawl(1<<63 - 1), distance: 1}}, want: schedule.Bounds{Min: 1<<63 - 1, Max: 1<<63 - 1}},
		{option: own, served: []served{{crawl: never}}, want: own},
		{option: own, served: []served{{crawl: day, distance: 1}}, want: own},
		{option: own, served: []served{{crawl: day}}, want: schedule.Bounds{Min: 3 * time.Hour, Max: 24 * time.Hour, Shrink: 0.1, Grow: 2}},
		{option: schedule.Bounds{Max: time.Hour}, served: []served{{crawl: day, distance: 1}}, want: schedule.Bounds{Min: 24 * time.Hour, Max: 24 * time.Hour}},
		{option: schedule.Bounds{Min: time.Minute}, served: []served{{crawl: hour, distance: 1}}, want: schedule.Bounds{Min: time.Minute, Max: 32 * time.Hour}},
	} {
		f.q.opt.Revisit = c.option
		if got := f.q.revisits(c.served); got != c.want {
			t.Errorf("bounds of %v by %+v are %+v, want %+v", c.served, c.option, got, c.want)
		}
	}
}
