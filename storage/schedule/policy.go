package schedule

import (
	"cmp"
	"time"
)

// Policy determines how often a target is visited, and who comes first when not all can be served. Its methods
// are pure, and Interval grows with timing.
type Policy interface {
	// Interval is the time between two visits for a request with this timing, of a target whose interval
	// was adapted to what its visits found; 0 if it was not.
	Interval(timing, adapted time.Duration) time.Duration
	// Weight is the share of an urgency among those that wait; 0 if urgency does not matter.
	Weight(urgency int) int
}

// Policies by the names that they have in configurations.
var Policies = map[string]Policy{"fixed": Fixed{}, "adaptive": Adaptive{}, "urgency-first": UrgencyFirst{}}

// Fixed visits a target as often as its most demanding request asks.
type Fixed struct{}

func (Fixed) Interval(timing, _ time.Duration) time.Duration { return timing }
func (Fixed) Weight(int) int                                 { return 0 }

// Adaptive visits a target that changes often more often than that: up to eight times. See [Adapt].
type Adaptive struct{}

func (Adaptive) Interval(timing, adapted time.Duration) time.Duration {
	return max(StartBounds(timing).Min, min(cmp.Or(adapted, timing), timing))
}
func (Adaptive) Weight(int) int { return 0 }

// UrgencyFirst visits as often as Fixed. When more is due than can be served, the urgencies 3, 2 and 1 get
// their turns in the proportion 8:3:1.
type UrgencyFirst struct{}

func (UrgencyFirst) Interval(timing, _ time.Duration) time.Duration { return timing }
func (UrgencyFirst) Weight(urgency int) int                         { return [...]int{1, 3, 8}[classOf(urgency)] }

// classOf returns the index of the class of an urgency, 1 to 3.
func classOf(urgency int) int { return max(1, min(urgency, urgencies)) - 1 }

const urgencies = 3
