package schedule

import "time"

// Bounds are the shortest and the longest interval between two visits of a page, neither of them zero, and how
// fast it moves between them.
type Bounds struct {
	Min, Max time.Duration
	Shrink   float64 // what the interval is multiplied by when the page had changed; 0: a half
	Grow     float64 // and when it had not; 0: one and a half
}

// Adapt returns the interval until the next visit of a page that was last visited after an interval: half
// of it when the page had changed, half as much again when it had not, or what the bounds set instead, and never
// beyond them. A first visit, after the interval 0, gives the shortest one.
func Adapt(interval time.Duration, changed bool, b Bounds) time.Duration {
	factor := b.Grow
	switch {
	case interval <= 0:
		return b.Min
	case changed && b.Shrink == 0:
		factor = 0.5
	case changed:
		factor = b.Shrink
	case b.Grow == 0:
		factor = 1.5
	}
	next := float64(interval) * factor
	if next >= float64(b.Max) {
		return b.Max
	}
	return max(b.Min, time.Duration(next))
}

// startShare is the part of its timing that passes at least between two visits of the start of a crawl.
const startShare = 8

// StartBounds are the bounds for what is visited at least once in a timing.
func StartBounds(timing time.Duration) Bounds {
	return Bounds{Min: max(timing/startShare, 1), Max: timing}
}
