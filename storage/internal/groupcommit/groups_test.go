package groupcommit

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func TestAGroupIsBounded(t *testing.T) {
	t.Parallel()
	const most, room = 8, 100
	for name, c := range map[string]struct {
		takes []int // of the room, by each change
		want  []int // changes of each group
	}{
		"none":                {},
		"few":                 {slices.Repeat([]int{1}, 3), []int{3}},
		"many changes":        {slices.Repeat([]int{1}, 2*most+1), []int{most, most, 1}},
		"large changes":       {slices.Repeat([]int{room / 4}, 9), []int{4, 4, 1}},
		"one change too many": {[]int{1, 10 * room, 1}, []int{2, 1}},
		"changes of no size":  {slices.Repeat([]int{0}, most+1), []int{most, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			com := committer[int]{limit: Limit[int]{most, room, func(n int) int { return n }}, changes: c.takes}
			var got []int
			for g := com.next(); len(g) > 0; g = com.next() {
				got = append(got, len(g))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("groups of %d changes, want %d", got, c.want)
			}
		})
	}
}

func TestWhatIsAddedIsCommittedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	const adders, each = 8, 500
	last := make(map[int]int) // by adder
	groups, changes := 0, 0
	type change struct{ adder, number int }
	c := Start(Limit[change]{16, 1 << 20, func(change) int { return 1 }}, func(group []change) error {
		groups++
		if len(group) == 0 || len(group) > 16 {
			t.Errorf("a group of %d", len(group))
		}
		for _, ch := range group {
			if changes++; ch.number != last[ch.adder]+1 {
				t.Errorf("%d of adder %d follows %d", ch.number, ch.adder, last[ch.adder])
			}
			last[ch.adder] = ch.number
		}
		return nil
	}, func([]change, error) {})
	var all sync.WaitGroup
	for adder := range adders {
		all.Go(func() {
			for n := range each / 2 {
				if err := c.Add(change{adder, 2*n + 1}, change{adder, 2*n + 2}); err != nil {
					t.Errorf("refused: %v", err)
				}
			}
		})
	}
	all.Wait()
	closed := errors.New("closed")
	if err := c.Close(closed); err != nil {
		t.Errorf("it ended by %v", err)
	}
	if err := c.Add(change{0, each + 1}); err != closed {
		t.Errorf("after the end, a change gets %v", err)
	}
	if changes != adders*each || groups < changes/16 {
		t.Errorf("%d changes in %d groups", changes, groups)
	}
}

func TestAfterAFaultNothingIsWritten(t *testing.T) {
	t.Parallel()
	fault := errors.New("disk full")
	written := 0
	told := make(chan error, 2)
	c := Start(Limit[int]{1, 1, func(int) int { return 1 }}, func([]int) error { written++; return fault }, func(_ []int, err error) { told <- err })
	if err := c.Add(1, 2); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-told; err != fault {
			t.Errorf("a group is told %v", err)
		}
	}
	if err := c.Add(3); err != fault {
		t.Errorf("what is added later gets %v", err)
	}
	if err := c.Close(errors.New("closed")); err != fault || written != 1 {
		t.Errorf("%d groups were written, and it ended by %v", written, err)
	}
}
