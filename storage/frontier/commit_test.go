package frontier

import (
	"slices"
	"testing"
)

func TestAGroupIsBoundedBySteps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		urls []int // of the steps
		want []int // steps of each group
	}{
		"none":              {},
		"few":               {slices.Repeat([]int{1}, 3), []int{3}},
		"many steps":        {slices.Repeat([]int{1}, 2*groupSize+1), []int{groupSize, groupSize, 1}},
		"many URLs":         {slices.Repeat([]int{groupURLs / 4}, 9), []int{4, 4, 1}},
		"one step too many": {[]int{1, 10 * groupURLs, 1}, []int{2, 1}},
		"no URLs":           {slices.Repeat([]int{0}, groupSize+1), []int{groupSize, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var com committer
			for _, n := range c.urls {
				com.steps = append(com.steps, step{urls: n})
			}
			var got []int
			for g := com.next(); len(g) > 0; g = com.next() {
				got = append(got, len(g))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("groups of %d steps, want %d", got, c.want)
			}
		})
	}
}
