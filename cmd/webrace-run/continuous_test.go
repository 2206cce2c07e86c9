package main

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// live is a continuous run in this process, which owns the data directory meanwhile.
type live struct {
	*world
	dir   *storage.Dir
	store *control.Store
	runs  []*pipeline.Run
}

// goOn starts the pipeline webrace, to go on until it is drained.
func (w *world) goOn(urds []*xmlschema.URD, set ...string) *live {
	w.t.Helper()
	set = append([]string{"fetch.allow_networks=loopback", "frontier.fresh=0s"}, set...)
	globals := cli.Globals{Config: "../../pipelines.toml", Data: w.data}
	loaded, err := globals.Load(config.LoadOptions{Run: []string{"webrace"}, Set: set})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := newOutput(new(bytes.Buffer), "text", "")
	if err != nil {
		w.t.Fatal(err)
	}
	l := &live{world: w, dir: w.open()}
	w.t.Cleanup(func() { l.dir.Close() })
	if l.store, err = l.dir.Control(); err != nil {
		w.t.Fatal(err)
	}
	l.put(urds...)
	p := &process{sessions: []*session{{dir: l.dir}}, out: out, admin: admin.New(), continuous: true}
	if l.runs, err = p.start(w.t.Context(), loaded, []string{"webrace"}); err != nil {
		w.t.Fatal(err)
	}
	return l
}

func (l *live) put(urds ...*xmlschema.URD) {
	l.t.Helper()
	if _, err := l.store.Put(l.t.Context(), urds); err != nil {
		l.t.Fatal(err)
	}
}

// drain ends the run as the first signal does.
func (l *live) drain() *pipeline.Report {
	l.t.Helper()
	l.runs[0].Drain()
	select {
	case <-l.runs[0].Done():
	case <-time.After(30 * time.Second):
		l.t.Fatalf("it does not end; %v still have work", l.runs[0].Holding())
	}
	report, err := l.runs[0].Wait()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.dir.Close(); err != nil {
		l.t.Fatal(err)
	}
	return report
}

// until waits for something to come true while the run goes on.
func (l *live) until(what string, is func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		select {
		case <-l.runs[0].Done():
			_, err := l.runs[0].Wait()
			l.t.Fatalf("the run ended before %s: %v", what, err)
		default:
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("never: %s; asked for %v, told %q", what, l.counts(), l.told())
		}
	}
}

// counts returns how often each path was asked for so far.
func (s *site) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := make(map[string]int)
	for _, a := range s.asked {
		n[a.path]++
	}
	return n
}

// told are the owners and paths of all annotations so far, sorted.
func (l *live) told() (all []string) {
	l.t.Helper()
	for aci, err := range l.store.ACIs(l.t.Context(), control.Filter{}) {
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, aci.Owner+" "+strings.TrimPrefix(aci.URI, l.URL))
	}
	slices.Sort(all)
	return all
}

func (l *live) untilTold(want ...string) {
	l.t.Helper()
	l.until("told "+strings.Join(want, ", "), func() bool { return slices.Equal(l.told(), want) })
}

// untilRested waits until no round is open.
func (l *live) untilRested() {
	l.t.Helper()
	l.until("no round open", func() bool { return l.runs[0].Snapshot().Stages["urds"].Counters["open_rounds"] == 0 })
}

// untilAsked waits until a path was asked for so many times more.
func (l *live) untilAsked(path string, more int) {
	l.t.Helper()
	before := l.counts()[path]
	l.until("more requests for "+path, func() bool { return l.counts()[path] >= before+more })
}

const often, seldom = 100 * time.Millisecond, 24 * time.Hour

func TestAContinuousRunVisitsByTimingAndTellsOfAChangeOnce(t *testing.T) {
	w := newWorld(t)
	w.page("/", "tea", "/deep")
	w.page("/deep", "more tea")
	w.page("/other", "tea elsewhere")
	l := w.goOn(these(w.asks("ann", "/", about("tea"), every(often)), w.asks("bob", "/other", about("tea"), every(seldom))))
	l.untilAsked("/", 4)
	mustBe(t, "told while nothing changed", l.told(), "ann /", "bob /other")
	w.page("/", "tea", "/deep", "and tea again")
	l.untilTold("ann /", "ann /", "bob /other")
	l.untilAsked("/", 3)
	report := l.drain()
	if n := w.counts()["/other"]; n != 1 {
		t.Errorf("what is due once a day was asked for %d times", n)
	}
	if opened := report.Stages["urds"].Counters["opened"]; opened < 9 {
		t.Errorf("%d rounds were opened", opened)
	}
	mustBe(t, "told in the end", w.news(), "ann /", "ann /", "bob /other")
	stacks := make([]byte, 1<<20)
	if stacks = stacks[:runtime.Stack(stacks, true)]; bytes.Contains(stacks, []byte("/stages/urds.")) || bytes.Contains(stacks, []byte("/stages/keywordfilter.")) {
		t.Errorf("goroutines are left:\n%s", stacks)
	}
}

func TestAContinuousRunTakesUpWhatPeopleAskForMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 3)
	w.page("/often", "nothing")
	l := w.goOn(these(w.asks("ann", "/1", depth(2), about("tea"), every(seldom))))
	l.untilTold("ann /1", "ann /2")
	l.untilRested() // what is asked for within a round is also the cause of another

	l.put(w.asks("bob", "/1", depth(0), about("tea"), every(seldom))) // deeper than the crawl was
	l.untilTold("ann /1", "ann /2", "bob /1", "bob /2", "bob /3")
	l.untilRested()
	if n := w.counts()["/3"]; n != 1 {
		t.Errorf("/3 was asked for %d times", n)
	}
	l.put(w.asks("eve", "/often", every(often), about("tea")))
	l.untilAsked("/often", 1)
	asked := w.counts()["/1"]
	l.put(w.asks("ann", "/1", depth(2), about("tea"), every(seldom), urgency(3))) // nothing to be told of anew
	l.put(w.asks("cat", "/often", about("page"), every(seldom)))
	l.put(w.asks("ann", "/1", depth(2), about("last", "2"), every(seldom), urgency(3)))
	l.untilTold("ann /1", "ann /2", "ann /2", "bob /1", "bob /2", "bob /3", "cat /often")
	if n := w.counts()["/1"]; n != asked+1 {
		t.Errorf("/1 was asked for %d times more, want once: for what ann asks now", n-asked)
	}

	if err := l.store.Delete(t.Context(), "eve"); err != nil {
		t.Fatal(err)
	}
	l.put(w.asks("dan", "/2", every(often), about("no such word")))
	l.untilAsked("/2", 3) // by now, the last round for eve has ended
	asked = w.counts()["/often"]
	l.untilAsked("/2", 5)
	if n := w.counts()["/often"]; n != asked {
		t.Errorf("what no URD wants so often any more was asked for %d times more", n-asked)
	}
	l.drain()
}

// A time that passed while no run went on is caught up with by one visit, and one that has not come is waited for.
func TestTimesThatWereMissedAreCaughtUpOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/missed", "/new", "/often"} {
		w.page(path, "tea")
	}
	yearly := func(u *xmlschema.URD) {
		u.At = fmt.Sprintf("0 0 1 %d * Europe/Athens", time.Now().AddDate(0, 6, 0).Month())
	}
	dir := w.open()
	store, err := dir.Control()
	if err == nil {
		_, err = store.Put(t.Context(), these(w.asks("missed", "/missed", yearly), w.asks("new", "/new", yearly)))
	}
	if err == nil {
		err = store.SetCursor(t.Context(), "urd/times/missed", time.Now().AddDate(-3, 0, 0).UnixNano())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l := w.goOn(these(w.asks("often", "/often", every(often))))
		l.untilAsked("/often", 2)
		l.until("asked for what was missed", func() bool { return l.counts()["/missed"] > 0 })
		l.drain()
	}
	if n := w.counts(); n["/missed"] != 1 || n["/new"] != 0 {
		t.Errorf("asked for %v", n)
	}
}

func TestACheckIsDueNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	l := w.goOn(these(w.asks("ann", "/", about("tea"), every(seldom))))
	l.untilTold("ann /")
	w.page("/", "tea", "more tea")
	if err := l.store.CheckNow(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	l.untilTold("ann /", "ann /")
	l.drain()
	if n := w.counts()["/"]; n != 2 {
		t.Errorf("asked for %d times", n)
	}
}

func TestWhoHasUsedUpAQuotaWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/ann", "tea", "/ann/2")
	w.page("/ann/2", "tea")
	w.page("/bob", "tea")
	urds := these(w.asks("ann", "/ann", depth(2), every(often)), w.asks("bob", "/bob", every(often)))
	l := w.goOn(urds, "urds.quota=5", "urds.policy=fixed")
	if err := l.store.SetQuota(t.Context(), "bob", 1000); err != nil {
		t.Fatal(err)
	}
	l.untilAsked("/bob", 20)
	l.drain()
	// The first round costs two; the pages of others, that rarely, only when they are due themselves.
	ann := w.counts()["/ann"]
	if ann < 3 || ann > 5 {
		t.Errorf("asked for %v, with a quota of 5", w.counts())
	}
	again := w.goOn(nil, "urds.quota=5", "urds.policy=fixed")
	again.untilAsked("/bob", 5)
	again.drain()
	if n := w.counts()["/ann"]; n != ann {
		t.Errorf("asked for %d times more after a restart", n-ann)
	}
}

// A process that is killed goes on with the rounds that it was in, and otherwise when they are due.
func TestARestartKeepsTheSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chain(w.site, 3)
	w.page("/often", "nothing")
	w.page("/slow", "/slow/1", "/slow/2")
	w.page("/slow/1", "tea")
	arrived, release := make(chan struct{}, 10), make(chan struct{})
	w.handle("/slow/2", func(rw http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		serveDocument(rw, r, document("tea at last"))
	})
	urds := these(
		w.asks("ann", "/1", depth(0), about("tea"), every(seldom)), w.asks("bob", "/slow", depth(2), about("tea"), every(seldom)),
		w.asks("eve", "/often", about("tea"), every(200*time.Millisecond)),
	)
	first := w.start(urds, "--continuous", "--set", "frontier.fresh=0s")
	<-arrived
	w.untilAskedFor(map[string]int{"/often": 15, "/3": 1, "/slow/1": 1}) // what it has to remember is written meanwhile
	first.signal(syscall.SIGKILL)
	first.Wait()
	before := w.counts()
	second := w.start(urds, "--continuous", "--set", "frontier.fresh=0s")
	<-arrived
	close(release)
	w.untilAskedFor(map[string]int{"/often": before["/often"] + 10})
	second.signal(syscall.SIGTERM)
	second.mustExit(0)
	after := w.counts()
	for _, path := range []string{"/1", "/2", "/3", "/slow", "/slow/1"} {
		if before[path] != 1 || after[path] != 1 {
			t.Errorf("%s was asked for %d times, and %d times more after the restart", path, before[path], after[path]-before[path])
		}
	}
	mustBe(t, "told", w.news(), "ann /1", "ann /2", "ann /3", "bob /slow/1", "bob /slow/2")
}

func (w *world) untilAskedFor(want map[string]int) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		got, enough := w.counts(), true
		for path, n := range want {
			enough = enough && got[path] >= n
		}
		if enough {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("asked for %v, want %v", got, want)
		}
	}
}

func TestTheProgressLineSaysWhenTheNextRoundIsDue(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1e12)
	for want, c := range map[string]struct {
		wait     time.Duration
		inFlight int64
	}{
		"  next round in 4m":   {3*time.Minute + 10*time.Second, 0},
		"  next round in 2h1m": {2*time.Hour + time.Second, 0},
		"  next round in 17s":  {16100 * time.Millisecond, 0},
		"":                     {time.Minute, 2},
	} {
		totals := totals{next: now.Add(c.wait).UnixMilli(), inFlight: c.inFlight}
		if got := totals.idle(now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&totals{noURDs: true}).idle(now); got != "  waiting for a URD to crawl for" {
		t.Errorf("without a URD: %q", got)
	}
	if got := (&totals{noURDs: true, items: 1}).idle(now); got != "" {
		t.Errorf("without a URD, beside a list of URLs: %q", got)
	}
	if got := (&totals{}).idle(now); got != "" {
		t.Errorf("without a next round: %q", got)
	}
}
