package pipeline

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/internal/pointer"
)

const defaultBuffer = 16

// errorsPort is the port that every stage has for the items it failed on.
const errorsPort = "errors"

// node runs one stage of a graph: it owns the inbox in front of the stage, and its workers put what the stage
// emits into the inboxes of the nodes that follow.
type node struct {
	run   *Run
	name  string
	stage *Stage
	env   *Env
	impl  any
	queue Queue // impl, when it is one

	in        *inbox             // closed when all producers have ended
	ports     map[string]*outlet // where each output port leads
	producers atomic.Int32       // nodes that may still send to in
	externals atomic.Int32       // those of them outside the node's own cycle; the queue is sealed when none is left
	external  map[*node]bool
	counted   atomic.Bool    // what it gives counts as the items of a dry run
	receiving sync.Mutex     // makes it one step to receive items and to count them in puts
	puts      sync.WaitGroup // items received and not yet put

	// What follows outlives a reload, which the stage may go through as it is.
	ended   bool     // a source that is exhausted, a queue that has nothing left, a keeper that has released all
	closed  bool     // in is
	sealed  bool     // the queue has been told
	running *running // of a source or keeper that has been started

	calls   pointer.Atomic[calls] // of a sink; nil: it is none
	working *sync.WaitGroup       // its workers
	hurried broadcast.Cond        // groups do not wait to be full any more
	turns   pointer.Atomic[turns] // of the workers; nil if each takes what comes
	permits chan struct{}         // what a call takes a place in; nil: none is needed

	stats     stats
	busy      atomic.Int32 // calls under way, each with an item or a group
	producing atomic.Bool  // a source runs, which may wait for as long as it likes: nothing is in work for that
	taps      taps
	branch    branch     // of the items that a call makes of one, besides the first
	check     *partCheck // nil: the stage needs no parts; set when the nodes are wired
}

// outlet is an output port in use.
type outlet struct {
	targets []*inbox
	nodes   []*node // the nodes behind the targets, which have to be told of the end
	meet    bool    // some of them lead to the same stage, which is to know the items that come by one from those of another
}

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
	n.branch = branch(0).named(stage.Name)
	n.env = &Env{
		Pipeline: r.graph.Name, Stage: stage.Name, Workers: n.workers(),
		Logger:     r.logger.With("stage", stage.Name),
		Continuous: r.options.Continuous, Dry: r.options.Dry != nil, Upstream: r.options.Upstream,
		resources: r.options.Resources, counters: newCounters(), run: r,
	}
	n.in = n.newInbox()
	n.permits = r.options.Together.permitsOf(r.graph.Name, stage, n.workers())
	return n
}

func (n *node) make() error {
	err := n.guarded(func() (err error) {
		n.impl, err = n.stage.Make(n.env)
		return err
	})
	if err != nil {
		return fmt.Errorf("make stage %s: %w", n.name, err)
	}
	n.queue, _ = n.impl.(Queue)
	switch n.impl.(type) {
	case Queue, Source, BatchProcessor, Processor:
		return nil
	}
	return fmt.Errorf("make stage %s: %T is no Processor, BatchProcessor, Source or Queue", n.name, n.impl)
}

func (n *node) newInbox() *inbox {
	return newInbox(firstPositive(n.stage.Common.Buffer, defaultBuffer))
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

// start sets the stage's goroutines going. The last of them to end tells the nodes that follow.
func (n *node) start() {
	pointer.Store(&n.turns, nil)
	if n.stage.WorkersKey != nil && n.workers() > 1 {
		pointer.Store(&n.turns, newTurns(n.stage.WorkersKey, n.in.cap()))
	}
	switch impl := n.impl.(type) {
	case Queue:
		begins, ends := n.run.graph.shares(n.stage)
		if !begins { // nothing would close its inbox
			putting := n.workWith(n.put)
			if ends {
				n.thenEnd(putting)
				return
			}
		}
		if !n.ended {
			n.run.work(n.takeAll)
		}
	case Source:
		n.startSource(impl)
	case BatchProcessor:
		n.thenEnd(n.workWith(func() { n.collect(impl) }))
	case Keeper:
		n.keep(impl)
	case Processor:
		n.thenEnd(n.workWith(func() { n.work(n.checking(impl)) }))
	}
}

// workWith runs f in as many goroutines as the stage has workers; the result waits for them.
func (n *node) workWith(f func()) *sync.WaitGroup {
	var group sync.WaitGroup
	n.working = &group
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

// waiting returns how many items have come and not been given to the stage; of what a worker has taken at
// once, those that it has dealt with are among them until it is through.
func (n *node) waiting() int {
	given := n.stats.in.Load() // first, so that it is no more than what was taken
	return n.in.len() + pointer.Load(&n.turns).parked() + int(n.stats.taken.Load()-given)
}

// holding reports whether the node has items in front of the stage or in it.
func (n *node) holding() bool { return n.waiting() > 0 || n.busy.Load() > 0 }

func (n *node) open(ctx context.Context) error {
	opener, ok := n.impl.(Opener)
	if !ok {
		return nil
	}
	if err := n.guarded(func() error { return opener.Open(ctx) }); err != nil {
		return fmt.Errorf("open stage %s: %w", n.name, err)
	}
	return nil
}

func (n *node) close() error {
	closer, ok := n.impl.(Closer)
	if !ok {
		return nil
	}
	if err := n.guarded(closer.Close); err != nil {
		return fmt.Errorf("close stage %s: %w", n.name, err)
	}
	return nil
}

// newLease returns a lease that the run waits for before it closes the stages.
func (n *node) newLease(lease Lease) *lease {
	l := newLease(lease)
	n.adopt(l)
	return l
}

// adopt makes a lease one of the run, which waits for it.
func (n *node) adopt(l *lease) {
	n.run.flight.add()
	l.from = n
	n.run.follow(l)
}
