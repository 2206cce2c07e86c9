package match

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Profiles that fill several blocks are told what those of one block are, each once.
func TestProfilesOfEveryBlockAreFound(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("nothing but a computation: not in short mode")
	}
	random := rand.New(rand.NewPCG(17, 18))
	l := newLanguage(random, inventWords(random, 600))
	groups := l.groups(96)
	kinds, _ := indexed(t, groups)
	all := make([]*Compiled, 0, 2*blockSize+blockSize/2)
	for i := range cap(all) {
		c := *kinds.Profile(idOf(i % len(groups)))
		c.id = fmt.Sprint(c.id, " ", i/len(groups))
		all = append(all, &c)
	}
	var x Index
	x.Add(all...)
	x.Settle()
	for n := range 4 {
		text, o := l.page(), Options{Everyone: true, Seen: int64(n), Distance: n}
		want := map[string]int{}
		for c, relevance := range kinds.View().Relevances(text, o) {
			for i := range (len(all) + len(groups) - 1) / len(groups) {
				want[fmt.Sprint(c.ID(), " ", i)] = relevance
			}
		}
		found := 0
		for c, relevance := range x.View().Relevances(text, o) {
			if is, ok := want[c.ID()]; !ok || is != relevance {
				t.Fatalf("page %d: %s has the relevance %d, want %d once", n, c.ID(), relevance, is)
			}
			delete(want, c.ID())
			found++
		}
		for id := range want {
			if x.Profile(id) != nil {
				t.Fatalf("page %d: %s is not told", n, id)
			}
		}
		if found < blockSize/20 {
			t.Errorf("page %d: %d alerts prove too little", n, found)
		}
	}
}

// No rest that is multiplied up in single precision, in whatever order, is farther off than half the slack.
func TestRestsAreWithinTheSlack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(19, 20))
	least := contribution(1, saturation(boosts[3], halfway(math.MaxInt32)))
	for range 100_000 {
		single, double := float32(1), 1.0
		most := least * math.Pow(1/least, random.Float64()*random.Float64()) // mostly of little weight
		for range 1 + random.IntN(200) {
			c := min(least+random.Float64()*(most-least), 0.98)
			single, double = single*float32(1-c), double*(1-c)
		}
		if off := math.Abs(float64(single) - double); off > slack/2 {
			t.Fatalf("%v is off by %v", single, off)
		}
	}
}
