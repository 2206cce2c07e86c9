package pipeline

import (
	"math"
	"time"

	"github.com/webrace/webrace/pipeline/finding"
)

// Holding is how many items a stage waits for before it lets go of those that it keeps, and how long at most.
type Holding struct {
	Items  int      // 0 if it does not wait for a number of items
	Option string   // that sets how many
	For    Duration // how long it waits for them; 0: it lets go of items at once, and of what it makes of them later
}

// UntilMore is [Holding.For] of a stage that keeps items until others come, however long that takes.
const UntilMore Duration = math.MaxInt64

// Holder is implemented by option structs (by value) of a [Keeper]; lint compares what it waits for with what the
// queue before it hands out. Of the groups of a [BatchProcessor] it knows by itself.
type Holder interface{ Holds() Holding }

// Lender is implemented by option structs (by value) of a [Queue] that has so many leases out at most, and names the
// option that sets that.
type Lender interface {
	Lends() (leases int, option string)
}

// shortHold is how long a stage may keep items without a word: what goes on after a minute holds nothing up that
// anybody would wait for.
const shortHold = Duration(time.Minute)

// checkCapacities reports stages that wait for more items than the queue before them ever hands out: what they keep
// would go on when they are tired of waiting, or the queue is, but never because they have enough.
func (l *linter) checkCapacities() {
	for _, s := range l.g.Stages {
		if !l.known(s.Name) {
			continue
		}
		h := holding(s)
		if h.Items == 0 || h.For <= shortHold {
			continue
		}
		queue := l.onlyQueueBefore(s)
		if queue == nil {
			continue
		}
		lender, tells := queue.Options.(Lender)
		if !tells {
			continue
		}
		leases, option := lender.Lends()
		if h.Items <= leases {
			continue
		}
		found := l.add(l.into[s.Name][0].ToPos, finding.CodeCapacity, len(s.Name),
			"stage %q waits for %d items, and queue %q hands out no more than %d before they are dealt with, so it never has enough: set %s.%s to %d at least, or %s.%s to %d at most",
			s.Name, h.Items, queue.Name, leases, queue.Name, option, h.Items, s.Name, h.Option, leases)
		l.at(found, s, h.Option)
	}
}

// holding returns what a stage waits for.
func holding(s *Stage) Holding {
	if holder, tells := s.Options.(Holder); tells {
		return holder.Holds()
	}
	if s.Spec.Batch == (Batch{}) {
		return Holding{}
	}
	full := batchOf(s)
	return Holding{full.Count, "batch.count", full.Period}
}

// onlyQueueBefore returns the queue that alone brings a stage its items, at most one for each that it hands out; nil
// if there is none, or if that is not sure.
func (l *linter) onlyQueueBefore(s *Stage) *Stage {
	for seen := map[string]bool{}; !seen[s.Name]; {
		seen[s.Name] = true
		if len(l.into[s.Name]) != 1 {
			return nil
		}
		e := l.into[s.Name][0]
		if !l.known(e.From) {
			return nil
		}
		s = l.stages[e.From]
		port, _ := l.port(e.From, e.Port)
		switch {
		case s.Spec.Queue && e.Port == "":
			return s
		case !s.Spec.Single || e.Port != "" && !port.Kind.same:
			return nil
		}
	}
	return nil
}
