package pipeline

import (
	"context"
	"fmt"
)

// Keeper is a Processor that keeps items after Process has returned, and emits later what it makes of them:
// a group that is full, a window that is over, an item whose turn has come. It is the one interface for
// stages that emit when time passes, and not only when an item comes.
//
// Process keeps an item by [Item.Hold]. Release is called once, beside the workers, and its emitter is valid
// until it returns: it emits whatever is due, by [EmitGroup] what is made of items that are kept. When
// ended is closed, nothing more will come: Release then emits what is left and returns. That is so at the end
// of a run and when it drains, so that nothing which was kept is lost.
//
// When ctx ends the run is cancelled: Release lets go of everything that is kept with the error of ctx, and
// returns. A Process that waits for room obeys ctx as well.
type Keeper interface {
	Processor
	Release(ctx context.Context, ended <-chan struct{}, out Emitter) error
}

// keep runs a keeper: its workers, and what it emits later.
func (n *node) keep(k Keeper) {
	workers := n.workWith(func() { n.work(k) })
	ended := make(chan struct{})
	n.run.spawn(func() {
		workers.Wait()
		close(ended)
	})
	n.run.work(func() {
		if err := n.released(k, ended); err != nil && n.run.ctx.Err() == nil {
			n.stats.errors.Add(1)
			n.run.fail(fmt.Errorf("stage %s: %w", n.name, err))
		}
		workers.Wait() // they may still emit
		n.end()
	})
}

func (n *node) released(k Keeper, ended <-chan struct{}) (err error) {
	defer recovered(n.name, &err)
	return k.Release(n.run.ctx, ended, n.newProducer(openToOperators, n.run.ctx.Done()))
}

// Held is an item that a stage keeps, and how it lets go of it.
type Held struct {
	Item *Item
	Done func(error)
}

// Keep holds an item; see [Item.Hold].
func Keep(it *Item) Held { return Held{it, it.Hold()} }

// EmitGroup emits, to a port, a value that is made of items that the stage keeps, and lets go of these when
// everything made from the value has been dealt with: each then has the outcome that the value had. So a
// crash before that repeats all of them. It is for [Keeper.Release] alone, whose emitter belongs to no item.
func EmitGroup(ctx context.Context, out Emitter, port string, value any, meta map[string]string, group []Held) error {
	joint := newLineage(func(o Outcome) {
		for _, held := range group {
			for _, what := range o.Learned {
				held.Item.Learn(what)
			}
			held.Done(o.Err)
		}
	}, nil)
	joint.queued = len(group) > 0
	for _, held := range group {
		joint.queued = joint.queued && held.Item.lineage != nil && held.Item.lineage.queued
	}
	return out.EmitTo(ctx, port, &Item{Value: value, Meta: meta, lineage: joint})
}

// Draining is closed when the run drains: sources hand out nothing more, and whoever waits for time to pass
// may give back what it holds instead, by letting go of it with [context.Canceled]. Outside of a run it is
// nil.
func (e *Env) Draining() <-chan struct{} {
	if e.run == nil {
		return nil
	}
	return e.run.Draining()
}

// OnOutcome calls f when the item's lease ends, with its outcome.
func (it *Item) OnOutcome(f func(Outcome)) {
	l := it.lineage
	if l == nil {
		return
	}
	l.onEnd(func() {
		l.mu.Lock()
		outcome := l.outcome
		l.mu.Unlock()
		f(outcome)
	})
}
