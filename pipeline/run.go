package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// RunOptions is what a run has at its disposal.
type RunOptions struct {
	Resources   *Resources      // what stages find by [Resource]; may be nil
	Logger      *slog.Logger    // nil: nothing is logged
	DeadLetters DeadLetters     // where failed items go; nil: a failed item ends the run
	Continuous  bool            // sources go on until the run is drained
	Upstream    <-chan struct{} // closed when nothing in this process feeds followers any more; nil: already so
	Tracer      Tracer          // follows leases; nil: none does
	Memory      *Memory         // that what flows takes from; nil: without limit
	Dry         *Dry            // shows what the run would do outside; nil: it does so

	// Elsewhere reports which sources another run of the pipeline has, by [Spec.Once] and [Spec.PerProcess]: here they
	// give nothing. Nil: none.
	Elsewhere func(Spec) bool

	// Together is what those other runs have in common with this one that are in the same process; nil: it is alone.
	Together *Together

	// Around puts the graph, and those that a reload brings, between other stages, as in a program that feeds it; nil:
	// they run as they are.
	Around func(*Graph) (*Graph, error)
}

func (o RunOptions) around(g *Graph) (*Graph, error) {
	if o.Elsewhere != nil {
		g = g.leaving(o.Elsewhere)
	}
	if o.Around != nil {
		var err error
		if g, err = o.Around(g); err != nil {
			return nil, err
		}
	}
	if o.Dry != nil {
		return o.Dry.over(g)
	}
	return g, nil
}

// Run is a pipeline that is running.
type Run struct {
	options RunOptions
	logger  *slog.Logger
	started time.Time

	layout sync.RWMutex // held to read what a reload changes, and by the reload
	graph  *Graph
	nodes  []*node
	byName map[string]*node

	wiring     sync.Mutex // held to tell nodes that one before them has ended, and to change what is before them
	rewiring   bool       // they are told later
	generation *generation

	reloading     sync.Mutex // held by a reload
	over          bool       // nothing goes on any more
	late          []error    // what went wrong when replaced stages were closed
	reloads       atomic.Int64
	failedReloads atomic.Int64

	ctx      context.Context // ends when the run is cancelled or has failed
	cancel   context.CancelCauseFunc
	drainCtx context.Context // ends when the run drains: sources and queues stop handing out
	drain    context.CancelFunc
	drained  pointer.Atomic[string] // why a stage has had it drain; nil: none has

	valves valveControl // of sources and queues
	states states       // of the stages

	lost          atomic.Int64 // items that were not dealt with, and whose source does not wait for their end
	giving, given atomic.Int64 // items of a dry run: that were, or are about to be

	fed bool // it is seen to that no queue starves; guarded by wiring

	routines inFlight      // every goroutine of the run
	flight   inFlight      // every lease that has not ended, and every source and queue that may be about to hand one out
	done     chan struct{} // closed when all is over and report and err are set
	report   *Report
	err      error
}

// Run starts the graph and waits for its end.
func (g *Graph) Run(ctx context.Context, o RunOptions) (*Report, error) {
	run, err := g.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return run.Wait()
}

// Start makes and opens every stage, then sets the graph going. When one of them cannot be made or
// opened, those already made are closed again and nothing has flowed. Cancelling ctx ends the run at
// once: what is in flight goes back to where it came from. [Run.Drain] ends it gently.
func (g *Graph) Start(ctx context.Context, o RunOptions) (*Run, error) {
	g, err := o.around(g)
	if err != nil {
		return nil, err
	}
	r := g.newRun(ctx, o)
	err = r.makeNodes()
	if err == nil {
		err = r.openStages()
	}
	var replays []replay
	if err == nil {
		replays, err = r.takeReplays()
	}
	if err != nil {
		r.cancel(err)
		return nil, errors.Join(err, r.closeStages())
	}
	r.started = time.Now()
	r.startNodes(replays)
	go r.finish()
	return r, nil
}

// newRun returns a run that has not begun.
func (g *Graph) newRun(ctx context.Context, o RunOptions) *Run {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Resources = cmp.Or(o.Resources, new(Resources))
	if o.Upstream == nil {
		nothing := make(chan struct{})
		close(nothing)
		o.Upstream = nothing
	}
	r := &Run{
		graph: g, options: o, byName: make(map[string]*node), done: make(chan struct{}),
		logger: o.Logger.With("pipeline", g.Name),
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.drainCtx, r.drain = context.WithCancel(r.ctx)
	r.hold(open)
	return r
}

func (r *Run) makeNodes() error {
	for _, stage := range r.graph.Stages {
		n, err := newNode(r, stage)
		if err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
		r.byName[stage.Name] = n
	}
	return r.graph.checkEdges()
}

func (r *Run) openStages() error {
	for _, n := range r.nodes {
		if err := n.open(r.ctx); err != nil {
			return err
		}
	}
	return nil
}

// startNodes sets everything going for the first time.
func (r *Run) startNodes(replays []replay) {
	r.wiring.Lock()
	defer r.wiring.Unlock()
	r.wire()
	r.startReplays(replays)
	r.startGeneration()
}

// spawn runs f as one of the run's goroutines.
func (r *Run) spawn(f func()) {
	r.routines.add()
	go func() {
		defer r.routines.done()
		f()
	}()
}

// settle ends the run if a lease ended with an error that no policy took care of: an effect that a stage was
// waiting for has failed.
func (r *Run) settle(o Outcome, queued bool) {
	if o.Err == nil || r.ctx.Err() != nil || queued && !o.RetryAt.IsZero() {
		return
	}
	if r.drainCtx.Err() != nil && errors.Is(o.Err, context.Canceled) {
		return
	}
	r.fail(fmt.Errorf("%w: %w", ErrEffect, o.Err))
}

// finish waits for the end of everything, closes the stages and publishes the result. A cancelled run does
// not wait for the effects that stages still hold items for: what was not acknowledged will be done again.
func (r *Run) finish() {
	r.awaitRoutines()
	_ = r.flight.wait(r.ctx)
	err := context.Cause(r.ctx)
	r.err = errors.Join(err, r.closeStages(), errors.Join(r.late...))
	r.report = r.Snapshot() // after closing: some stages count their last things then
	r.cancel(nil)
	close(r.done)
}

// awaitRoutines waits until nothing goes on, nor will: a reload that is under way sets everything going again.
func (r *Run) awaitRoutines() {
	for !r.over {
		_ = r.routines.wait(context.Background())
		r.reloading.Lock()
		r.over = r.routines.isZero()
		r.reloading.Unlock()
	}
}

func (r *Run) closeStages() error {
	var errs []error
	for _, n := range slices.Backward(r.nodes) {
		errs = append(errs, n.close())
	}
	return errors.Join(errs...)
}

// fail ends the run with an error; the first one counts.
func (r *Run) fail(err error) { r.cancel(err) }

// Drain ends the run gently: sources and queues hand out nothing more, and what is in flight is finished.
func (r *Run) Drain() { r.drain() }

// drainFor is Drain for a reason. The first counts, and none once the run drains.
func (r *Run) drainFor(reason string) {
	if r.drainCtx.Err() == nil && pointer.CompareAndSwap(&r.drained, nil, &reason) {
		r.logger.Info("finishing what is in flight", "reason", reason)
		r.Drain()
	}
}

// Draining is closed when the run ends or was told to.
func (r *Run) Draining() <-chan struct{} { return r.drainCtx.Done() }

// Cancel ends the run at once. What is in flight counts as not done.
func (r *Run) Cancel() { r.cancel(context.Canceled) }

// Done is closed when the run has ended and its stages are closed.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the end of the run and returns its report, with the error that ended it before its
// time: the cause of its cancellation, or the failure of a stage.
func (r *Run) Wait() (*Report, error) {
	<-r.done
	return r.report, r.err
}

// Graph returns what is running.
func (r *Run) Graph() *Graph {
	r.layout.RLock()
	defer r.layout.RUnlock()
	return r.graph
}

// Memory returns the budget that the run takes from; nil without one.
func (r *Run) Memory() *Memory { return r.options.Memory }

// Holding names the stages that have items in front of them or in work, in the order of the flow, and of a run that
// drains the sources that have not ended: what it waits for.
func (r *Run) Holding() []string {
	r.layout.RLock()
	defer r.layout.RUnlock()
	var names []string
	draining := r.drainCtx.Err() != nil
	for _, n := range r.nodes {
		if n.holding() || draining && n.producing.Load() {
			names = append(names, n.name)
		}
	}
	return names
}
