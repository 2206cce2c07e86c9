package urds

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/schedule"
	"github.com/webrace/webrace/xmlschema"
)

func TestTheLedgerChargesEachRequestOnce(t *testing.T) {
	f := newFixture(t)
	ctx, now := t.Context(), time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	open := func() *ledger {
		l, err := openLedger(ctx, f.control, "p", false)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := open()
	l.know("c", 10) // were made before anything was charged
	l.know("c", 99)
	stood := func(requests uint64) frontier.CrawlStatus {
		return frontier.CrawlStatus{Crawl: "c", Requests: requests}
	}
	if got := l.cost(stood(14)); got != 4 {
		t.Errorf("it cost %v, want 4", got)
	}
	l.charge(stood(14), []string{"ann", "bob"}, 2)
	l.opened("c", 7)
	l.opened("c", 5)
	if err := l.write(ctx, now); err != nil {
		t.Fatal(err)
	}
	l.charge(stood(16), []string{"ann"}, 2) // is never written: the process dies

	l = open()
	if got := l.cost(stood(16)); got != 2 || l.openedFor("c") != 7 || l.openedFor("other") != 0 || l.dirty() {
		t.Errorf("after a restart: costs %v, opened for %d", got, l.openedFor("c"))
	}
	l.charge(stood(16), []string{"ann"}, 2)
	if err := l.write(ctx, now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	days, err := l.lately(ctx, now.Add(2*time.Hour))
	if err != nil || len(days) != keepDays || !maps.Equal(days[keepDays-2], map[string]float64{"ann": 2, "bob": 2}) || !maps.Equal(days[keepDays-1], map[string]float64{"ann": 2}) {
		t.Errorf("used lately: %v, %v", days, err)
	}
}

// seeds takes what the stage emits, and lets each be dealt with by a test.
type seeds struct {
	pipeline.Emitter
	mu  sync.Mutex
	all []webrace.Request
}

func (s *seeds) Emit(_ context.Context, it *pipeline.Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, it.Value.(webrace.Request))
	return nil
}

func (s *seeds) take() []webrace.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// newTestRounds are rounds of the URDs of a fixture, to be driven by hand.
func newTestRounds(t *testing.T, f fixture, o Options) (*rounds, *seeds) {
	t.Helper()
	env := pipeline.NewEnv("p", "urds", f.resources)
	env.Continuous = true
	s, err := newStage(o, env)
	if err != nil {
		t.Fatal(err)
	}
	out := new(seeds)
	r, _, err := s.(*stage).newRounds(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}

func (r *rounds) mustEnd(t *testing.T, statuses []frontier.CrawlStatus, now time.Time) {
	t.Helper()
	if err := r.ended(t.Context(), statuses, now); err != nil {
		t.Fatal(err)
	}
}

func (r *rounds) openDue(t *testing.T, now time.Time) {
	t.Helper()
	due, _ := r.agenda.Due(now)
	for _, id := range due {
		if err := r.open(t.Context(), id, 1, now); err != nil {
			t.Fatal(err)
		}
	}
}

// A URD that is paused while the run goes on opens no further round, and one at once when it is resumed.
func TestAPausedRequestOpensNoRound(t *testing.T) {
	f := newFixture(t)
	ann := f.put(t, "ann", "https://a.org/")
	r, out := newTestRounds(t, f, defaults)
	change := func(paused bool) {
		t.Helper()
		from, err := f.control.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f.put(t, "ann", "https://a.org/", func(u *xmlschema.URD) { u.Paused = paused })
		to, err := f.control.Now(t.Context())
		if err == nil {
			err = r.changed(t.Context(), from, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	opened := func(when time.Time, want int) {
		t.Helper()
		r.openDue(t, when)
		if seeds := out.take(); len(seeds) != want {
			t.Errorf("seeds %+v, want %d", seeds, want)
		}
	}
	now := time.Now()
	opened(now, 1)
	change(true)
	r.mustEnd(t, []frontier.CrawlStatus{{Crawl: ann.Crawl.ID, Round: 1, Started: now}}, now)
	opened(now.Add(48*time.Hour), 0)
	change(false)
	opened(now.Add(48*time.Hour), 1)
	change(true)
	change(false) // its round is still open, and takes in what it can
	if seeds := out.take(); len(seeds) != 1 {
		t.Errorf("seeds %+v", seeds)
	}
}

func TestARoundThatCannotBeOpenedIsTriedAgainWhenTheNextOneIsDue(t *testing.T) {
	f := newFixture(t)
	ann := f.put(t, "ann", "https://a.org/")
	r, out := newTestRounds(t, f, defaults)
	now := time.Now()
	r.openDue(t, now)
	if seeds := out.take(); len(seeds) != 1 || seeds[0].Crawl.Timing != time.Hour {
		t.Fatalf("seeds %+v, want one with the timing of the options", seeds)
	}
	r.failures.add(ann.Crawl.ID)
	<-r.failures.signal
	r.notOpened(r.failures.take(), now)
	if due, next := r.agenda.Due(now); len(due) > 0 || !next.Equal(r.book.crawls[ann.Crawl.ID].opened.Add(time.Hour)) {
		t.Errorf("due %v, next %v", due, next)
	}
	r.openDue(t, now.Add(time.Hour))
	if seeds := out.take(); len(seeds) != 1 {
		t.Errorf("seeds %+v", seeds)
	}
}

// News of a round that ended may come more than once, and late: after the next one was opened.
func TestARoundEndsOnce(t *testing.T) {
	f := newFixture(t)
	ann := f.put(t, "ann", "https://a.org/")
	r, out := newTestRounds(t, f, Options{Query: defaults.Query, Timing: defaults.Timing, Policy: "fixed"})
	now, id := time.Now(), ann.Crawl.ID
	r.openDue(t, now)
	first := []frontier.CrawlStatus{{Crawl: id, Round: 1, Requests: 5}}
	for _, s := range [][]frontier.CrawlStatus{{{Crawl: id, Round: 1, Pending: 2, Requests: 3}}, first, first, {{Crawl: "of nobody", Round: 3}}} {
		r.mustEnd(t, s, now)
	}
	if c := r.book.crawls[id]; c.open || r.book.open != 0 || c.round != 1 || r.ledger.usage["ann"] != 5 {
		t.Errorf("%+v, used %v", c, r.ledger.usage)
	}
	out.take()
	r.openDue(t, now.Add(time.Hour))
	r.mustEnd(t, first, now.Add(time.Hour))
	if c := r.book.crawls[id]; !c.open || r.book.open != 1 || len(out.take()) != 1 || r.ledger.usage["ann"] != 5 {
		t.Errorf("the second round: %+v, used %v", c, r.ledger.usage)
	}
}

func TestChangesAreTakenUpAsFarAsEveryCopyHasThem(t *testing.T) {
	f := newFixture(t)
	f.put(t, "ann", "https://a.org/")
	r, out := newTestRounds(t, f, Options{Query: "/urd[urgency/@urgent > 0 and not(@owner='cat')]", Timing: defaults.Timing, Policy: "fixed"})
	from, err := f.control.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r.openDue(t, now)
	out.take()
	bob := f.put(t, "bob", "https://b.org/")
	f.put(t, "cat", "https://c.org/")
	f.put(t, "ann", "https://a.org/", func(u *xmlschema.URD) { u.Depth = 3 })
	to := control.Point{Revision: bob.Revision}
	if err := r.changed(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	if _, known := r.book.urds["bob"]; !known || len(out.take()) != 0 || r.book.urds["ann"].crawl.Levels != 1 {
		t.Errorf("URDs %v", r.book.urds)
	}
	now = time.Now()
	all, err := f.control.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.changed(t.Context(), to, all); err != nil {
		t.Fatal(err)
	}
	if seeds := out.take(); len(seeds) != 1 || seeds[0].Crawl.Levels != 3 || len(r.book.urds) != 2 {
		t.Errorf("seeds %+v, want the open round of ann's crawl widened; URDs %v", seeds, r.book.urds)
	}
	if err := f.control.Delete(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	if err := r.changed(t.Context(), all, control.Point{Revision: all.Revision + 1}); err != nil {
		t.Fatal(err)
	}
	r.openDue(t, now.Add(time.Second))
	if seeds := out.take(); len(seeds) != 0 || r.env.Counters()["crawls"] != 1 {
		t.Errorf("seeds %+v of what was removed, counters %v", seeds, r.env.Counters())
	}
}

func TestQuotasSurviveARestart(t *testing.T) {
	f := newFixture(t)
	f.put(t, "ann", "https://a.org/")
	f.put(t, "bob", "https://b.org/")
	now := time.Now()
	if err := f.control.AddUsage(t.Context(), dayOf(now).Format(time.DateOnly), map[string]float64{"ann": 90, "bob": 90}, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.control.SetQuota(t.Context(), "bob", 1000); err != nil {
		t.Fatal(err)
	}
	r, _ := newTestRounds(t, f, Options{Query: defaults.Query, Timing: defaults.Timing, Policy: "fixed", Quota: 50})
	for owner, used := range map[string]float64{"ann": 90, "bob": 90} {
		quota := map[string]int{"ann": 50, "bob": 1000}[owner]
		left, limited := r.agenda.Balance(owner, now)
		if want := schedule.Left(quota, []float64{0, used}, now.Sub(dayOf(now))); !limited || left < want-1 || left > want+1 {
			t.Errorf("%s has %v left, want %v", owner, left, want)
		}
	}
}

func TestAContinuousRunEndsWithItsContext(t *testing.T) {
	f := newFixture(t)
	f.put(t, "ann", "https://a.org/")
	for name, cause := range map[string]error{"drained": nil, "failed": errors.New("failed")} {
		env := pipeline.NewEnv(name, "urds", f.resources)
		env.Continuous = true
		s, err := newStage(defaults, env)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error)
		out := new(seeds)
		go func() { ended <- s.(pipeline.Source).Run(ctx, out) }()
		testutil.Await(t, "a seed comes", func() bool { return len(out.take()) > 0 })
		cancel(cause)
		if err := <-ended; !errors.Is(err, cause) {
			t.Errorf("%s: it ends with %v", name, err)
		}
	}
}

func TestFailuresWaitForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := failures{signal: make(chan struct{}, 1)}
		for range 3 {
			f.add("c")
		}
		<-f.signal
		if all := f.take(); len(all) != 3 || len(f.take()) != 0 {
			t.Errorf("took %v", all)
		}
	})
}

// crawlAt makes a round of the crawl of a URD in the frontier, at a time, and ends it if it is to.
func crawlAt(t *testing.T, f fixture, urd control.URD, at time.Time, ends bool) {
	t.Helper()
	dir, err := pipeline.Resource[*storage.Dir](pipeline.NewEnv("p", "urds", f.resources))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir.Path("frontier"), 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := frontier.Open(dir.Path("frontier"), frontier.Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	q, err := store.Queue("p", frontier.QueueOptions{})
	if err == nil {
		_, err = q.Start(t.Context(), urd.Crawl, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !ends {
		return
	}
	l, err := q.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	l.Done(frontier.Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At, v.Status = at, 200 }}}, func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A round that began while the clock was a year ahead is none to wait for, whether the clock is put right before
// the run, or in it.
func TestARoundIsDueAtOnceWhenTheClockWasSetBack(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, ends := range []bool{true, false} {
		f := newFixture(t)
		monthly := func(u *xmlschema.URD) { u.Timing = 30 * 24 * time.Hour }
		ahead, before := f.put(t, "ahead", "https://a.org/", monthly), f.put(t, "before", "https://b.org/", monthly)
		now := time.Now()
		crawlAt(t, f, before, now.Add(-time.Hour), true)
		crawlAt(t, f, ahead, now.Add(year), ends)
		r, _ := newTestRounds(t, f, defaults)
		r.ledger.opened(ahead.Crawl.ID, before.Revision) // else they would be due as new ones are
		r.ledger.opened(before.Crawl.ID, before.Revision)
		if err := r.ledger.write(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		r, out := newTestRounds(t, f, defaults)
		now = time.Now()
		wantDue := func(when string, now time.Time, want ...string) {
			t.Helper()
			r.watchClock(now)
			r.openDue(t, now)
			var got []string
			for _, seed := range out.take() {
				got = append(got, seed.URL)
				c := r.book.crawls[seed.Crawl.ID]
				r.mustEnd(t, []frontier.CrawlStatus{{Crawl: seed.Crawl.ID, Round: c.round + 1}}, now)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, ended %v: %v are due, want %v", when, ends, got, want)
			}
		}
		if ends {
			wantDue("at first", now, "https://a.org/")
		} else {
			wantDue("at first, while the round is resumed", now)
			r.mustEnd(t, []frontier.CrawlStatus{{Crawl: ahead.Crawl.ID, Round: 1}}, now)
		}
		wantDue("later", now.Add(time.Hour))
		wantDue("a month later", now.Add(31*24*time.Hour), "https://a.org/", "https://b.org/")
		wantDue("with the clock ahead", now.Add(year), "https://a.org/", "https://b.org/")
		wantDue("with the clock set back", now.Add(32*24*time.Hour), "https://a.org/", "https://b.org/")
		wantDue("after that", now.Add(33*24*time.Hour))
	}
}
