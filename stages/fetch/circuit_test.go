package fetch

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// circuitsOf are circuits that open at a threshold, for 8 seconds at first and a minute at most.
func circuitsOf(threshold int) *circuits {
	o := defaultPoliteness
	o.CircuitFailures, o.CircuitWait, o.MaxCircuitWait = threshold, pipeline.Duration(8*time.Second), pipeline.Duration(time.Minute)
	return newCircuits(o)
}

func TestAHostThatFailsAgainAndAgainIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := circuitsOf(0)
	now := time.Now()
	fail := func(began, at, want time.Duration) {
		t.Helper()
		if got := c.failed("h", now.Add(began), now.Add(at)); got != (failure{pause: want}) {
			t.Errorf("failed at %v: %+v, want a pause of %v", at, got, want)
		}
	}
	fail(0, 1, 0)
	fail(0, 2, 0) // was in flight together with the first
	fail(1, 3, 0)
	fail(5, 6, time.Second)
	fail(4, 7, time.Second)
	fail(8, 9, 2*time.Second)
	if got := c.failed("other", now, now); got != (failure{}) {
		t.Errorf("another host: %+v", got)
	}
	if c.answered("h") {
		t.Error("a circuit was closed that was not open")
	}
	fail(10, 11, 0)
	for i := range time.Duration(100) {
		c.failed("h", now.Add(20+2*i), now.Add(21+2*i))
	}
	fail(1000, 1001, time.Minute)
}

func TestACircuitOpensForOneProbeAtATime(t *testing.T) {
	t.Parallel()
	c := circuitsOf(3)
	now := time.Now()
	at := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	admitted := func(when float64, probe bool, again time.Time) {
		t.Helper()
		if p, a := c.admit("h", at(when)); p != probe || !a.Equal(again) {
			t.Errorf("at %v: probe %v, again %v; want %v, %v", when, p, a.Sub(now), probe, again.Sub(now))
		}
	}
	c.failed("h", at(0), at(1))
	c.failed("h", at(2), at(3))
	admitted(3, false, time.Time{})
	if f := c.failed("h", at(4), at(5)); f != (failure{pause: 8 * time.Second, open: true, opened: true}) {
		t.Errorf("%+v at the third failure", f)
	}
	if f := c.failed("h", at(4.5), at(6)); f != (failure{pause: 7 * time.Second, open: true}) {
		t.Errorf("%+v for one that was in flight meanwhile", f)
	}
	admitted(12, false, at(13))
	admitted(13, true, time.Time{})
	admitted(13, false, at(14)) // one probe is enough
	if f := c.failed("h", at(13), at(14)); f.opened || f.pause != 16*time.Second {
		t.Errorf("%+v for a probe", f)
	}
	c.leave("h")
	admitted(14, false, at(30))
	admitted(30, true, time.Time{})
	c.leave("h") // it ended without asking
	admitted(30, true, time.Time{})
	if !c.answered("h") || c.answered("h") {
		t.Error("the circuit is to be closed once")
	}
	admitted(31, false, time.Time{})
	for i := range 40 {
		began := float64(100 + 100*i)
		if f := c.failed("h", at(began), at(began+1)); f.pause > time.Minute {
			t.Fatalf("%+v, beyond the bound", f)
		}
	}
}

// TestCircuitsStayWithinMemory: and forget no host before so many others have failed.
func TestCircuitsStayWithinMemory(t *testing.T) {
	t.Parallel()
	c := circuitsOf(1)
	for i := range 3 * maxHosts {
		c.failed(time.Duration(i).String(), time.Now(), time.Now())
		if c.byHost.Len() > maxHosts {
			t.Fatalf("%d hosts remembered", c.byHost.Len())
		}
	}
	for i := 2 * maxHosts; i < 3*maxHosts; i++ { // one dead host is forgotten for one that fails, never all of them
		if _, again := c.admit(time.Duration(i).String(), time.Now()); again.IsZero() {
			t.Fatalf("host %d of %d is forgotten", i, 3*maxHosts)
		}
	}
}

// TestADeadHostIsNotAskedWhileItsCircuitIsOpen: what was handed out already goes back unasked.
func TestADeadHostIsNotAskedWhileItsCircuitIsOpen(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	var alive atomic.Bool
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if !alive.Load() {
			panic(http.ErrAbortHandler)
		}
	})
	host := strings.TrimPrefix(url, "http://")
	o := local()
	o.CircuitFailures = 2
	s := newTestStage(t, o)
	for range 9 {
		end := pipeline.ProcessOne(t.Context(), s, get(url+"/"), func(string, any) error { return nil })
		report := end.Note.(webrace.HostReport)
		if open := s.env.Counters()["circuits_opened"] > 0; open && (report.NotBefore.Before(time.Now()) || report.Parallel > 1 || !strings.Contains(report.Why, "taken for dead")) {
			t.Errorf("report %+v while the circuit is open", report)
		}
	}
	before, n := asked.Load(), s.env.Counters()
	if n["network_failures"] != 2 || n["circuits_opened"] != 1 || n["hosts_resting"] != 7 {
		t.Errorf("asked %d times, counters %v", before, n)
	}
	err := s.Process(t.Context(), item(url+"/"), discard{})
	if !errors.Is(err, webrace.ErrNotAsked) || asked.Load() != before {
		t.Errorf("%v, asked %d times", err, asked.Load()-before)
	}
	alive.Store(true)
	k, _ := s.circuits.byHost.Peek(host)
	k.until = time.Now()
	if err := s.Process(t.Context(), item(url+"/"), discard{}); err != nil || s.env.Counters()["circuits_closed"] != 1 {
		t.Errorf("%v, counters %v", err, s.env.Counters())
	}
}
