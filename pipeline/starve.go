package pipeline

import (
	"slices"
	"time"
)

// StarvationReporter is implemented by a queue that can tell when it waits for nothing but its own leases: when it
// could hand something out if one of them ended or was released, or when the run could end then. The runtime calls
// Starved at any time, from a goroutine of its own. While nothing moves behind such a queue, what stages keep goes on
// before its time, because nothing will come that they could wait for: see [EarlyReleaser]. A group of a
// [BatchProcessor] does so by itself.
type StarvationReporter interface {
	Starved() bool
}

// EarlyReleaser is implemented by a [Keeper] that can let go of what it keeps before its time. Hurry is called beside
// Process and Release, and does not wait; what is due by then, Release emits. A keeper that makes items wait for
// their own sake, as one that keeps to a rate, has nothing to hurry.
type EarlyReleaser interface {
	Hurry()
}

// starvedEvery is how often it is looked whether a queue starves; two looks in a row have to find that nothing has
// moved, since a store may take a moment until an effect is durable.
const starvedEvery = 100 * time.Millisecond

// watchStarving sees to it from now on that no queue starves, if that can be done something about. The
// caller holds r.wiring.
func (r *Run) watchStarving() {
	if !r.fed && r.mayStarve() {
		r.fed = true
		go r.keepFed()
	}
}

// mayStarve reports whether a queue can tell that it starves, or memory be short, and stages keep items.
func (r *Run) mayStarve() bool {
	if r.options.Memory != nil && slices.ContainsFunc(r.nodes, (*node).canHurry) {
		return true
	}
	return slices.ContainsFunc(r.nodes, func(n *node) bool {
		_, able := n.impl.(StarvationReporter)
		return able && len(r.keptBehind(n).keepers) > 0
	})
}

// keepFed looks after the queues, and after those who wait for memory, until the run is over.
func (r *Run) keepFed() {
	ticker := time.NewTicker(starvedEvery)
	defer ticker.Stop()
	seen := make(map[*node]*starving)
	for {
		select {
		case <-ticker.C:
			if !r.Paused() {
				r.feedStarving(seen)
				r.freeMemory()
			}
		case <-r.done:
			return
		}
	}
}

func (r *Run) feedStarving(seen map[*node]*starving) {
	r.layout.RLock()
	defer r.layout.RUnlock()
	for _, n := range r.nodes {
		queue, able := n.impl.(StarvationReporter)
		if !able {
			continue
		}
		if seen[n] == nil {
			seen[n] = new(starving)
		}
		seen[n].look(queue, r.keptBehind(n))
	}
}

// freeMemory has all stages let go of what they keep while a lease waits for memory: of this run or another.
func (r *Run) freeMemory() {
	if !r.options.Memory.stalled(2 * starvedEvery) {
		return
	}
	r.layout.RLock()
	defer r.layout.RUnlock()
	for _, n := range r.nodes {
		if n.canHurry() {
			n.hurry()
		}
	}
}

// starving is what was seen of a queue.
type starving struct {
	moved int64 // by what was behind it at the last look
	still bool  // nothing did since the one before
	turn  int   // of the stage that is to let go next
}

// keptBehind is what stands behind a queue: all stages, and those that keep items, the nearest first.
type keptBehind struct{ all, keepers []*node }

// look has one stage let go if the queue starves, and the next one if that was of no use.
func (w *starving) look(queue StarvationReporter, behind keptBehind) {
	moved := int64(0)
	for _, n := range behind.all {
		if n.holding() {
			w.still = false
			return
		}
		moved += n.stats.taken.Load() + n.stats.out.Load()
	}
	if before := w.moved; before != moved {
		w.moved, w.still, w.turn = moved, false, 0
		return
	}
	if !w.still {
		w.still = true
		return
	}
	if len(behind.keepers) == 0 || !behind.all[0].starved(queue) {
		w.turn = 0
		return
	}
	behind.keepers[w.turn%len(behind.keepers)].hurry()
	w.turn++
}

// starved asks the queue.
func (n *node) starved(queue StarvationReporter) (starved bool) {
	n.env.Guard(func() { starved = queue.Starved() })()
	return starved
}

// keptBehind returns what a queue's items may come to, the queue itself included. The caller holds r.layout
// or r.wiring.
func (r *Run) keptBehind(queue *node) keptBehind {
	b := keptBehind{all: []*node{queue}}
	for i := 0; i < len(b.all); i++ {
		n := b.all[i]
		if n.canHurry() {
			b.keepers = append(b.keepers, n)
		}
		for _, e := range r.graph.Edges {
			if to := r.byName[e.To]; e.From == n.name && !slices.Contains(b.all, to) {
				b.all = append(b.all, to)
			}
		}
	}
	return b
}

// canHurry reports whether the stage may keep items for so long that it is worth to have it let go. Of the runtime's
// own groups it is known.
func (n *node) canHurry() bool {
	switch n.impl.(type) {
	case EarlyReleaser:
		return true
	case BatchProcessor:
		return time.Duration(batchOf(n.stage).Period) > starvedEvery
	}
	return false
}

func (n *node) hurry() {
	if h, able := n.impl.(EarlyReleaser); able {
		n.env.Guard(h.Hurry)()
		return
	}
	n.hurried.Broadcast()
}
