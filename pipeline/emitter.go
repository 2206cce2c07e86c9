package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// emitter is a worker's way out. It belongs to one goroutine.
type emitter struct {
	node    *node
	lineage *lineage // what new items join; nil in a source, or where a go-streams operator's values come out
	emitted int      // since the current item came in
	def     *outlet
	sampler sampler

	// Of a source or a go-streams operator alone:
	gate *gate           // the one that def was looked up behind
	as   openness        // what lets it pass
	stop <-chan struct{} // ends its waiting at the gate
}

func (n *node) newEmitter() *emitter { return &emitter{node: n, def: n.ports[""]} }

// newProducer returns the emitter of what has no item to descend from.
func (n *node) newProducer(as openness, stop <-chan struct{}) *emitter {
	return &emitter{node: n, as: as, stop: stop}
}

func (e *emitter) Emit(ctx context.Context, it *Item) error {
	if e.lineage == nil {
		return e.produce(ctx, it, "")
	}
	return e.send(ctx, it, "", e.def)
}

func (e *emitter) EmitTo(ctx context.Context, port string, it *Item) error {
	if e.lineage == nil {
		return e.produce(ctx, it, port)
	}
	o, err := e.outlet(port)
	if err != nil {
		return err
	}
	return e.send(ctx, it, port, o)
}

func (e *emitter) outlet(port string) (*outlet, error) {
	o, wired := e.node.ports[port]
	if !wired && !e.node.hasPort(port) {
		return nil, fmt.Errorf("stage type %s has no port %q", e.node.stage.Spec.Type, port)
	}
	return o, nil
}

// send puts the item on every branch of the port. An item without a lease joins that of the item being
// processed.
func (e *emitter) send(ctx context.Context, it *Item, port string, o *outlet) error {
	e.emitted++
	if it.lineage == nil {
		it.lineage = e.lineage
	}
	e.node.taps.see(it, port)
	return e.fanOut(ctx, it, o)
}

// produce sends an item that descends from none, once the gate lets it. Unless it brings a lease, it gets
// one.
func (e *emitter) produce(ctx context.Context, it *Item, port string) error {
	r := e.node.run
	if err := e.pass(ctx); err != nil {
		if it.lineage != nil {
			it.lineage.done(err)
		}
		return err
	}
	o := e.def
	if port != "" {
		var err error
		if o, err = e.outlet(port); err != nil {
			r.flight.done()
			return err
		}
	}
	if it.lineage == nil {
		it.lineage = newLineage(nil, nil)
	}
	it.lineage.run = r // the lease is what pass has counted
	r.follow(it.lineage)
	e.node.taps.see(it, port)
	err := e.fanOut(ctx, it, o)
	it.lineage.done(err)
	return err
}

// pass waits until the gate is open and counts the emitter as in flight. Behind another gate, the port may
// lead elsewhere.
func (e *emitter) pass(ctx context.Context) error {
	r := e.node.run
	r.flight.add() // before looking, as in enter
	if r.gating.gate.Load() == e.gate {
		return nil
	}
	r.flight.done()
	g := r.enter(e.as, e.stop, ctx.Done())
	if g == nil {
		return cmp.Or(ctx.Err(), context.Canceled)
	}
	e.gate, e.def = g, e.node.ports[""]
	return nil
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
		if err := e.held(ctx, it, target); err != nil {
			lineage.done(err)
			return err
		}
	}
	return nil
}

// held is wait with the time it takes, in a call that is timed.
func (e *emitter) held(ctx context.Context, it *Item, target chan<- any) error {
	if e.sampler.stands == 0 {
		return e.wait(ctx, it, target)
	}
	began := time.Now()
	err := e.wait(ctx, it, target)
	e.sampler.held += time.Since(began)
	return err
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
