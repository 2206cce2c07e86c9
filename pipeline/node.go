package pipeline

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"
)

const defaultBuffer = 16

// errorsPort is the port that every stage has for the items it failed on.
const errorsPort = "errors"

// node runs one stage of a graph: it owns the channel in front of the stage, and its workers send to the
// channels of the nodes that follow. It is a go-streams Flow, so that it can stand in a stream of
// go-streams' own; between two nodes the channel is handed over and nothing is copied.
type node struct {
	run   *Run
	name  string
	stage *Stage
	env   *Env
	impl  any
	queue Queue // impl, when it is one

	in        chan any           // *Item, or a value from a foreign go-streams stage; closed when all producers have ended
	ports     map[string]*outlet // where each output port leads
	producers atomic.Int32       // nodes that may still send to in
	externals atomic.Int32       // those of them outside the node's own cycle; the queue is sealed when none is left
	external  map[*node]bool
	receiving sync.Mutex     // makes it one step to receive an item and to count it in puts
	puts      sync.WaitGroup // items received and not yet put

	// What follows outlives a reload, which the stage may go through as it is.
	ended    bool         // a source that is exhausted, a queue that has nothing left, an operator that gives nothing more
	closed   bool         // in is
	sealed   bool         // the queue has been told
	running  *running     // of a source or keeper that has been started
	operator streams.Flow // of a go-streams operator that has been started; nil before
	finished bool         // the operator has been told that nothing more comes

	stats stats
	busy  atomic.Int32
	taps  taps
}

// outlet is an output port in use.
type outlet struct {
	targets []chan<- any
	nodes   []*node // the nodes behind the targets that have to be told of the end
}

var _ streams.Flow = (*node)(nil)

// running is a source under way, or the Release of a keeper.
type running struct {
	ctx   context.Context // ends when it is to stop
	stop  context.CancelFunc
	ended chan struct{} // closed when it has
	over  func()        // tells a keeper that nothing more will come; nil for a source
}

func newNode(r *Run, stage *Stage) (*node, error) {
	n := prepareNode(r, stage)
	return n, n.make()
}

// prepareNode returns a node whose stage is still to be made.
func prepareNode(r *Run, stage *Stage) *node {
	n := &node{run: r, name: stage.Name, stage: stage, ports: make(map[string]*outlet), external: make(map[*node]bool)}
	n.env = &Env{
		Pipeline: r.graph.Name, Stage: stage.Name, Workers: n.workers(),
		Logger:     r.logger.With("stage", stage.Name),
		Continuous: r.options.Continuous, Upstream: r.options.Upstream,
		resources: r.options.Resources, counters: newCounters(), run: r,
	}
	n.in = n.newChannel()
	return n
}

func (n *node) make() error {
	impl, err := n.stage.Make(n.env)
	if err != nil {
		return fmt.Errorf("make stage %s: %w", n.name, err)
	}
	n.impl = impl
	n.queue, _ = impl.(Queue)
	switch impl.(type) {
	case Queue, Source, FlowStage, BatchProcessor, Processor:
		return nil
	}
	return fmt.Errorf("make stage %s: %T is no Processor, BatchProcessor, Source, Queue or FlowStage", n.name, impl)
}

func (n *node) newChannel() chan any {
	return make(chan any, firstPositive(n.stage.Common.Buffer, defaultBuffer))
}

func (n *node) workers() int {
	return firstPositive(n.stage.Common.Workers, n.stage.Spec.Workers, 1)
}

// connect makes port lead to another node.
func (n *node) connect(port string, to *node) {
	o := n.outlet(port)
	o.targets = append(o.targets, to.in)
	o.nodes = append(o.nodes, to)
	to.producers.Add(1)
}

func (n *node) outlet(port string) *outlet {
	o := n.ports[port]
	if o == nil {
		o = new(outlet)
		n.ports[port] = o
	}
	return o
}

// In returns the channel in front of the stage.
func (n *node) In() chan<- any { return n.in }

// Out returns a channel of the values, not items, that leave the default port.
func (n *node) Out() <-chan any {
	items, values := make(chan any, cap(n.in)), make(chan any)
	o := n.outlet("")
	o.targets = append(o.targets, items)
	o.nodes = append(o.nodes, &node{in: items})
	o.nodes[len(o.nodes)-1].producers.Add(1)
	n.run.spawn(func() {
		defer close(values)
		for e := range items {
			it := e.(*Item)
			select {
			case values <- it.Value:
				it.lineage.done(nil)
			case <-n.run.ctx.Done():
				it.lineage.done(n.run.ctx.Err())
			}
		}
	})
	return values
}

// Via leads the default port to the next flow.
func (n *node) Via(next streams.Flow) streams.Flow {
	if to, ok := next.(*node); ok {
		n.connect("", to)
		return next
	}
	flow.DoStream(n, next)
	return next
}

// To leads the default port to a sink.
func (n *node) To(sink streams.Sink) { flow.DoStream(n, sink) }

// start sets the stage's goroutines going. The last of them to end tells the nodes that follow.
func (n *node) start() {
	switch impl := n.impl.(type) {
	case Queue:
		n.workWith(n.put)
		if !n.ended {
			n.run.work(n.takeAll)
		}
	case Source:
		n.startSource(impl)
	case FlowStage:
		n.runForeign(impl)
	case BatchProcessor:
		n.thenEnd(n.workWith(func() { n.collect(impl) }))
	case Keeper:
		n.keep(impl)
	case Processor:
		n.thenEnd(n.workWith(func() { n.work(impl) }))
	}
}

// workWith runs f in as many goroutines as the stage has workers; the result waits for them.
func (n *node) workWith(f func()) *sync.WaitGroup {
	var group sync.WaitGroup
	for range n.workers() {
		group.Add(1)
		n.run.work(func() {
			defer group.Done()
			f()
		})
	}
	return &group
}

func (n *node) thenEnd(workers *sync.WaitGroup) {
	n.run.work(func() {
		workers.Wait()
		n.end()
	})
}

// work processes items until the channel is closed. When the run is cancelled it only empties the
// channel, so that nobody waits for it.
func (n *node) work(p Processor) {
	out, one, process := n.newEmitter(), make([]*Item, 1), call(processCall{p})
	for e := range n.in {
		one[0] = n.item(e)
		n.handle(process, one, out)
	}
}

// handle calls the stage with one item, which is all that its holds, and ends it.
func (n *node) handle(c call, its []*Item, out *emitter) {
	lineage := its[0].lineage
	if err := n.run.ctx.Err(); err != nil {
		lineage.done(err)
		return
	}
	out.lineage = lineage
	lineage.done(n.measured(c, its, out))
}

// measured is attempt with the time it took and the stage shown as busy.
func (n *node) measured(c call, its []*Item, out *emitter) error {
	n.busy.Add(1)
	began := n.stats.begin(&out.sampler)
	var since time.Time
	if n.run.options.Tracer != nil {
		since = time.Now()
	}
	err := n.attempt(c, its, out) // which does not panic
	if !since.IsZero() {
		n.traced(its, since)
	}
	n.stats.end(&out.sampler, began)
	n.busy.Add(-1)
	return err
}

// item returns what came in as an item; a bare value comes from a go-streams stage and gets a lease of
// its own.
func (n *node) item(e any) *Item {
	n.stats.in.Add(1)
	it, ok := e.(*Item)
	if !ok {
		it = &Item{Value: e, lineage: n.run.newLease(nil, nil)}
	}
	n.taps.see(it, TapInput)
	return it
}
