package pipeline

import (
	"context"
	"fmt"
	"sync"
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
// When ctx ends the run is cancelled, or the stage has been taken out of it: Release lets go of everything that is
// kept with the error of ctx, and returns. A Process that waits for room obeys ctx as well.
type Keeper interface {
	Processor
	Release(ctx context.Context, ended <-chan struct{}, out Emitter) error
}

// keep runs a keeper: its workers, and what it emits later, which goes on while the run is re-wired.
func (n *node) keep(k Keeper) {
	workers := n.workWith(func() { n.work(n.checking(k)) })
	if n.running == nil || n.ended { // what has ended may be fed again after a reload
		n.ended = false
		n.startRelease(k)
	}
	s := n.running
	n.run.work(func() {
		workers.Wait()
		n.run.wiring.Lock()
		defer n.run.wiring.Unlock()
		if !n.run.rewiring {
			s.over()
		}
	})
}

// startRelease sets a keeper's Release going. It is told that nothing more will come when the workers have
// ended for good, or when the stage is taken out of the pipeline.
func (n *node) startRelease(k Keeper) {
	over := make(chan struct{})
	s := &running{ended: make(chan struct{}), over: sync.OnceFunc(func() { close(over) })}
	s.ctx, s.stop = context.WithCancel(n.run.ctx)
	n.running = s
	context.AfterFunc(s.ctx, func() {
		if n.run.ctx.Err() == nil { // its workers have ended, as they do in the end of a run that is cancelled
			s.over()
		}
	})
	n.run.spawn(func() {
		defer close(s.ended)
		defer s.stop()
		defer n.exhausted()
		if err := n.released(k, s.ctx, over); err != nil && s.ctx.Err() == nil {
			n.stats.errors.Add(1)
			n.run.fail(fmt.Errorf("stage %s: %w", n.name, err))
		}
		<-over // workers may still emit
	})
}

func (n *node) released(k Keeper, ctx context.Context, over <-chan struct{}) (err error) {
	defer recovered(n.name, &err)
	return k.Release(ctx, over, n.newProducer(openToOperators, ctx.Done()))
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
// crash before that repeats all of them. A note of a stage behind ([Item.Release]) goes to the item that it is about:
// to the only one, or to those whose lease reports that they are meant ([NoteMatcher]). A stage that takes the group
// apart again does so by [Members]. Its key is made of theirs ([KeyOf]): a stage that makes several groups of the same
// items keeps each by [Item.Branch]. EmitGroup is for [Keeper.Release] alone, whose emitter belongs to no item.
func EmitGroup(ctx context.Context, out Emitter, port string, value any, meta map[string]string, group []Held) error {
	members := make([]*Item, len(group))
	for i, held := range group {
		members[i] = held.Item
	}
	joint := newJoint(members, func(i int, err error) { group[i].Done(err) })
	it := &Item{Value: value, Meta: meta, lease: joint}
	if port != "" { // the same items may come to another port as well
		it.branch = it.branch.named(port)
	}
	return out.EmitTo(ctx, port, it)
}
