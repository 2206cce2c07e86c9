package pipeline

import (
	"errors"
	"math"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

const (
	defaultBatchCount  = 100
	defaultBatchPeriod = 100 * time.Millisecond
)

// batchOf returns the stage's batch option, with the type's default and then the framework's where it is not set.
func batchOf(s *Stage) Batch {
	set, def := s.Common.Batch, s.Spec.Batch
	return Batch{
		Count:  firstPositive(set.Count, def.Count, defaultBatchCount),
		Bytes:  firstPositive(set.Bytes, def.Bytes, math.MaxInt),
		Period: firstPositive(set.Period, def.Period, Duration(defaultBatchPeriod)),
	}
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
	full := batchOf(n.stage)
	for {
		group := n.gather(full)
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
func (n *node) gather(full Batch) []*Item {
	group := make([]*Item, full.Count)
	got := n.in.take(group[:1])
	if got == 0 {
		return nil
	}
	n.gathered(group[:1])
	bytes := sizeOf(group[0].Value)
	something := n.in.enlist()
	defer n.in.delist()
	late := time.NewTimer(time.Duration(full.Period))
	defer late.Stop()
	for got < full.Count && bytes < full.Bytes {
		hurry := n.hurried.Next()
		g := pointer.Load(&n.run.valves.current) // before looking for items: a change of it waits for those that there are
		taken := group[got:]
		if full.Bytes < math.MaxInt {
			taken = taken[:1] // the next may be too large to come along
		}
		more, ended := n.in.tryTake(taken)
		n.gathered(taken[:more])
		for _, it := range taken[:more] {
			bytes += sizeOf(it.Value)
		}
		got += more
		switch {
		case more > 0:
			continue
		case ended || g.hurry:
			return group[:got]
		}
		select {
		case <-something:
		case <-late.C:
			return group[:got]
		case <-hurry:
			return group[:got]
		case <-g.changed:
		case <-n.run.ctx.Done():
			return group[:got]
		}
	}
	return group[:got]
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
			it.lease.done(err)
		}
		return
	}
	if n.parkAll(group...) {
		for _, it := range group {
			it.lease.done(nil)
		}
		return
	}
	joint := newJoint(group, func(i int, err error) { group[i].lease.done(err) })
	out.begin(joint, 0)
	call := func() error { return p.ProcessBatch(n.callContext(), group, out) }
	err := n.guarded(call)
	if some, ok := err.(*GroupError); ok && len(some.Errs) == len(group) {
		n.failEach(p, group, some.Errs, out)
		err = nil
	} else if err != nil && n.parkAll(group...) {
		err = nil
	} else if err != nil {
		err = n.afterError(err, group, out, call)
	}
	out.returned(group)
	out.end()
	joint.done(err)
}

// failEach applies the stage's error policy to the items of a group that it failed on.
func (n *node) failEach(p BatchProcessor, group []*Item, errs []error, out *emitter) {
	for i, err := range errs {
		if err == nil || n.parkAll(group[i]) {
			continue
		}
		one := group[i : i+1]
		err = n.afterError(err, one, out, func() error {
			err := p.ProcessBatch(n.callContext(), one, out)
			if some, ok := err.(*GroupError); ok {
				return errors.Join(some.Errs...)
			}
			return err
		})
		if err != nil {
			group[i].lease.fail(err)
		}
	}
}
