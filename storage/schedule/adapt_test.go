package schedule

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestIntervalsAdapt(t *testing.T) {
	t.Parallel()
	b := Bounds{Min: time.Minute, Max: time.Hour}
	for _, c := range []struct {
		name     string
		interval time.Duration
		changed  bool
		want     time.Duration
	}{
		{"the first visit", 0, false, time.Minute},
		{"the first visit of a changed page", 0, true, time.Minute},
		{"changed", 10 * time.Minute, true, 5 * time.Minute},
		{"unchanged", 10 * time.Minute, false, 15 * time.Minute},
		{"no shorter than the shortest", time.Minute, true, time.Minute},
		{"no longer than the longest", time.Hour, false, time.Hour},
		{"the bounds were narrowed", 100 * time.Hour, false, time.Hour},
		{"so long that it cannot grow", 1<<63 - 1, false, time.Hour},
	} {
		if got := Adapt(c.interval, c.changed, b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Whatever is found in whatever order, by whatever factors and bounds: an interval never leaves its bounds, a change
// never makes it longer and no change never shorter, so that the timing of a start is the ceiling of its intervals.
func TestIntervalsStayWithinTheirBounds(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	for range 2000 {
		timing := time.Duration(1 + rng.Int64N(1<<rng.IntN(62)))
		b := StartBounds(timing)
		if rng.IntN(2) == 0 {
			b = Bounds{Min: timing, Max: max(timing, 32*timing)}
		}
		if rng.IntN(2) == 0 {
			b.Shrink, b.Grow = max(rng.Float64(), 0.01), 1+3*rng.Float64()
		}
		shrink, grow := 0.5, 1.5
		if b.Shrink > 0 {
			shrink, grow = b.Shrink, b.Grow
		}
		interval := Adapt(0, rng.IntN(2) == 0, b)
		for range 50 {
			changed := rng.IntN(3) == 0
			next := Adapt(interval, changed, b)
			want := float64(interval) * grow
			if changed {
				want = float64(interval) * shrink
			}
			want = max(float64(b.Min), min(want, float64(b.Max)))
			switch {
			case next < b.Min || next > b.Max, changed && next > interval, !changed && next < interval:
				t.Fatalf("%v after %v, changed %v, within %+v", next, interval, changed, b)
			case float64(next) < want*0.999-1 || float64(next) > want*1.001+1:
				t.Fatalf("%v after %v, changed %v, within %+v: want %v", next, interval, changed, b, time.Duration(want))
			}
			interval = next
		}
	}
}
