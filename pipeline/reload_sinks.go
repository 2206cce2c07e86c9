package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// A reload waits until nothing is in flight. A sink that is down has its items in flight for as long as it is: after a
// while the reload stops its calls, and parks what the sink holds, and what still comes to it, for the stage of its
// name in the new graph. When all that is in flight is parked, the reload goes on.

// sinkPatience is how long a reload waits for sinks, before it takes from them what they hold.
const sinkPatience = 5 * time.Second

// parkedLook is how often it is looked whether everything is parked.
const parkedLook = 10 * time.Millisecond

// calls are those of a sink, as long as the graph is what it is.
type calls struct {
	ctx  context.Context // of each call
	stop context.CancelFunc

	mu     sync.Mutex
	parked []*Item
}

func (r *Run) newCalls() *calls {
	c := new(calls)
	c.ctx, c.stop = context.WithCancel(r.ctx)
	return c
}

// isSink reports whether a stage leads nowhere, but for what it fails on.
func (n *node) isSink() bool {
	for port := range n.ports {
		if port != errorsPort {
			return false
		}
	}
	return n.queue == nil
}

// findSinks gives those who are sinks a context of their own for their calls. The caller holds r.wiring.
func (r *Run) findSinks() {
	for _, n := range r.nodes {
		if before := pointer.Swap(&n.calls, nil); before != nil {
			before.stop()
		}
		if n.isSink() {
			pointer.Store(&n.calls, r.newCalls())
		}
	}
}

// callContext is what the stage is called with.
func (n *node) callContext() context.Context {
	if c := pointer.Load(&n.calls); c != nil {
		return c.ctx
	}
	return n.run.ctx
}

// parkAll keeps items for another stage, if the calls of this one have been stopped by a reload; if not, it reports
// false. Their parts in their leases, which the caller ends, are taken over.
func (n *node) parkAll(its ...*Item) bool {
	c := pointer.Load(&n.calls)
	if c == nil || c.ctx.Err() == nil || n.run.ctx.Err() != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, it := range its {
		it.lease.fork()
	}
	c.parked = append(c.parked, its...)
	n.stats.taken.Add(-int64(len(its))) // they will be given to a stage once more
	n.stats.in.Add(-int64(len(its)))
	return true
}

// settle waits until nothing is in flight, or all that is has been parked.
func (l *reload) settle(ctx context.Context) error {
	for since := time.Now(); !l.isSettled(); {
		wait := time.Until(since.Add(sinkPatience))
		if len(l.stopped) > 0 {
			wait = parkedLook
		}
		some, cancel := context.WithTimeout(ctx, wait)
		_ = l.run.flight.wait(some)
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Since(since) >= sinkPatience {
			l.stopSinks()
			since = time.Now()
		}
	}
	return nil
}

// stopSinks stops the calls of the sinks that have items, and whose names the new graph has.
func (l *reload) stopSinks() {
	r := l.run
	r.wiring.Lock()
	defer r.wiring.Unlock()
	for _, n := range r.nodes {
		c := pointer.Load(&n.calls)
		if c == nil || c.ctx.Err() != nil || !n.holding() || l.graph.stage(n.name) == nil || n.closed && len(n.ports) > 0 {
			continue
		}
		if !n.closed { // nor is it, until the reload is over
			n.producers.Add(1)
			l.open = append(l.open, n)
		}
		r.logger.Info("a sink does not get done with what it has, which the stage of its name will have after the reload", "stage", n.name)
		l.stopped = append(l.stopped, n)
		c.stop()
	}
}

// isSettled reports whether all leases in flight are those of items that are parked, and of nothing else.
func (l *reload) isSettled() bool {
	alive := make(map[*lease]int32)
	for _, n := range l.stopped {
		c := pointer.Load(&n.calls)
		c.mu.Lock()
		for _, it := range c.parked {
			countParts(it.lease, alive)
		}
		c.mu.Unlock()
	}
	counted := int64(0)
	for lease, parts := range alive {
		if lease.alive.Load() != parts {
			return false
		}
		if lease.from != nil {
			counted++
		}
	}
	return l.run.flight.n.Load() == counted
}

// countParts counts an item as a part of its lease, and a group as one of each of its members'.
func countParts(l *lease, parts map[*lease]int32) {
	if parts[l]++; parts[l] > 1 || l.joint() == nil {
		return
	}
	for _, member := range l.joint().members {
		if member.lease != nil {
			countParts(member.lease, parts)
		}
	}
}

// handOver gives what was parked to the stages that have the names of those that held it. The caller holds r.wiring.
func (l *reload) handOver(parked map[string][]*Item) {
	for name, items := range parked {
		l.run.feed(l.run.byName[name], items)
	}
}

// takeParked returns what is parked, by the names of stages.
func (l *reload) takeParked() map[string][]*Item {
	all := make(map[string][]*Item)
	for _, n := range l.stopped {
		c := pointer.Load(&n.calls)
		c.mu.Lock()
		all[n.name], c.parked = c.parked, nil
		c.mu.Unlock()
	}
	return all
}

// giveBack has the sinks go on with what they held, because the reload has failed.
func (l *reload) giveBack() {
	r := l.run
	r.wiring.Lock()
	defer r.wiring.Unlock()
	for _, n := range l.stopped {
		if n.closed { // its workers end, as nothing more comes to it
			n.working.Wait()
			n.in, n.closed = n.newInbox(), false
			defer n.start()
		}
		c := pointer.Swap(&n.calls, r.newCalls())
		c.mu.Lock()
		r.feed(n, c.parked)
		c.mu.Unlock()
	}
	for _, n := range l.open {
		n.producerEnded(nil)
	}
}

// feed puts items in front of a stage, as a stage before it would. The caller holds r.wiring.
func (r *Run) feed(to *node, items []*Item) {
	producer := new(node)
	to.producers.Add(1)
	r.work(func() {
		defer r.replayEnded(to, producer)
		for _, it := range items {
			if !to.in.put(it, r.ctx.Done(), nil) {
				it.lease.done(r.ctx.Err())
			}
		}
	})
}
