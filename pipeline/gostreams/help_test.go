package gostreams_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// graphOf is a graph of stages that are in no registry.
type graphOf struct{ g *pipeline.Graph }

func build() graphOf { return graphOf{&pipeline.Graph{Name: "test"}} }

func (b graphOf) add(name string, impl any) graphOf {
	b.g.Stages = append(b.g.Stages, &pipeline.Stage{Name: name, Make: func(*pipeline.Env) (any, error) { return impl, nil }})
	return b
}

// with gives the last stage options, by which a reload knows it.
func (b graphOf) with(options any) graphOf {
	b.g.Stages[len(b.g.Stages)-1].Options = options
	return b
}

func (b graphOf) chain(names ...string) graphOf {
	for i := range names[1:] {
		b.g.Edges = append(b.g.Edges, pipeline.Edge{From: names[i], To: names[i+1]})
	}
	return b
}

func (b graphOf) started(t *testing.T) *pipeline.Run {
	t.Helper()
	run, err := b.g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func mustReload(t *testing.T, run *pipeline.Run, b graphOf) {
	t.Helper()
	if _, err := run.Reload(t.Context(), b.g); err != nil {
		t.Fatal(err)
	}
}

func mustEnd(t *testing.T, run *pipeline.Run) {
	t.Helper()
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
}

func mustRun(t *testing.T, b graphOf, o pipeline.RunOptions) *pipeline.Report {
	t.Helper()
	report, err := b.g.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

type sourceFunc func(context.Context, pipeline.Emitter) error

func (f sourceFunc) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

// count emits the numbers below it, each with a lease of its own whose outcomes go to ends.
type count struct {
	n    int
	ends func(int, pipeline.Outcome)
}

func (s count) Run(ctx context.Context, out pipeline.Emitter) error {
	for i := range s.n {
		it := pipeline.NewItem(i, func(o pipeline.Outcome) {
			if s.ends != nil {
				s.ends(i, o)
			}
		})
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// ticking emits a number every millisecond.
type ticking struct{}

func (ticking) Run(ctx context.Context, out pipeline.Emitter) error {
	for i := 0; ; i++ {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil
		}
		if err := out.Emit(ctx, &pipeline.Item{Value: i}); err != nil {
			return err
		}
	}
}

type process func(context.Context, *pipeline.Item, pipeline.Emitter) error

func (f process) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return f(ctx, it, out)
}

// collected gathers values.
type collected struct {
	mu     sync.Mutex
	values []any
}

func (c *collected) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values = append(c.values, it.Value)
	return nil
}

// outcomes gathers the outcomes of leases.
type outcomes struct {
	mu  sync.Mutex
	all map[int][]pipeline.Outcome
}

func newOutcomes() *outcomes { return &outcomes{all: make(map[int][]pipeline.Outcome)} }

func (o *outcomes) add(i int, outcome pipeline.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[i] = append(o.all[i], outcome)
}

func (o *outcomes) mustEndOnce(t *testing.T, n int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range n {
		if len(o.all[i]) != 1 {
			t.Fatalf("lease %d ended %d times, want once", i, len(o.all[i]))
		}
	}
}
