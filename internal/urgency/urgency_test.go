package urgency

import (
	"math/rand/v2"
	"testing"
)

// In each window of as many turns as the weights of those that have something come to, each has its weight.
func TestTurnsAreInProportion(t *testing.T) {
	t.Parallel()
	for mask := range 1 << Levels {
		has := func(level int) bool { return mask&(1<<level) != 0 }
		total := 0
		for i, w := range weights {
			if has(i) {
				total += w
			}
		}
		var turns Turns
		for range 5 {
			var got [Levels]int
			for range total {
				got[turns.Next(has)]++
			}
			for i, w := range weights {
				if has(i) && got[i] != w || !has(i) && got[i] != 0 {
					t.Errorf("with %03b level %d has %d turns of %d", mask, i, got[i], total)
				}
			}
		}
		if mask == 0 && turns.Next(has) != -1 {
			t.Error("one that has nothing has a turn")
		}
	}
}

// Whatever comes and goes, who has something waits for its turn no longer than the others' weights allow.
func TestNoLevelStarves(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var turns Turns
	var waited [Levels]int
	for range 100_000 {
		mask := random.IntN(1 << Levels)
		if random.IntN(4) > 0 {
			mask = 1<<Levels - 1
		}
		has := func(level int) bool { return mask&(1<<level) != 0 }
		next := turns.Next(has)
		if next >= 0 && !has(next) {
			t.Fatalf("level %d has nothing, and a turn", next)
		}
		for i := range waited {
			if waited[i]++; i == next || !has(i) {
				waited[i] = 0
			}
			if waited[i] > 24 { // the sum of the weights, twice
				t.Fatalf("level %d has waited for %d turns", i, waited[i])
			}
		}
	}
}

func TestLevelOfAnUrgency(t *testing.T) {
	t.Parallel()
	for urgency, want := range map[int]int{-1: 2, 0: 2, 1: 2, 2: 1, 3: 0, 9: 0} {
		if got := Level(urgency); got != want {
			t.Errorf("urgency %d is of level %d, want %d", urgency, got, want)
		}
	}
}
