package pace

import (
	"testing"
	"time"
)

// Who has something all the time does it at once some times, and then once in a while, until there was a rest.
func TestWhoHasSomethingAllTheTimeGathersIt(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	p := Pace{Soon: time.Second / 10, Later: time.Second}
	for _, began := range []time.Time{start, start.Add(time.Minute)} {
		now := began
		for ; now.Before(began.Add(20 * time.Second)); now = now.Add(p.Wait(now)) {
			if fresh := p.Next(now); fresh != (now.Sub(began) < time.Second) {
				t.Errorf("%v after the beginning: fresh %v", now.Sub(began), fresh)
			}
		}
		if n := now.Sub(began); n != 20*time.Second+900*time.Millisecond {
			t.Errorf("the next of them is after %v", n)
		}
	}
	now := start.Add(2 * time.Minute)
	for range 2 * burst { // each of which was not asked for
		p.Rest(now)
		now = now.Add(time.Second)
	}
	if !p.Next(now) || p.Wait(now) != p.Soon {
		t.Error("who had nothing is not at once heard")
	}
}
