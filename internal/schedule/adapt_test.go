package schedule

import (
	"testing"
	"time"
)

func TestIntervalsAdapt(t *testing.T) {
	t.Parallel()
	b := Bounds{time.Minute, time.Hour}
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
