package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace"
)

// TestManyProfilesAreMatchedAsOne compares what an index of many blocks and segments finds of a page with what
// each profile by itself does.
func TestManyProfilesAreMatchedAsOne(t *testing.T) {
	if testing.Short() {
		t.Skip("more profiles than a block has take long, and nothing is concurrent here")
	}
	t.Parallel()
	const n = 1<<blockBits + 3000
	random := rand.New(rand.NewPCG(11, 12))
	l := newLanguage(random, inventWords(random, 3000))
	profiles := make([]*Compiled, n)
	for i := range profiles {
		g := l.group(1)
		profiles[i] = compile(t, Profile{ID: idOf(i), Threshold: []int{AnyRelevance, 1, 20, 60}[i%4], Group: g.group()})
	}
	var x Index
	x.Add(profiles[:n/2]...)
	for from := n / 2; from < n; from += 999 {
		x.Add(profiles[from:min(from+999, n)]...)
	}
	left := make(map[string]*Compiled, n)
	for i, c := range profiles {
		if i%7 == 0 {
			x.Remove(c.id)
		} else {
			left[c.id] = c
		}
	}
	for range 4 {
		text := l.page()
		got := map[string]int{}
		for c, relevance := range x.View().Relevances(text, Options{Everyone: true}) {
			if _, twice := got[c.id]; twice {
				t.Fatalf("%s is alerted twice", c.id)
			}
			got[c.id] = relevance
		}
		p := openPage(text, nil)
		alerts := 0
		for id, c := range left {
			v := p.judge(c, everything)
			if relevance, alerted := got[id]; alerted != (v.reason == Alerts) || alerted && relevance != v.relevance {
				t.Fatalf("%s: %d, %v; want %+v", id, relevance, alerted, v)
			} else if alerted {
				alerts++
			}
		}
		p.close()
		if alerts != len(got) || alerts == 0 {
			t.Fatalf("%d alerts, want %d", len(got), alerts)
		}
	}
}

// TestChangesUnderLoad changes a large index while it is matched. A goroutine that matches a page never finds two
// states of one change, and what is in the index at the end is what was put there.
func TestChangesUnderLoad(t *testing.T) {
	t.Parallel()
	n, changes := orInShort(20_000, 5_000), orInShort(12_000, 3_000)
	// Each profile has two IDs' worth of words: the old one and the new one are never both there, or neither.
	profile := func(i, generation int) *Compiled {
		return compile(t, Profile{ID: idOf(i), Group: keys(Any, fmt.Sprintf("w%d 5", i%50), fmt.Sprintf("g%dg 5", generation))})
	}
	var x Index
	var all []*Compiled
	generations := make([]int, n)
	for i := range n {
		all = append(all, profile(i, 0))
	}
	x.Add(all...)
	var done atomic.Bool
	var readers sync.WaitGroup
	pages := make([]*webrace.Text, 50)
	for i := range pages {
		pages[i] = textOf(fmt.Sprintf("w%d", i))
	}
	for r := range 2 {
		readers.Go(func() {
			for i := r; !done.Load(); i++ {
				if got := x.View().Count(pages[i%50], Options{Everyone: true}); got != n/50 {
					t.Errorf("a page concerns %d profiles, want %d", got, n/50)
					return
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range changes {
		i := random.IntN(n)
		generations[i]++
		x.Add(profile(i, generations[i]))
	}
	done.Store(true)
	readers.Wait()
	x.Settle()
	want := map[int]int{}
	for _, g := range generations {
		want[g]++
	}
	for g, many := range want {
		if got := x.View().Count(textOf(fmt.Sprintf("g%dg", g)), Options{Everyone: true}); got != many {
			t.Errorf("%d profiles were changed %d times, want %d", got, g, many)
		}
	}
	mustBeCompact(t, x.View(), n)
}

// mustBeCompact holds that what is gone is dropped, and that there are few segments.
func mustBeCompact(t *testing.T, v *View, n int) {
	t.Helper()
	held, most := 0, 2
	for size := openLimit; size < n; size *= fanOut {
		most++
	}
	for i := range v.segments {
		held += len(v.segments[i].profiles)
	}
	if v.Len() != n || held > n*(mostGone+1)/(mostGone-1) || len(v.segments) > most {
		t.Errorf("%d profiles in %d segments hold %d, want %d in at most %d", v.Len(), len(v.segments), held, n, most)
	}
	if _, _, ok := v.toMerge(); ok {
		t.Error("there is something left to merge")
	}
}

func TestNumbersAreASet(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var now numbers
	want := map[int]bool{}
	for range 200 {
		before, had := now, len(want)
		var added []int
		for range random.IntN(30) {
			x := random.IntN(3 * chunkSize)
			if !want[x] {
				added = append(added, x)
			}
			want[x] = true
			now = now.with(x)
		}
		var since []int
		now.since(before, func(x int) { since = append(since, x) })
		slices.Sort(added)
		if !slices.Equal(since, added) || before.count != had || now.count != len(want) {
			t.Fatalf("%v since, want %v; %d, want %d", since, added, now.count, len(want))
		}
	}
	for x := range 4 * chunkSize {
		if now.has(x) != want[x] {
			t.Fatalf("%d: %v", x, now.has(x))
		}
	}
}
