package frontier

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/schedule"
)

const year = 365 * 24 * time.Hour

// clock is one that can be set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// clockFixture is a fixture with a clock, and what the queue reports of it.
type clockFixture struct {
	*fixture
	clock *clock
	told  []ClockSetBack
}

func newClockFixture(t *testing.T, o QueueOptions) *clockFixture {
	f := &clockFixture{clock: &clock{time.Unix(1e9, 0).UTC()}}
	o.ClockSetBack = func(c ClockSetBack) { f.told = append(f.told, c) }
	f.fixture = newFixtureAt(t, o, f.clock.now)
	return f
}

func monthly(host string) webrace.Crawl {
	cr := crawlOf(host)
	cr.Timing = 30 * 24 * time.Hour
	return cr
}

// crawlPages works off a round of three pages, and returns which of them were asked for.
func (f *clockFixture) crawlPages(cr webrace.Crawl) (asked []string) {
	f.t.Helper()
	f.start(cr, true)
	l := f.take()
	f.links(l, cr.Start+"1", cr.Start+"2")
	for i := range 3 {
		if i > 0 {
			l = f.take()
		}
		if !l.Request().Stored {
			asked = append(asked, l.Request().URL)
		}
		f.done(l)
	}
	f.none()
	slices.Sort(asked)
	return asked
}

func (f *clockFixture) wantTold(want ...ClockSetBack) {
	f.t.Helper()
	f.waitForCommit() // what was told before is there
	if !slices.Equal(f.told, want) {
		f.t.Errorf("told %+v, want %+v", f.told, want)
	}
}

func TestClockSetBack(t *testing.T) {
	t.Parallel()
	cr := monthly("a.org")
	pages := []string{"http://a.org/", "http://a.org/1", "http://a.org/2"}
	for _, continuous := range []bool{false, true} {
		for _, when := range []string{"between two runs", "in a run", "after kill -9"} {
			t.Run(fmt.Sprintf("%s, continuous %v", when, continuous), func(t *testing.T) {
				t.Parallel()
				f := newClockFixture(t, QueueOptions{Continuous: continuous, HonorFreshness: 2 * year})
				right := f.clock.at
				f.clock.at = right.Add(year)
				if got := f.crawlPages(cr); !slices.Equal(got, pages) {
					t.Fatalf("at first, %v are asked for", got)
				}
				f.clock.at = right
				switch when {
				case "between two runs":
					f.reopen()
				case "after kill -9":
					f.crash()
				}
				if got := f.crawlPages(cr); !slices.Equal(got, pages) {
					t.Errorf("put right, %v are asked for, want all", got)
				}
				f.wantTold(ClockSetBack{By: year, URLs: 3})
				f.clock.at = right.Add(time.Second)
				f.reopen()
				if got := f.crawlPages(cr); len(got) > 0 {
					t.Errorf("a second later, %v are asked for", got)
				}
				f.wantTold(ClockSetBack{By: year, URLs: 3})
			})
		}
	}
}

// putOff has a URL of one host tried again in a day, and another host left alone for a day.
func (f *clockFixture) putOff(name string) {
	f.t.Helper()
	f.start(monthly(name+".delayed"), true)
	f.finish(f.take(), Outcome{Err: errors.New("503"), RetryAt: f.clock.at.Add(24 * time.Hour)})
	f.start(monthly(name+".left"), true)
	l := f.hold()
	f.links(l, l.Request().URL+"1")
	l.Release(webrace.HostReport{NotBefore: f.clock.at.Add(24 * time.Hour), Why: "it asked"})
	f.done(l)
	f.waitForCommit()
	f.none()
}

// resume starts the crawls of putOff again, without new rounds.
func (f *clockFixture) resume(names ...string) {
	f.t.Helper()
	for _, name := range names {
		f.start(monthly(name+".delayed"), false)
		f.start(monthly(name+".left"), false)
	}
}

// takeAll returns what is handed out now, and leaves it out.
func (f *clockFixture) takeAll() (urls []string) {
	f.t.Helper()
	for {
		f.waitForCommit()
		f.q.mu.Lock()
		l, _, err := f.q.try(f.s.now())
		idle := f.q.steps == 0 && !f.q.mending
		f.q.mu.Unlock()
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			f.t.Fatal(err)
		case l != nil:
			urls = append(urls, l.Request().URL)
		case idle:
			slices.Sort(urls)
			return urls
		}
	}
}

// What was put off while the clock was ahead is due; what was told to wait before that waits on, however far
// ahead that is.
func TestClockSetBackLeavesWhatWasToldToWait(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"reopened", "crashed", "in the run"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			f := newClockFixture(t, QueueOptions{})
			right := f.clock.at
			f.putOff("before")
			f.clock.at = right.Add(12 * time.Hour) // the wait of a day is not over: so it is none of what is mended
			f.putOff("ahead")
			f.clock.at = right.Add(time.Minute)
			switch how {
			case "reopened":
				f.reopen()
				f.resume("before", "ahead")
			case "crashed":
				f.crash()
				f.resume("before", "ahead")
			}
			if got, want := f.takeAll(), []string{"http://ahead.delayed/", "http://ahead.left/1"}; !slices.Equal(got, want) {
				t.Errorf("put right, %v are handed out, want %v", got, want)
			}
			f.wantTold(ClockSetBack{By: 12*time.Hour - time.Minute, URLs: 1, Delayed: 1, Hosts: 1})
			f.clock.at = right.Add(24 * time.Hour)
			if got, want := f.takeAll(), []string{"http://before.delayed/", "http://before.left/1"}; !slices.Equal(got, want) {
				t.Errorf("after the wait, %v are handed out, want %v", got, want)
			}
		})
	}
}

// What lies ahead by right is none of the clock's doing, nor is what a clock is corrected by all the time.
func TestAScheduledTimeIsNoClockSetBack(t *testing.T) {
	t.Parallel()
	f := newClockFixture(t, QueueOptions{})
	f.putOff("a")
	cr := monthly("b.org")
	f.crawlPages(cr)
	for _, step := range []time.Duration{-schedule.ClockSkew / 2, schedule.ClockSkew, 0} {
		f.clock.at = f.clock.at.Add(step)
		f.reopen()
		f.resume("a")
		if got := f.takeAll(); len(got) > 0 {
			t.Errorf("%v are handed out", got)
		}
	}
	f.wantTold()
}

// What an earlier release wrote does not tell when it was set.
func TestClockSetBackOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	f := newClockFixture(t, QueueOptions{})
	right := f.clock.at
	f.clock.at = right.Add(year)
	f.crawlPages(monthly("a.org"))
	f.putOff("ahead")
	f.forgetWhenItWasSet()
	f.clock.at = right
	f.reopen()
	f.resume("ahead")
	if got, want := f.takeAll(), []string{"http://ahead.delayed/", "http://ahead.left/1"}; !slices.Equal(got, want) {
		t.Errorf("put right, %v are handed out, want %v", got, want)
	}
	f.wantTold(ClockSetBack{By: year, URLs: 4, Delayed: 1, Hosts: 1})
}

// forgetWhenItWasSet writes counters, hosts and delayed items as the release before wrote them.
func (f *clockFixture) forgetWhenItWasSet() {
	f.t.Helper()
	f.waitForCommit()
	f.q.count.written = 0
	k := f.q.keys
	batch := f.s.db.NewBatch()
	old := func(kind byte, downgrade func(value []byte) []byte) {
		err := f.s.db.Scan(k.start(kind), k.end(kind), func(key, value []byte) (bool, error) {
			return true, batch.Set(slices.Clone(key), downgrade(value))
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	old(kindMeta, func(value []byte) []byte {
		c, err := decodeCounters(value)
		if err != nil {
			f.t.Fatal(err)
		}
		c.written = 0
		w := c.encode()
		w[0] = 1
		return w[:len(w)-1]
	})
	old(kindHost, func(value []byte) []byte {
		h, err := decodeHost(value)
		if err != nil {
			f.t.Fatal(err)
		}
		h.reported = 0
		w := h.encode()
		w[0] = 4
		return w[:len(w)-1]
	})
	old(kindDelayed, func(value []byte) []byte {
		it, err := decodeItem(value)
		if err != nil {
			f.t.Fatal(err)
		}
		it.aside = 0
		return it.encode()
	})
	if err := batch.Commit(pebbledb.Sync); err != nil {
		f.t.Fatal(err)
	}
	f.q.treated = newCache[hostID, *hostRecord](treatedHosts)
}

// A queue without a listener reports it in the log.
func TestClockSetBackIsLogged(t *testing.T) {
	t.Parallel()
	var log testutil.Buffer
	at := &clock{time.Unix(1e9, 0).UTC()}
	s, err := Open("frontier", Options{FS: vfs.NewMem(), Now: at.now, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, now: at.now, patience: 20 * time.Second, s: s}
	t.Cleanup(f.close)
	if f.q, err = s.Queue("p", QueueOptions{}); err != nil {
		t.Fatal(err)
	}
	f.start(crawlOf("a"), true)
	f.done(f.take())
	at.at = at.at.Add(-year)
	f.start(crawlOf("a"), true)
	f.done(f.take())
	if text := log.String(); strings.Count(text, "clock was set back") != 1 || !strings.Contains(text, "pipeline=p by=8760h0m0s urls=1") {
		t.Errorf("the log says %q", text)
	}
}
