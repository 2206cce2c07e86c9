package pipeline

import (
	"time"
)

const (
	defaultBatchCount  = 100
	defaultBatchPeriod = 100 * time.Millisecond
)

// batchSize returns the stage's batch option, with the type's default and then the framework's where it
// is not set.
func (n *node) batchSize() (count int, period time.Duration) {
	set, def := n.stage.Common.Batch, n.stage.Spec.Batch
	count, period = firstPositive(set.Count, def.Count, defaultBatchCount), time.Duration(firstPositive(set.Period, def.Period, Duration(defaultBatchPeriod)))
	return count, period
}

func firstPositive[T int | Duration](values ...T) T {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// collect gathers items into groups and processes each. A group is processed when it is full, when its
// first item has waited for the period, when nothing more will come, or when a reload waits for it.
func (n *node) collect(p BatchProcessor) {
	out := n.newEmitter()
	count, period := n.batchSize()
	for {
		first, ok := <-n.in
		if !ok {
			return
		}
		group := n.gather(first, count, period)
		n.processGroup(batchCall{p}, group, out)
	}
}

func (n *node) gather(first any, count int, period time.Duration) []*Item {
	group := append(make([]*Item, 0, count), n.item(first))
	full := time.NewTimer(period)
	defer full.Stop()
	gating := &n.run.gating
	for len(group) < count {
		g := gating.gate.Load()
		if g.hurry {
			return n.gatherWaiting(group, count)
		}
		select {
		case e, ok := <-n.in:
			if !ok {
				return group
			}
			group = append(group, n.item(e))
		case <-full.C:
			return group
		case <-g.changed:
		case <-n.run.ctx.Done():
			return group
		}
	}
	return group
}

// gatherWaiting adds to a group what is there already.
func (n *node) gatherWaiting(group []*Item, count int) []*Item {
	for len(group) < count {
		select {
		case e, ok := <-n.in:
			if !ok {
				return group
			}
			group = append(group, n.item(e))
		default:
			return group
		}
	}
	return group
}

func (n *node) processGroup(c call, group []*Item, out *emitter) {
	if err := n.run.ctx.Err(); err != nil {
		endAll(group, Outcome{Err: err})
		return
	}
	joint := newLineage(func(o Outcome) { endAll(group, o) }, nil)
	joint.queued = allQueued(group)
	out.lineage = joint
	joint.done(n.measured(c, group, out))
}

// endAll gives every item of a group the outcome that the group had.
func endAll(group []*Item, o Outcome) {
	for _, it := range group {
		for _, what := range o.Learned {
			it.Learn(what)
		}
		it.lineage.done(o.Err)
	}
}

func allQueued(group []*Item) bool {
	for _, it := range group {
		if !it.lineage.queued {
			return false
		}
	}
	return true
}
