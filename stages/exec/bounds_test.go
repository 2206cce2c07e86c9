package exec

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestHostileProgramNamesAMillionCounters(t *testing.T) {
	if testing.Short() {
		t.Skip("another program computes: not in short mode")
	}
	got := try(t, options("work"), "counters 1000000 a", "counters 50 b", "counters 50 c", "a")
	if n := len(got.Counters); n < mostCounters || n > mostCounters+5 {
		t.Errorf("there are %d counters: the most are %d, and the stage's own", n, mostCounters)
	}
	for name := range got.Counters {
		if len(name) > longestName {
			t.Errorf("a counter's name has %d bytes", len(name))
		}
	}
	if left := got.Counters[leftOut]; left < 1+2+100-mostCounters {
		t.Errorf("%d were left out", left)
	}
	if len(got.Out[""]) != 1 {
		t.Errorf("the text behind came out as %v", got.Out[""])
	}
}

// TestHostileProgramSaysTooMuch looks at what a program's words become: errors, logs and dead letters have them.
func TestHostileProgramSaysTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("another program computes: not in short mode")
	}
	long := strings.Repeat("Ω", 1<<20)
	for _, c := range []struct {
		says string
		most int
	}{
		{"error", longestError}, {"port", 2 * longestName}, {"kind", 2 * longestName}, {"set", longestError},
	} {
		got := try(t, options("work"), c.says+" "+long)
		if len(got.Failures) != 1 {
			t.Errorf("%s: failures %d", c.says, len(got.Failures))
			continue
		}
		said := got.Failures[0].Err.Error()
		if len(said) > c.most+500 || !utf8.ValidString(said) || !strings.Contains(said, "bytes)") {
			t.Errorf("%s: an error of %d bytes: %.300s", c.says, len(said), said)
		}
	}
}

func TestHostileProgramSaysTooMuchOfItself(t *testing.T) {
	for name, spec := range map[string]*progSpec{
		"a long name": {Takes: []string{strings.Repeat("x", 1<<20)}},
		"a long port": {Gives: []progOutput{{Port: strings.Repeat("x", 1<<20)}}},
		"many names":  {Options: make([]string, 1<<20)},
	} {
		if err := spec.bounded(); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRetriesAreNoFartherAwayThanAYear(t *testing.T) {
	for seconds, want := range map[float64]time.Duration{
		60: time.Minute, -1: 0, 1e300: longestPut, math.Inf(1): longestPut, math.NaN(): 0, math.Inf(-1): 0,
	} {
		if got := retryAfter(seconds); got != want {
			t.Errorf("after %v: %v, want %v", seconds, got, want)
		}
	}
}
