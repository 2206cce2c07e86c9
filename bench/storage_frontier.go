package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// The contestants of the frontier's race.
const (
	boltName   = "bbolt"
	sqliteName = "SQLite"
)

// frontierSizes are how many URLs the parts of the benchmark are about.
type frontierSizes struct{ race, large, check int }

// benchFrontier measures the durable queue of URLs: beside two stores that one could build it on, and by
// itself with many URLs. Everybody is a process of its own that starts with nothing.
func benchFrontier(b *bench) error {
	sizes, rounds := frontierSizes{race: 1_000_000, large: 10_000_000, check: 20_000}, 1
	if b.quick {
		sizes = frontierSizes{race: 100_000, large: 400_000, check: 5_000}
	}
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f := &frontierBench{bench: b, dir: dir}
	for _, name := range []string{ours, boltName, sqliteName} {
		if _, err := f.race(name, sizes.check); err != nil {
			return fmt.Errorf("check of %s: %w", name, err)
		}
	}
	results := map[string][]raceCosts{}
	for range rounds {
		for _, name := range []string{ours, boltName, sqliteName} {
			r, err := f.race(name, sizes.race)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			results[name] = append(results[name], r)
		}
	}
	f.raceRows(results)
	if err := f.repeats(); err != nil {
		return err
	}
	return f.large(sizes.large)
}

type frontierBench struct {
	*bench
	dir  string
	runs int
}

// ask runs a child in a directory, and reads what it reports of itself into v.
func (f *frontierBench) ask(v any, killed bool, args ...string) error {
	c, err := child(append([]string{"frontier"}, args...)...)
	if err != nil {
		return err
	}
	out, err := c.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !(killed && errors.As(err, &exit) && exit.ExitCode() < 0) {
		return fmt.Errorf("%v: %w", args, err)
	}
	return json.Unmarshal(out, v)
}

func (f *frontierBench) newDir() string {
	f.runs++
	return filepath.Join(f.dir, strconv.Itoa(f.runs))
}

// raceCosts are what a contestant took for offering all and for working all off.
type raceCosts struct {
	Offer, Drain     cost
	Offered, Drained int
	Made             int   // URLs that were offered, repeats left out
	Disk             int64 // bytes
}

func (f *frontierBench) race(name string, size int) (r raceCosts, err error) {
	dir := f.newDir()
	defer os.RemoveAll(dir)
	err = f.ask(&r, false, "race", name, dir, strconv.Itoa(size))
	if err == nil && r.Drained != r.Made {
		err = fmt.Errorf("%d URLs were handed out, want %d", r.Drained, r.Made)
	}
	return r, err
}

func (f *frontierBench) raceRows(results map[string][]raceCosts) {
	least := func(name string, of func(raceCosts) time.Duration) float64 {
		best := time.Duration(1<<63 - 1)
		for _, r := range results[name] {
			best = min(best, of(r))
		}
		return float64(best.Nanoseconds()) / 1e3 / float64(results[name][0].Drained)
	}
	limits := map[string]*goal{boltName: atMost(1.0 / 2), sqliteName: atMost(1.0 / 3)}
	for _, a := range []struct {
		name  string
		of    func(raceCosts) time.Duration
		goals map[string]*goal
	}{
		{"frontier, a URL offered, taken and done, CPU", func(r raceCosts) time.Duration { return r.Offer.CPU + r.Drain.CPU }, limits},
		{"frontier, of this offered (and a repeat), CPU", func(r raceCosts) time.Duration { return r.Offer.CPU }, nil},
		{"frontier, of this taken and done, CPU", func(r raceCosts) time.Duration { return r.Drain.CPU }, nil},
		{"frontier, a URL offered, taken and done, wall", func(r raceCosts) time.Duration { return r.Offer.Wall + r.Drain.Wall }, nil},
	} {
		own := least(ours, a.of)
		for _, rival := range []string{boltName, sqliteName} {
			other := least(rival, a.of)
			f.table.against(a.name, own, "µs", fmt.Sprintf("%s %s µs", rival, number(other)), other, a.goals[rival])
		}
	}
}

// repeats measures an offer that memory answers.
func (f *frontierBench) repeats() error {
	var r struct{ CPU, Wall float64 }
	dir := f.newDir()
	defer os.RemoveAll(dir)
	if err := f.ask(&r, false, "repeats", dir); err != nil {
		return err
	}
	f.table.value("frontier, a repeat answered from memory, CPU", r.CPU, "µs", atMost(0.2))
	return nil
}

// largeCosts are what a large frontier took.
type largeCosts struct {
	HalfNew, MostlyRepeats cost // an offer
	Late                   cost // an offer of the last tenth, with half of them new
	RSSHalf, RSSFull       int64
	RSSRepeats             int64
}

func (f *frontierBench) large(size int) error {
	dir := f.newDir()
	defer os.RemoveAll(dir)
	var r largeCosts
	if err := f.ask(&r, true, "large", dir, strconv.Itoa(size)); err != nil {
		return err
	}
	var recovered struct{ Wall, CPU time.Duration }
	if err := f.ask(&recovered, false, "recover", dir); err != nil {
		return err
	}
	at := fmt.Sprintf(" at %.0e URLs", float64(size))
	micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	const mib = 1 << 20
	t := f.table
	t.value("frontier, an offer, 50 % repeats,"+at+", CPU", micro(r.HalfNew.CPU), "µs", atMost(10))
	t.value("frontier, the same, the last tenth, CPU", micro(r.Late.CPU), "µs", nil)
	t.value("frontier, the same, wall", micro(r.HalfNew.Wall), "µs", nil)
	t.value("frontier, an offer, 99 % repeats,"+at+", CPU", micro(r.MostlyRepeats.CPU), "µs", atMost(1))
	t.value("frontier, the same, wall", micro(r.MostlyRepeats.Wall), "µs", nil)
	t.value("frontier, RSS"+at, float64(r.RSSFull)/mib, "MiB", atMost(300))
	t.against("frontier, the same beside half as many", float64(r.RSSFull)/mib, "MiB",
		fmt.Sprintf("%d MiB", r.RSSHalf/mib), float64(r.RSSHalf)/mib, atMost(1.1))
	t.value("frontier, recovery after a kill,"+at+", wall", recovered.Wall.Seconds(), "s", atMost(1))
	return nil
}
