package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
)

// changesPerSecond is how often a profile is added, replaced or removed while pages are matched.
const changesPerSecond = 1000

// measureChanges changes profiles while a page is matched with everyone, again and again.
func (a *annotation) measureChanges(w *workload) error {
	x, err := w.build(a.corpus, a.scale.changing, profileOptions{phrases: true})
	if err != nil {
		return err
	}
	c, err := newChanger(a.corpus, w, x, int(a.scale.changes.Seconds()*changesPerSecond))
	if err != nil {
		return err
	}
	text := a.texts[a.typical]
	alone := matchUntil(x, text, after(a.scale.changes/4))
	before := heapInUse()
	done := make(chan struct{})
	var meanwhile []time.Duration
	var matching sync.WaitGroup
	matching.Go(func() { meanwhile = matchUntil(x, text, done) })
	err = c.run()
	close(done)
	matching.Wait()
	if err != nil {
		return err
	}
	x.Settle()
	size := heapInUse()
	if err := c.verify(text); err != nil {
		return fmt.Errorf("after %s changes: %w", grouped(c.made), err)
	}
	a.changeRows(w, c, alone, meanwhile)
	of := fmt.Sprintf("%s, %s: ", w.name, grouped(x.size))
	a.table.against(of+"heap after "+grouped(c.made)+" changes", float64(size)/1e6, "MB",
		fmt.Sprintf("before: %s MB", number(float64(before)/1e6)), float64(before)/1e6, atMost(1.1))
	return nil
}

func (a *annotation) changeRows(w *workload, c *changer, alone, meanwhile []time.Duration) {
	of := fmt.Sprintf("%s, %s: ", w.name, grouped(c.x.size))
	for _, kind := range slices.Sorted(maps.Keys(c.took)) {
		times := c.took[kind]
		slices.Sort(times)
		a.table.value(of+kind+" at 1,000 a second, p50, wall", micros(percentile(times, 50)), "µs", nil)
		a.table.value(of+kind+" at 1,000 a second, p99, wall", micros(percentile(times, 99)), "µs", atMost(1000))
		a.table.value(of+kind+" at 1,000 a second, max, wall", micros(times[len(times)-1]), "µs", nil)
	}
	slices.Sort(alone)
	slices.Sort(meanwhile)
	for _, p := range []struct {
		name    string
		percent int
	}{{"p50", 50}, {"p99", 99}, {"max", 100}} {
		was := micros(percentile(alone, p.percent))
		a.table.against(of+"a page matched meanwhile, "+p.name+", wall", micros(percentile(meanwhile, p.percent)), "µs",
			"no changes: "+number(was)+" µs", was, nil)
	}
	a.note("annotation: %s, %s: %d changes in %v and %d pages matched meanwhile", w.name, grouped(c.x.size), c.made, c.lasted.Round(time.Millisecond), len(meanwhile))
}

func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

func after(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}

// matchUntil matches the page with everyone until done, at least once, and returns how long each took.
func matchUntil(x *built, text *webrace.Text, done <-chan struct{}) (times []time.Duration) {
	for {
		began := time.Now()
		x.count(text, toEveryone())
		times = append(times, time.Since(began))
		select {
		case <-done:
			return times
		default:
		}
	}
}

// changer changes the profiles of an index, and knows which are in it.
type changer struct {
	x       *built
	present []int            // the numbers of profiles
	wanted  map[int]interest // of those that differ from the workload's
	fresh   []interest       // to be added and to replace others
	made    int              // changes
	took    map[string][]time.Duration
	lasted  time.Duration
	corpus  *corpus
	of      *workload
	random  *rand.Rand
	next    int // number of the next profile that is new
}

func newChanger(corpus *corpus, w *workload, x *built, changes int) (*changer, error) {
	c := &changer{
		x: x, corpus: corpus, of: w, next: x.size, random: rand.New(rand.NewPCG(9, 10)),
		wanted: make(map[int]interest), took: make(map[string][]time.Duration),
	}
	for number := range x.size {
		c.present = append(c.present, number)
	}
	return c, w.interests(corpus, changes, true, func(_ int, i *interest) error {
		c.fresh = append(c.fresh, *i)
		return nil
	})
}

// run makes the changes, each when its time has come: adds, replaces and removes in turn.
func (c *changer) run() error {
	began := time.Now()
	for n := range c.fresh {
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / changesPerSecond)))
		if err := c.change(n); err != nil {
			return err
		}
	}
	c.made, c.lasted = len(c.fresh), time.Since(began)
	return nil
}

// change makes one change and checks that it is visible. Compiling the profile is part of it.
func (c *changer) change(n int) error {
	kind := []string{"add", "replace", "remove"}[n%3]
	at := c.random.IntN(len(c.present))
	number := c.present[at]
	if kind == "add" {
		number = c.next
		c.next++
		c.present = append(c.present, number)
	}
	began := time.Now()
	var want *match.Compiled
	if kind == "remove" {
		c.x.Remove(idOf(number))
	} else {
		p, err := profileOptions{phrases: true}.compiled(number, &c.fresh[n])
		if err != nil {
			return err
		}
		c.x.Add(p)
		want = p
	}
	c.took[kind] = append(c.took[kind], time.Since(began))
	if got := c.x.Profile(idOf(number)); got != want {
		return fmt.Errorf("%s of %s is not visible", kind, idOf(number))
	}
	if kind == "remove" {
		c.present[at] = c.present[len(c.present)-1]
		c.present = c.present[:len(c.present)-1]
		delete(c.wanted, number)
	} else {
		c.wanted[number] = c.fresh[n]
	}
	return nil
}

// verify compares the index with one that is built of what should be in it.
func (c *changer) verify(text *webrace.Text) error {
	have := make(map[int]bool, len(c.present))
	for _, number := range c.present {
		have[number] = true
	}
	var profiles []*match.Compiled
	take := func(number int, i *interest) error {
		p, err := profileOptions{phrases: true}.compiled(number, i)
		profiles = append(profiles, p)
		return err
	}
	err := c.of.interests(c.corpus, c.x.size, true, func(number int, i *interest) error {
		if _, changed := c.wanted[number]; changed || !have[number] {
			return nil
		}
		return take(number, i)
	})
	for number, i := range c.wanted {
		if err == nil {
			err = take(number, &i)
		}
	}
	if err != nil {
		return err
	}
	var anew built
	anew.Add(profiles...)
	if want, got := anew.relevances(text), c.x.relevances(text); !maps.Equal(want, got) || anew.Len() != c.x.Len() {
		return fmt.Errorf("%d of %d profiles are alerted, and of an index made anew %d of %d", len(got), c.x.Len(), len(want), anew.Len())
	}
	return nil
}
