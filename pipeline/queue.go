package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// put stores what comes in until nothing more will come. It is one half of a queue; the other, take, ends
// on its own, so the cycle between them is no cycle of waiting.
func (n *node) put() {
	out, all, workers := n.newEmitter(), newTaken(), n.workers()
	for {
		taken := n.receive(all[:takeSize(out, workers)])
		if len(taken) == 0 {
			return
		}
		n.handle(putter{n.queue}, taken, out)
		n.puts.Add(-len(taken))
	}
}

// putter puts items into a queue.
type putter struct{ Queue }

func (p putter) Process(ctx context.Context, it *Item, _ Emitter) error { return p.Put(ctx, it) }

// receive returns the next items to put, none if nothing more will come. At the mark it seals the queue, once
// the puts before it have returned: some may be of items from outside the cycle, with other workers.
func (n *node) receive(taken []*Item) []*Item {
	n.receiving.Lock()
	defer n.receiving.Unlock()
	for {
		taken := taken[:n.in.take(taken)]
		if len(taken) == 0 || taken[0] != sealMark {
			n.puts.Add(len(taken))
			return taken
		}
		n.puts.Wait()
		if !n.sealed {
			n.seal()
		}
	}
}

// seal tells a queue that nothing more will come from outside its cycle.
func (n *node) seal() {
	n.sealed = true
	n.env.Guard(n.queue.Seal)()
}

// takeAll hands out leases until the queue reports that nothing is left, the run drains, or another generation
// takes over.
func (n *node) takeAll() {
	out, over := n.newEmitter(), n.run.generation.over
	out.several = true // the item takes the place of the call in its lease
	for {
		g := n.run.enter(open, n.run.drainCtx.Done(), over)
		if g == nil {
			if n.run.drainCtx.Err() != nil {
				n.exhausted()
			}
			return
		}
		ended := n.takeBehind(g, out)
		n.run.flight.done()
		if ended {
			n.exhausted()
			return
		}
	}
}

// takeBehind hands out leases as long as the valve is open, and reports whether there will be no more.
func (n *node) takeBehind(g *valve, out *emitter) (ended bool) {
	for pointer.Load(&n.run.valves.current) == g {
		it, err := n.lend(g.ctx)
		if err == nil && !n.mayGive() {
			it.lease.done(Retry(errEnough, time.Now()))
			return true
		}
		switch {
		case err == nil:
			out.lease, out.emitted = it.lease, 0
			if err := out.Emit(n.run.ctx, it); err != nil {
				it.lease.done(err)
			} else {
				out.done()
			}
			out.count()
			n.gave()
		case errors.Is(err, io.EOF), n.run.drainCtx.Err() != nil:
			return true
		case g.ctx.Err() == nil:
			n.run.fail(fmt.Errorf("stage %s: %w", n.name, err))
			return true
		}
	}
	return false
}

// lend takes a lease from the queue, and returns the item that it is for.
func (n *node) lend(ctx context.Context) (_ *Item, err error) {
	defer recovered(n.name, &err)
	lease, err := n.queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	lent := lease.Item()
	it := newLeased(lent.Value, lent.Meta)
	it.lease.origin = lease
	n.adopt(it.lease)
	if err := n.reserveFor(ctx, it); err != nil {
		it.lease.done(Retry(err, time.Now()))
		return nil, err
	}
	return it, nil
}

// reserveFor takes memory for what a queue brings back, if that is large: what is small, such as a URL, is bounded by
// the number of leases. A little is taken without waiting, so that one lease at a time may go beyond the budget: items
// may hold all of it that wait for room in this very queue.
func (n *node) reserveFor(ctx context.Context, it *Item) error {
	m := n.env.Memory()
	bytes := sizeOf(it.Value)
	if m == nil || bytes <= flatWeight {
		return nil
	}
	m.used.Add(flatWeight)
	it.lease.memory.add(m, flatWeight)
	return n.env.Reserve(ctx, it, bytes)
}

// findExternals finds, for every queue, the producers outside its own cycle: those that cannot be
// reached from it.
func (r *Run) findExternals() {
	for _, n := range r.nodes {
		if n.queue == nil {
			continue
		}
		inside := r.reachableFrom(n)
		for _, producer := range r.nodes {
			if producer.leadsTo(n) && !inside[producer] {
				n.external[producer] = true
			}
		}
		n.externals.Store(int32(len(n.external)))
	}
}

func (n *node) leadsTo(to *node) bool {
	for _, o := range n.ports {
		for _, target := range o.nodes {
			if target == to {
				return true
			}
		}
	}
	return false
}

func (r *Run) reachableFrom(from *node) map[*node]bool {
	reached := make(map[*node]bool)
	next := []*node{from}
	for len(next) > 0 {
		n := next[len(next)-1]
		next = next[:len(next)-1]
		for _, o := range n.ports {
			for _, to := range o.nodes {
				if !reached[to] {
					reached[to] = true
					next = append(next, to)
				}
			}
		}
	}
	return reached
}
