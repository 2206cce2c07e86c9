package pipeline

import (
	"context"
	"fmt"
)

// emitter is a worker's way out. It belongs to one goroutine.
type emitter struct {
	node    *node
	lineage *lineage // what new items join; nil in a source
	emitted int      // since the current item came in
	def     *outlet
	sampler sampler
}

func (n *node) newEmitter() *emitter { return &emitter{node: n, def: n.ports[""]} }

func (e *emitter) Emit(ctx context.Context, it *Item) error { return e.send(ctx, it, e.def) }

func (e *emitter) EmitTo(ctx context.Context, port string, it *Item) error {
	o, wired := e.node.ports[port]
	if !wired && !e.node.hasPort(port) {
		return fmt.Errorf("stage type %s has no port %q", e.node.stage.Spec.Type, port)
	}
	return e.send(ctx, it, o)
}

// send puts the item on every branch of the port. An item without a lease joins that of the item being
// processed; in a source it gets one of its own.
func (e *emitter) send(ctx context.Context, it *Item, o *outlet) error {
	n := e.node
	e.emitted++
	own := e.lineage == nil
	switch {
	case it.lineage == nil && own:
		it.lineage = n.run.newLease(nil, nil)
	case it.lineage == nil:
		it.lineage = e.lineage
	case own:
		n.run.adopt(it.lineage)
	}
	err := e.fanOut(ctx, it, o)
	if own {
		it.lineage.done(err)
	}
	return err
}

func (e *emitter) fanOut(ctx context.Context, it *Item, o *outlet) error {
	n := e.node
	if o == nil {
		n.stats.dropped.Add(1)
		return nil
	}
	lineage := it.lineage // the next stage may have ended the item before the second branch gets it
	n.stats.out.Add(1)
	for _, target := range o.targets {
		lineage.fork()
		select {
		case target <- it:
			continue
		default:
		}
		if err := e.wait(ctx, it, target); err != nil {
			lineage.done(err)
			return err
		}
	}
	return nil
}

// wait sends to a channel that is full. Under the run's own context it need not watch for the end, which
// costs more than the send: the node behind the channel goes on receiving when the run is cancelled.
func (e *emitter) wait(ctx context.Context, it *Item, target chan<- any) error {
	if ctx == e.node.run.ctx {
		target <- it
		return nil
	}
	select {
	case target <- it:
		return nil
	case <-e.node.run.ctx.Done():
		return e.node.run.ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *node) hasPort(name string) bool {
	if name == errorsPort {
		return true
	}
	for _, port := range n.stage.Ports() {
		if port.Name == name {
			return true
		}
	}
	return false
}
