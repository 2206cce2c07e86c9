package pipeline

import (
	"testing"
	"time"
)

func TestALatencyCountsWhatWasBelowAndHowLongAllTook(t *testing.T) {
	t.Parallel()
	var h histogram
	var sum time.Duration
	for i := range 1000 {
		d := time.Duration(i) * time.Microsecond
		h.add(d)
		sum += d
	}
	l := h.read()
	if l.Count() != 1000 {
		t.Errorf("%d calls", l.Count())
	}
	if got := l.Sum(); float64(got) < float64(sum)*0.87 || float64(got) > float64(sum)*1.13 {
		t.Errorf("together %v, want %v", got, sum)
	}
	for power := range 40 { // exact at powers of two, whatever else is in the bucket
		bound := time.Duration(1) << power
		want := min(1000, int64((bound+time.Microsecond-1)/time.Microsecond))
		if got := l.Below(bound); got != want {
			t.Errorf("%d below %v, want %d", got, bound, want)
		}
	}
	if got := l.Below(-time.Second); got != 0 {
		t.Errorf("%d took less than no time", got)
	}
}
