//go:build !race

// Under the race detector a pool drops some of what it is given.

package match

import (
	"math/rand/v2"
	"testing"
)

// TestMatchingAllocatesNothing holds for what precedes the making of an alert, where no keyword asks for
// parts of words.
func TestMatchingAllocatesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	l := newLanguage(random, inventWords(random, 3000))
	var x Index
	for i := range 1000 {
		g := Group{Match: Mode(i % 2)}
		for len(g.Keywords) < 3 {
			if w := l.keyword(); w.kind <= exact {
				g.Keywords = append(g.Keywords, w.Keyword)
			}
		}
		x.Add(compile(t, Profile{ID: idOf(i), Group: g}))
	}
	x.Settle()
	text := l.page()
	for name, o := range map[string]Options{
		"three": {Recipients: []Recipient{{ID: idOf(1)}, {ID: idOf(2)}, {ID: idOf(3)}}}, "everyone": {Everyone: true},
	} {
		v := x.View()
		v.Count(text, o)
		if n := testing.AllocsPerRun(20, func() { v.Count(text, o) }); n > 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
