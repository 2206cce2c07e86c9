package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
)

// profileOptions are how the interests become profiles.
type profileOptions struct {
	literal bool // no inflections: what rivals can do
	phrases bool
	any     bool // whatever the relevance
}

// compiled makes the profile of an interest.
func (a profileOptions) compiled(number int, i *interest) (*match.Compiled, error) {
	p := match.Profile{ID: idOf(number)}
	if a.any {
		p.Threshold = match.AnyRelevance
	}
	if i.all {
		p.Match = match.All
	}
	for _, k := range i.keywords {
		p.Keywords = append(p.Keywords, match.Keyword{Key: k.key, Weight: k.weight, Exact: a.literal})
	}
	c, _, err := match.Compile(p)
	return c, err
}

func idOf(number int) string { return fmt.Sprintf("p%07d", number) }

// built is an index and what it took to make it.
type built struct {
	match.Index
	size     int
	three    []interest // of toThree
	took     cost
	profiles int64 // bytes of the heap, for the profiles alone
	bytes    int64 // and with the index
}

// build registers so many profiles of a workload, all at once.
func (w *workload) build(c *corpus, n int, as profileOptions) (*built, error) {
	x := &built{size: n}
	before := heapInUse()
	cpu, began := ownCPU(), time.Now()
	profiles := make([]*match.Compiled, 0, n)
	err := w.interests(c, n, as.phrases, func(number int, i *interest) error {
		p, err := as.compiled(number, i)
		profiles = append(profiles, p)
		if slices.Contains(threeOf(n), number) {
			x.three = append(x.three, *i)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	x.took = cost{CPU: ownCPU() - cpu, Wall: time.Since(began)}
	x.profiles = heapInUse() - before
	cpu, began = ownCPU(), time.Now()
	x.Add(profiles...)
	x.Settle()
	x.took.CPU, x.took.Wall = x.took.CPU+ownCPU()-cpu, x.took.Wall+time.Since(began)
	clear(profiles)
	x.bytes = heapInUse() - before
	return x, nil
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what pools held is gone only now
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// everyone, and three of them.
func toEveryone() match.Options { return match.Options{Everyone: true} }
func (x *built) toThree() (o match.Options) {
	for _, number := range threeOf(x.size) {
		o.Recipients = append(o.Recipients, match.Recipient{ID: idOf(number)})
	}
	return o
}

func threeOf(size int) []int { return []int{0, size / 2, size - 1} }

// count scores a page without making the alerts.
func (x *built) count(text *webrace.Text, o match.Options) int { return x.View().Count(text, o) }

// lookUp splits a page into words and looks these up, and scores nobody.
func (x *built) lookUp(text *webrace.Text) int { return x.View().Keywords(text) }

// relevances are those of the profiles that the page alerts.
func (x *built) relevances(text *webrace.Text) map[string]int {
	found := make(map[string]int)
	for c, relevance := range x.View().Relevances(text, toEveryone()) {
		found[c.ID()] = relevance
	}
	return found
}
