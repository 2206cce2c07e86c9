package pipeline

import (
	"context"
	"fmt"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"
)

// Values that go to go-streams leave their leases behind, and with them what they borrow: they are their own ([Own]).

// runForeign runs a go-streams operator as a stage: values go in without their items, and what comes out
// gets a lease of its own.
func (n *node) runForeign(stage FlowStage) {
	first := n.operator == nil
	if first {
		n.operator = n.flow(stage)
	}
	n.run.work(func() {
		for one := make([]*Item, 1); n.in.take(one) > 0; {
			n.gathered(one)
			n.feed(n.operator, one[0])
		}
		n.finishOperator()
	})
	if !first {
		return
	}
	n.run.spawn(func() {
		defer n.exhausted()
		out := n.newProducer(openToOperators, n.run.ctx.Done())
		for value := range n.operator.Out() {
			if n.run.ctx.Err() == nil {
				_ = out.Emit(n.run.ctx, &Item{Value: value}) // fails only when the run is cancelled
			}
		}
	})
}

// flow makes the operator. In the place of one that cannot be made stands one that passes everything on, until the
// run has ended.
func (n *node) flow(stage FlowStage) (operator streams.Flow) {
	err := n.guarded(func() error {
		operator = stage.Flow()
		return nil
	})
	if err != nil {
		n.run.failWith(err)
		return flow.NewPassThrough()
	}
	return operator
}

// finishOperator tells the operator that nothing more comes, unless the channel in front of it was closed for
// a reload.
func (n *node) finishOperator() {
	n.run.wiring.Lock()
	defer n.run.wiring.Unlock()
	if !n.run.rewiring && !n.finished {
		n.finished = true
		close(n.operator.In())
	}
}

func (n *node) feed(operator streams.Flow, it *Item) {
	err := n.guarded(func() error {
		select {
		case operator.In() <- Own(it.Value):
			return nil
		case <-n.run.ctx.Done():
			return n.run.ctx.Err()
		}
	})
	if _, panicked := err.(*PanicError); panicked {
		n.run.failWith(err)
	}
	it.lineage.done(err)
}

// FromFlow makes a stage of a go-streams operator or chain of operators. The function is called once a
// run, because an operator can be used only once.
func FromFlow(operator func() streams.Flow) FlowStage { return flowStage(operator) }

type flowStage func() streams.Flow

func (f flowStage) Flow() streams.Flow { return f() }

// FromSource makes a source of a go-streams source. A draining run stops reading from it; go-streams has
// no way to tell the source so.
func FromSource(source streams.Source) Source { return foreignSource{source} }

type foreignSource struct{ streams.Source }

func (s foreignSource) Run(ctx context.Context, out Emitter) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case value, ok := <-s.Out():
			if !ok {
				return nil
			}
			if err := out.Emit(ctx, &Item{Value: value}); err != nil {
				return err
			}
		}
	}
}

// FromSink makes a stage of a go-streams sink. Items are acknowledged when the sink has taken them, and
// the sink is awaited when the stage is closed.
func FromSink(sink streams.Sink) Processor { return &foreignSink{sink: sink} }

type foreignSink struct {
	sink   streams.Sink
	closed bool
}

func (s *foreignSink) Process(ctx context.Context, it *Item, _ Emitter) error {
	select {
	case s.sink.In() <- Own(it.Value):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *foreignSink) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.sink.In())
	s.sink.AwaitCompletion()
	return nil
}

// Flow starts the graph as an operator of a go-streams program: values sent to the flow enter the stage
// named entry, and those that leave the default port of the stage named exit come out. The graph's own
// sources run beside them. The flow ends when its input is closed and the graph has ended; Run.Wait then
// tells how.
func (g *Graph) Flow(ctx context.Context, o RunOptions, entry, exit string) (streams.Flow, *Run, error) {
	f := &embedded{in: make(chan any), out: make(chan any), entry: entry, exit: exit}
	whole, err := f.around(g)
	if err != nil {
		return nil, nil, err
	}
	run, err := whole.start(ctx, o, f.around)
	if err != nil {
		return nil, nil, err
	}
	go func() {
		<-run.Done()
		close(f.out)
		for range f.in { // a run that was cancelled must not leave the program that feeds it waiting
		}
	}()
	return f, run, nil
}

// embedded is a running graph seen from go-streams.
type embedded struct {
	in, out     chan any
	entry, exit string
}

// around puts a graph between the two channels.
func (f *embedded) around(g *Graph) (*Graph, error) {
	for _, name := range []string{f.entry, f.exit} {
		if g.stage(name) == nil {
			return nil, fmt.Errorf("pipeline %s has no stage %q", g.Name, name)
		}
	}
	const inlet, outlet = "(in)", "(out)"
	whole := *g
	whole.Stages = append([]*Stage{f.inlet(inlet)}, g.Stages...)
	whole.Stages = append(whole.Stages, f.outlet(outlet))
	whole.Edges = append([]Edge{{From: inlet, To: f.entry}, {From: f.exit, To: outlet}}, g.Edges...)
	return &whole, nil
}

var _ streams.Flow = (*embedded)(nil)

func (f *embedded) In() chan<- any    { return f.in }
func (f *embedded) Out() <-chan any   { return f.out }
func (f *embedded) To(s streams.Sink) { pump(f, s); s.AwaitCompletion() }

func (f *embedded) Via(next streams.Flow) streams.Flow {
	go pump(f, next)
	return next
}

func pump(from streams.Outlet, to streams.Inlet) {
	for value := range from.Out() {
		to.In() <- value
	}
	close(to.In())
}

func (f *embedded) inlet(name string) *Stage {
	return &Stage{Name: name, Make: func(*Env) (any, error) { return foreignSource{source(f.in)}, nil }}
}

func (f *embedded) outlet(name string) *Stage {
	return &Stage{Name: name, Make: func(*Env) (any, error) { return outletStage(f.out), nil }}
}

// source is a channel seen as a go-streams source.
type source chan any

func (s source) Out() <-chan any                    { return s }
func (s source) Via(next streams.Flow) streams.Flow { go pump(s, next); return next }

type outletStage chan any

func (s outletStage) Process(ctx context.Context, it *Item, _ Emitter) error {
	select {
	case s <- Own(it.Value):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
