package gostreams

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/reugn/go-streams"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

// FromSource makes a source of a go-streams source. A draining run stops reading from it; go-streams has
// no way to tell the source so.
func FromSource(source streams.Source) pipeline.Source { return &foreignSource{source: source} }

type foreignSource struct {
	make   func() (streams.Source, error) // nil: it is there
	source streams.Outlet
}

func (s *foreignSource) Open(context.Context) (err error) {
	if s.make != nil {
		s.source, err = s.make()
	}
	return err
}

func (s *foreignSource) Run(ctx context.Context, out pipeline.Emitter) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case value, ok := <-s.source.Out():
			if !ok {
				return nil
			}
			if err := out.Emit(ctx, &pipeline.Item{Value: value}); err != nil {
				return err
			}
		}
	}
}

// FromFlow makes a stage of a go-streams operator over values, or of a [Chain] of them. The function is called at
// least once a run, because an operator can be used only once. Such an operator carries no leases and reports no
// errors: items are acknowledged where they enter it, so that what it holds when the process dies is lost, and a
// reload can neither change it nor take it out. Values go in without their items, as their own ([codec.Own]), and
// what comes out has a lease of its own. See [Items] for operators that keep leases.
func FromFlow(operator func() streams.Flow) pipeline.Keeper { return &foreignFlow{make: operator} }

type foreignFlow struct {
	inputs
	make func() streams.Flow

	mu       sync.Mutex
	operator streams.Flow // nil: none is in use
}

var _ pipeline.Unreloadable = (*foreignFlow)(nil)

// Unreloadable returns what the stage is, for the error of a reload that would change it.
func (*foreignFlow) Unreloadable() string { return "a go-streams operator" }

func (s *foreignFlow) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	if err := s.check(it); err != nil {
		return err
	}
	return give(ctx, s.use().In(), it)
}

func (s *foreignFlow) use() streams.Flow {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.operator == nil {
		s.operator = s.make()
	}
	return s.operator
}

// Release emits what comes out. Of a run that is cancelled it only takes it, so that the operator can end.
func (s *foreignFlow) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter) error {
	operator := s.use()
	go func() {
		<-ended
		s.mu.Lock()
		defer s.mu.Unlock()
		s.operator = nil
		close(operator.In())
	}()
	for value := range operator.Out() {
		if ctx.Err() == nil {
			_ = out.Emit(ctx, &pipeline.Item{Value: value}) // fails only when the run is cancelled
		}
	}
	return ctx.Err()
}

// FromSink makes a stage of a go-streams sink. Items are acknowledged when the sink has taken them, and
// the sink is awaited when the stage is closed.
func FromSink(sink streams.Sink) pipeline.Processor { return &foreignSink{sink: sink} }

type foreignSink struct {
	inputs
	make func() (streams.Sink, error) // nil: it is there
	sink streams.Sink                 // nil: it is not there yet, or closed
}

func (s *foreignSink) Open(context.Context) (err error) {
	if s.make != nil {
		s.sink, err = s.make()
	}
	return err
}

func (s *foreignSink) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	if err := s.check(it); err != nil {
		return err
	}
	return give(ctx, s.sink.In(), it)
}

// give sends a value that is its own: it leaves its lease behind, and so what it borrows from that ([codec.Own]).
func give(ctx context.Context, to chan<- any, it *pipeline.Item) error {
	select {
	case to <- codec.Own(it.Value):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *foreignSink) Close() error {
	if s.sink != nil {
		close(s.sink.In())
		s.sink.AwaitCompletion()
		s.sink = nil
	}
	return nil
}

// Flow starts a graph as an operator of a go-streams program: values sent to the flow enter the stage
// named entry, and those that leave the default port of the stage named exit come out. The graph's own
// sources run beside them. The flow ends when its input is closed and the graph has ended; Run.Wait then
// tells how.
func Flow(ctx context.Context, g *pipeline.Graph, o pipeline.RunOptions, entry, exit string) (streams.Flow, *pipeline.Run, error) {
	f := &embedded{channels: newChannels(), entry: entry, exit: exit}
	o.Around = f.around
	run, err := g.Start(ctx, o)
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
	channels
	entry, exit string
}

// around puts a graph between the two channels.
func (f *embedded) around(g *pipeline.Graph) (*pipeline.Graph, error) {
	for _, name := range []string{f.entry, f.exit} {
		if !slices.ContainsFunc(g.Stages, func(s *pipeline.Stage) bool { return s.Name == name }) {
			return nil, fmt.Errorf("pipeline %s has no stage %q", g.Name, name)
		}
	}
	const inlet, outlet = "(in)", "(out)"
	whole := *g
	whole.Stages = append([]*pipeline.Stage{f.inlet(inlet)}, g.Stages...)
	whole.Stages = append(whole.Stages, f.outlet(outlet))
	whole.Edges = append([]pipeline.Edge{{From: inlet, To: f.entry}, {From: f.exit, To: outlet}}, g.Edges...)
	return &whole, nil
}

func (f *embedded) inlet(name string) *pipeline.Stage {
	return &pipeline.Stage{Name: name, Make: func(*pipeline.Env) (any, error) { return &foreignSource{source: channels{out: f.in}}, nil }}
}

func (f *embedded) outlet(name string) *pipeline.Stage {
	return &pipeline.Stage{Name: name, Make: func(*pipeline.Env) (any, error) { return outletStage(f.out), nil }}
}

type outletStage chan any

func (s outletStage) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return give(ctx, s, it)
}

// channels are the two ends of an operator.
type channels struct{ in, out chan any }

var _ streams.Flow = channels{}

func newChannels() channels { return channels{make(chan any), make(chan any)} }

func (c channels) In() chan<- any  { return c.in }
func (c channels) Out() <-chan any { return c.out }

func (c channels) To(sink streams.Sink) {
	pump(c, sink)
	sink.AwaitCompletion()
}

func (c channels) Via(next streams.Flow) streams.Flow {
	go pump(c, next)
	return next
}

func pump(from streams.Outlet, to streams.Inlet) {
	for value := range from.Out() {
		to.In() <- value
	}
	close(to.In())
}
