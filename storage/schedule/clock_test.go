package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestClockSetBackMakesDueWhatWasVisitedAhead(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	a, now := New(Options{}), began
	put := func(name string) { a.Put(byTiming(name, "ann", name, 30*24*time.Hour, 1), now) }
	visit := func(want ...string) {
		t.Helper()
		due, _ := a.Due(now)
		slices.Sort(due)
		if !slices.Equal(due, want) {
			t.Fatalf("at %v %v are due, want %v", now, due, want)
		}
		for _, name := range due {
			a.Visited(name, Visit{Began: now}, now)
		}
	}
	put("before")
	visit("before")
	now = began.Add(20 * 24 * time.Hour) // "before" is not due, and "ahead" is new
	put("ahead")
	visit("ahead")
	now = began.Add(time.Hour)
	visit()
	a.ClockSetBack(now)
	visit("ahead")
	visit()
	a.CheckNow("before", now)
	visit("before")
	now = now.Add(30 * 24 * time.Hour)
	visit("ahead", "before")
	now = now.Add(year)
	visit("ahead", "before")
	a.CheckNow("ahead", now) // is asked for, and not visited, before the clock is set back
	now = now.Add(-year)
	a.ClockSetBack(now)
	visit("ahead", "before")
}

// Times that were given, or have come, while the clock ran ahead are none to wait for.
func TestClockSetBackLetsTimesCountFromNow(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	a := New(Options{})
	a.Put(Request{ID: "given", Owner: "ann", Target: "given", Times: everyHours(6), Since: began.Add(year)}, began.Add(year))
	a.Put(Request{ID: "came", Owner: "bob", Target: "came", Times: everyHours(6), Since: began}, began)
	a.SetQuota("bob", 1, began)
	a.SetBalance("bob", -1, began.Add(year))
	if due, _ := a.Due(began.Add(year)); len(due) > 0 {
		t.Fatalf("due: %v", due)
	}
	a.ClockSetBack(began.Add(time.Hour))
	if due, next := a.Due(began.Add(time.Hour)); len(due) > 0 || !next.Equal(began.Add(6*time.Hour)) {
		t.Errorf("due: %v, next %v", due, next)
	}
	if due, _ := a.Due(began.Add(6 * time.Hour)); !slices.Equal(due, []string{"given"}) {
		t.Errorf("due: %v", due)
	}
}

// Whatever stands in an agenda when its clock is set back: two days later everything has been due.
func TestClockSetBackAtRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		a, now := New(Options{Quota: []int{0, 1000}[r.IntN(2)], AtOnce: 1 + r.IntN(8)}), began
		open, wanted := []string{}, map[string]bool{}
		for range 200 {
			switch target := fmt.Sprint(r.IntN(12)); r.IntN(6) {
			case 0:
				q := byTiming(target, fmt.Sprint("o", r.IntN(3)), target, time.Duration(1+r.IntN(24))*time.Hour, 1+r.IntN(3))
				if r.IntN(3) == 0 {
					q.Times, q.Since = everyHours(1+r.IntN(24)), now
				}
				a.Put(q, now)
				wanted[target] = true
			case 1:
				a.CheckNow(target, now)
			case 2:
				if len(open) > 0 {
					a.Visited(open[0], Visit{Began: now, Cost: 1}, now)
					open = open[1:]
				}
			case 3:
				now = now.Add(time.Duration(r.IntN(100)) * time.Hour)
			default:
				due, _ := a.Due(now)
				open = append(open, due...)
			}
		}
		for _, name := range open {
			a.Visited(name, Visit{Began: now, Cost: 1}, now)
		}
		now = began.Add(-time.Hour)
		a.ClockSetBack(now)
		visited := map[string]bool{}
		for range 24 * 4 {
			due, _ := a.Due(now)
			for _, name := range due {
				if !wanted[name] {
					t.Fatalf("seed %d: %s is due, and no request wants it", seed, name)
				}
				visited[name] = true
				a.Visited(name, Visit{Began: now, Cost: 1}, now)
			}
			now = now.Add(30 * time.Minute)
		}
		for name := range wanted {
			if !visited[name] {
				t.Errorf("seed %d: %s has not been due for two days", seed, name)
			}
		}
	}
}
