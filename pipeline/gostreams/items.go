package gostreams

import (
	"time"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"

	"github.com/webrace/webrace/pipeline"
)

// Items makes a stage of a go-streams operator whose elements are items: one that delays, orders, drops or groups
// them. It may give out the items that it was given, each once: alone, or as a []*pipeline.Item, which the stage
// emits as the [pipeline.List] of their values. The lease of an item ends when what it was given out in has been dealt
// with. What the operator drops can be seen only when its input has ended, at the end of the run or when a queue waits
// for its leases; [Filter] ends leases at once. The function is called at least once a run.
func Items(operator func() streams.Flow) pipeline.Keeper { return itemStage{newStage(operator)} }

type itemStage struct{ *stage }

var _ pipeline.EarlyReleaser = itemStage{}

// Hurry ends the input of the operator, if it holds items, so that it gives them out.
func (s itemStage) Hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		return
	}
	select {
	case s.hurried <- struct{}{}:
	default:
	}
}

// Batch makes a list of so many items, or of fewer when none has come for a period: [flow.NewBatch].
func Batch(count int, period time.Duration) pipeline.Keeper {
	return Items(func() streams.Flow { return flow.NewBatch[*pipeline.Item](count, period) })
}

// Tumbling makes a list of the items of each window of time; windows follow one another: [flow.NewTumblingWindow].
func Tumbling(size time.Duration) pipeline.Keeper {
	return Items(func() streams.Flow { return flow.NewTumblingWindow[*pipeline.Item](size) })
}

// Session makes a list of items between which there is no gap of such a length: [flow.NewSessionWindow].
func Session(gap time.Duration) pipeline.Keeper {
	return Items(func() streams.Flow { return flow.NewSessionWindow[*pipeline.Item](gap) })
}

// Throttle lets up to so many items pass in each period, and holds a few: [flow.NewThrottler], with back pressure.
// What it holds when the run is cancelled is let go at once.
func Throttle(count int, period time.Duration) pipeline.Keeper {
	return newStage(func() streams.Flow {
		return Chain(flow.NewThrottler(count, period, 1, flow.Backpressure), flow.NewPassThrough())
	})
}

// Chain makes one operator of several: what enters it enters the first, and what leaves the last leaves it. Of the
// flow that [streams.Flow.Via] returns, only the output is that of the whole.
func Chain(first streams.Flow, others ...streams.Flow) streams.Flow {
	last := first
	for _, next := range others {
		last = last.Via(next)
	}
	return chain{last, first}
}

type chain struct {
	streams.Flow
	first streams.Inlet
}

func (c chain) In() chan<- any { return c.first.In() }
