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
func (n *node) batchSize() (count int, period time.Duration) { return batchSize(n.stage) }

func batchSize(s *Stage) (count int, period time.Duration) {
	set, def := s.Common.Batch, s.Spec.Batch
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
// first item has waited for the period, when nothing more will come, or when a reload or a queue waits for it.
func (n *node) collect(p BatchProcessor) {
	out := n.newEmitter()
	count, period := n.batchSize()
	for {
		group := n.gather(count, period)
		if len(group) == 0 {
			return
		}
		n.busy.Add(1)
		if group = n.complete(group, out); len(group) > 0 {
			n.processGroup(p, group, out)
		}
		n.busy.Add(-1)
	}
}

// gather waits for a first item, then for others. No item means that nothing more will come.
func (n *node) gather(count int, period time.Duration) []*Item {
	group := make([]*Item, count)
	got := n.in.take(group[:1])
	if got == 0 {
		return nil
	}
	n.gathered(group[:1])
	something := n.in.enlist()
	defer n.in.delist()
	full := time.NewTimer(period)
	defer full.Stop()
	for got < count {
		hurry := n.hurried.wait()
		g := n.run.gating.gate.Load() // before looking for items: who changes it waits for those that there are
		more, ended := n.in.tryTake(group[got:])
		n.gathered(group[got : got+more])
		got += more
		switch {
		case more > 0:
			continue
		case ended || g.hurry:
			return group[:got]
		}
		select {
		case <-something:
		case <-full.C:
			return group[:got]
		case <-hurry:
			return group[:got]
		case <-g.changed:
		case <-n.run.ctx.Done():
			return group[:got]
		}
	}
	return group
}

// gathered counts items that are taken at once.
func (n *node) gathered(its []*Item) {
	n.stats.taken.Add(int64(len(its)))
	n.stats.in.Add(int64(len(its)))
	for _, it := range its {
		n.taps.see(it, TapInput)
	}
}

func (n *node) processGroup(p BatchProcessor, group []*Item, out *emitter) {
	if err := n.run.ctx.Err(); err != nil {
		for _, it := range group {
			it.lineage.done(err)
		}
		return
	}
	joint := newJoint(group, func(i int, err error) { group[i].lineage.done(err) })
	out.begin(joint)
	call := func() error { return p.ProcessBatch(n.run.ctx, group, out) }
	err := n.guarded(call)
	if err != nil {
		err = n.afterError(err, group, out, call)
	}
	out.returned(group)
	out.end()
	joint.done(err)
}
