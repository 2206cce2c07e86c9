package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// emitter is a worker's way out. It belongs to one goroutine.
type emitter struct {
	node    *node
	lease   *lease       // what new items join; nil in a source, and in what a keeper releases
	branch  branch       // of the item that came in
	emitted int          // since the current item came in
	made    map[part]int // of these, those of other leases than that of the call
	def     *outlet
	sampler sampler
	timed   bool // the call is timed, from began on
	began   time.Time
	traced  bool // it is traced, from since on
	since   time.Time

	several bool    // items are dealt with that were taken at once:
	sent    int64   // what has been sent and not been counted
	last    *Item   // what the call emitted last, of its own lease; it goes when the call has ended
	to      *outlet // where it goes

	// Of a source or keeper alone:
	valve *valve          // the one that def was looked up behind
	as    openness        // what lets it pass
	stop  <-chan struct{} // ends its waiting at the valve
}

func (n *node) newEmitter() *emitter {
	return &emitter{node: n, def: n.ports[""], traced: n.run.options.Tracer != nil}
}

// newProducer returns the emitter of what has no item to descend from.
func (n *node) newProducer(as openness, stop <-chan struct{}) *emitter {
	return &emitter{node: n, as: as, stop: stop}
}

// begin prepares for a call of the stage that is for a branch of this lease; returned and end close it, the first one
// before its items are ended.
func (e *emitter) begin(l *lease, b branch) {
	e.lease, e.branch, e.emitted = l, b.unsent(), 0
	clear(e.made)
	if e.timed = e.sampler.begin(); e.timed {
		e.began = time.Now()
	}
	if e.traced {
		e.since = time.Now()
	}
}

func (e *emitter) returned(its []*Item) {
	if e.traced {
		e.node.traced(its, e.since)
	}
}

func (e *emitter) end() {
	if e.timed {
		e.node.stats.timed(&e.sampler, time.Since(e.began))
	}
}

func (e *emitter) Emit(ctx context.Context, it *Item) error {
	if e.lease == nil {
		return e.produce(ctx, it, "")
	}
	return e.send(ctx, it, "", e.def)
}

func (e *emitter) EmitTo(ctx context.Context, port string, it *Item) error {
	if f, rejected := it.Value.(*Failure); rejected && port == errorsPort {
		return e.reject(ctx, it.With(f.Value), f.Err)
	}
	if e.lease == nil {
		return e.produce(ctx, it, port)
	}
	o, err := e.outlet(port)
	if err != nil {
		return err
	}
	return e.send(ctx, it, port, o)
}

// reject leaves an item to the stage's error policy; see [Reject].
func (e *emitter) reject(ctx context.Context, it *Item, why error) error {
	if e.lease == nil {
		if err := e.admit(ctx, it); err != nil {
			return err
		}
		return e.produced(it, e.node.failed(it, why, 1, e))
	}
	it = e.identified(it) // which counts it, as it cannot be taken back
	if err := e.flush(ctx); err != nil {
		return err
	}
	return e.node.failed(it, why, 1, e)
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
	it = e.identified(it)
	e.node.taps.see(it, port)
	if e.several {
		if err := e.flush(ctx); err != nil {
			return err
		}
		if it.lease == e.lease && o != nil {
			if e.last = it; e.to != o {
				e.to = o
			}
			return nil
		}
	}
	return e.fanOut(ctx, it, o)
}

// part is one of the items that are made of those of a lease.
type part struct {
	lease  *lease
	branch branch
}

// identified gives an item its lease, if it has none: that of the call. Of several that a call makes of one item, each
// but the first is given a key of its own, see [KeyOf].
func (e *emitter) identified(it *Item) *Item {
	if it.lease == nil {
		it.lease, it.branch = e.lease, e.branch
	}
	n, of := e.emitted, e.branch
	e.emitted++
	if it.lease != e.lease {
		of = it.branch.unsent()
		n = e.before(part{it.lease, of})
	}
	switch {
	case n == 0, it.branch != of && !it.branch.sent(): // it is the first, or has a key of its own by Branch
	case it.branch.sent(): // others may read it
		it = it.branched(of.nth(e.node.branch, n))
	default:
		it.branch = of.nth(e.node.branch, n)
	}
	it.send()
	return it
}

// before returns how often the call has emitted a part of another lease, and counts it.
func (e *emitter) before(p part) int {
	if e.made == nil {
		e.made = make(map[part]int)
	}
	n := e.made[p]
	e.made[p] = n + 1
	return n
}

// flush sends what was kept back.
func (e *emitter) flush(ctx context.Context) error {
	it := e.last
	if it == nil {
		return nil
	}
	e.last = nil
	return e.fanOut(ctx, it, e.to)
}

// done ends the item that the stage was called with. If something was kept back, that takes its place in the
// lease: so most items that pass a stage are counted neither in nor out of it.
func (e *emitter) done() {
	it, of := e.last, e.lease
	if it == nil {
		of.done(nil)
		return
	}
	e.last = nil
	e.sent++
	if more := len(e.to.targets) - 1; more > 0 {
		of.alive.Add(int32(more))
	}
	for i, target := range e.to.targets {
		it := e.to.item(it, i)
		if !target.offer(it) {
			_ = e.held(e.node.run.ctx, it, target) // which does not fail
		}
	}
}

// produce sends an item that descends from none, once the valve lets it. Unless it brings a lease, it gets
// one.
func (e *emitter) produce(ctx context.Context, it *Item, port string) error {
	if err := e.admit(ctx, it); err != nil {
		return err
	}
	o := e.def
	if port != "" {
		var err error
		if o, err = e.outlet(port); err != nil {
			return e.produced(it, err)
		}
	}
	e.node.taps.see(it, port)
	return e.produced(it, e.fanOut(ctx, it, o))
}

// admit waits until an item that descends from none may go, and makes its lease one of the run.
func (e *emitter) admit(ctx context.Context, it *Item) error {
	r := e.node.run
	if it.lease == nil {
		it.lease = newLease(nil)
	}
	err := e.reserve(ctx, it)
	if err == nil {
		err = e.pass(ctx)
	}
	if err != nil {
		it.lease.done(err)
		return err
	}
	if e.as == open && !e.node.mayGive() {
		r.flight.done()
		select { // the run drains when the last item that may be given is on its way
		case <-e.stop:
		case <-ctx.Done():
		}
		it.lease.done(context.Canceled)
		return context.Canceled
	}
	it.send()
	it.lease.from = e.node // the lease is what pass has counted
	r.follow(it.lease)
	return nil
}

// produced ends the part of a producer in an item that was admitted.
func (e *emitter) produced(it *Item, err error) error {
	it.lease.done(err)
	if e.as == open {
		e.node.gave()
	}
	return err
}

// reserve takes memory for what a source emits, before it counts as in flight. What a keeper makes of items is theirs
// already, and an operator has to get rid of what it was given.
func (e *emitter) reserve(ctx context.Context, it *Item) error {
	if e.as != open || e.node.env.Memory() == nil {
		return nil
	}
	return e.node.env.Reserve(ctx, it, weight(it.Value))
}

// pass waits until the valve is open and counts the emitter as in flight. Behind another valve, the port may
// lead elsewhere.
func (e *emitter) pass(ctx context.Context) error {
	r := e.node.run
	r.flight.add() // before looking, as in enter
	if pointer.Load(&r.valves.current) == e.valve {
		return nil
	}
	r.flight.done()
	g := r.enter(e.as, e.stop, ctx.Done())
	if g == nil {
		return cmp.Or(ctx.Err(), context.Canceled)
	}
	e.valve, e.def = g, e.node.ports[""]
	return nil
}

func (e *emitter) fanOut(ctx context.Context, it *Item, o *outlet) error {
	n := e.node
	if o == nil {
		n.stats.dropped.Add(1)
		return nil
	}
	if e.several {
		e.sent++
	} else {
		n.stats.out.Add(1)
	}
	return e.spread(ctx, it, o)
}

// spread is fanOut of what is not counted as given.
func (e *emitter) spread(ctx context.Context, it *Item, o *outlet) error {
	of := it.lease // the next stage may have ended the item before the second branch gets it
	for i, target := range o.targets {
		of.fork()
		it := o.item(it, i)
		if target.offer(it) {
			continue
		}
		if err := e.held(ctx, it, target); err != nil {
			of.done(err)
			return err
		}
	}
	return nil
}

// count shows what was sent.
func (e *emitter) count() {
	if e.sent > 0 {
		e.node.stats.out.Add(e.sent)
		e.sent = 0
	}
}

// held is wait with the time it takes, in a call that is timed.
func (e *emitter) held(ctx context.Context, it *Item, target *inbox) error {
	e.count()
	if e.sampler.stands == 0 {
		return e.wait(ctx, it, target)
	}
	began := time.Now()
	err := e.wait(ctx, it, target)
	e.sampler.held += time.Since(began)
	return err
}

// wait puts an item into an inbox that is full. Under the run's own context it need not watch for the end: the
// node behind the inbox goes on taking when the run is cancelled.
func (e *emitter) wait(ctx context.Context, it *Item, target *inbox) error {
	run := e.node.run.ctx
	if ctx == run {
		target.put(it, nil, nil)
		return nil
	}
	if target.put(it, run.Done(), ctx.Done()) {
		return nil
	}
	return cmp.Or(run.Err(), ctx.Err())
}

func (n *node) hasPort(name string) bool {
	return name == errorsPort || slices.ContainsFunc(n.stage.Ports(), func(p Port) bool { return p.Name == name })
}
