package main

import (
	"fmt"
	"runtime"
	"time"
)

// taken is what one call took, on average over a round.
type taken struct {
	CPU, Wall time.Duration
	allocs    uint64 // rounded down
}

// stopwatch times calls, a round of them at a time.
type stopwatch func() (taken, error)

// calls times a function of this process, in rounds that take at least so long.
func calls(least time.Duration, call func()) stopwatch {
	n := 0
	return func() (taken, error) {
		call() // what others have pushed out of caches and pools comes back
		if n == 0 {
			n = callsIn(least, call)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cpu, began := ownCPU(), time.Now()
		for range n {
			call()
		}
		wall := time.Since(began)
		cpu = ownCPU() - cpu
		runtime.ReadMemStats(&after)
		return taken{cpu / time.Duration(n), wall / time.Duration(n), (after.Mallocs - before.Mallocs) / uint64(n)}, nil
	}
}

// callsIn returns how many calls take so long.
func callsIn(least time.Duration, call func()) int {
	for n := 1; ; n *= 2 {
		began := time.Now()
		for range n {
			call()
		}
		if took := time.Since(began); took >= least/2 {
			return max(1, int(int64(n)*int64(least)/int64(took)))
		}
	}
}

// longEnough is when the rounds of one comparison end, if two have been made.
const longEnough = 6 * time.Second

// clock lets all take their rounds in turn, and returns the least that each took.
func clock(rounds int, all ...stopwatch) ([]taken, error) {
	least := make([]taken, len(all))
	began := time.Now()
	for round := 0; round < rounds && (round < 2 || time.Since(began) < longEnough); round++ {
		for i, one := range all {
			runtime.GC() // nobody pays for what the one before left behind
			t, err := one()
			if err != nil {
				return nil, err
			}
			if round == 0 {
				least[i] = t
				continue
			}
			least[i] = taken{min(least[i].CPU, t.CPU), min(least[i].Wall, t.Wall), min(least[i].allocs, t.allocs)}
		}
	}
	return least, nil
}

// dividedBy makes it the time of one of so many pages.
func (t taken) dividedBy(pages int) taken {
	return taken{t.CPU / time.Duration(pages), t.Wall / time.Duration(pages), t.allocs / uint64(pages)}
}

// took adds a row of a page's time, beside the alerts that it gives rise to. The goal is for CPU time.
func (t *table) took(name string, it taken, alerts float64, g *goal) {
	wall := micros(it.Wall)
	t.add(row{Name: name, Value: micros(it.CPU), Unit: "µs", Goal: g, Wall: &wall, Alerts: &alerts}, micros(it.CPU))
}

// tookAgainst adds a row of a page's time beside that of a rival.
func (t *table) tookAgainst(name string, it taken, alerts float64, rival string, rivals taken, g *goal) {
	wall, ratio := micros(it.Wall), micros(it.CPU)/micros(rivals.CPU)
	t.add(row{
		Name: name, Value: micros(it.CPU), Unit: "µs", Rival: fmt.Sprintf("%s %s µs", rival, number(micros(rivals.CPU))),
		Ratio: ratio, Goal: g, Wall: &wall, Alerts: &alerts,
	}, ratio)
}

// grouped prints a number with a comma between thousands.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
