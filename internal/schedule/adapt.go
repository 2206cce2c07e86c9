package schedule

import "time"

// Bounds are the shortest and the longest interval between two visits of a page. No bound is zero.
type Bounds struct{ Min, Max time.Duration }

// Adapt returns the interval until the next visit of a page that was last visited after an interval: half
// of it when the page had changed, half as much again when it had not, within bounds. A first visit, after
// the interval 0, gives the shortest one.
func Adapt(interval time.Duration, changed bool, b Bounds) time.Duration {
	switch {
	case interval <= 0:
		return b.Min
	case changed:
		interval /= 2
	case interval < b.Max:
		interval += interval / 2
	}
	return max(b.Min, min(interval, b.Max))
}

// startShare is the part of its timing that passes at least between two visits of the start of a crawl.
const startShare = 8

// StartBounds are the bounds for what is visited at least once in a timing.
func StartBounds(timing time.Duration) Bounds {
	return Bounds{Min: max(timing/startShare, 1), Max: timing}
}
