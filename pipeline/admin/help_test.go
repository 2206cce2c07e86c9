package admin

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// toyOptions hold what the page must show, and what it must not.
type toyOptions struct {
	Note  string          `toml:"note" doc:"anything"`
	Token pipeline.Secret `toml:"token" doc:"what nobody is to see"`
}

// toyQueue hands out numbers again and again, and counts what comes back.
type toyQueue struct {
	env  *pipeline.Env
	mu   sync.Mutex
	next int
}

func (q *toyQueue) Put(context.Context, *pipeline.Item) error { return nil }
func (q *toyQueue) Seal()                                     {}

func (q *toyQueue) Take(ctx context.Context) (pipeline.Lease, error) {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next++
	q.env.Counter("handed_out").Add(1)
	q.env.Level("queued").Store(1234)
	return toyLease(q.next), nil
}

type toyLease int

func (l toyLease) Item() *pipeline.Item { return &pipeline.Item{Value: "item"} }
func (toyLease) Done(pipeline.Outcome)  {}

// lagging is a source that never emits.
type lagging struct{}

func (lagging) Run(ctx context.Context, _ pipeline.Emitter) error { <-ctx.Done(); return nil }
func (lagging) Lag(context.Context) (int64, error)                { return 42, nil }

// busyGraph is a cycle that never ends: lagging > queue > work > end, work.links > queue.
func busyGraph(name string, options toyOptions) *pipeline.Graph {
	text := pipeline.KindOf[string]()
	registry := pipeline.NewRegistry()
	pipeline.RegisterIn(registry, pipeline.Spec{
		Type: "work", Summary: "works <hard> & long", In: pipeline.Kinds(text), Workers: 2,
		Out: []pipeline.Port{{Kind: text}, {Name: "links", Kind: text}},
	}, toyOptions{}, func(toyOptions, *pipeline.Env) (any, error) {
		n := 0
		return worker(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			if n++; n%10 == 0 {
				return out.EmitTo(ctx, "links", it)
			}
			return out.Emit(ctx, it)
		}), nil
	})
	g := registry.NewGraph(name)
	g.Title = "a title with <markup> & \"quotes\""
	g.AddStage("behind", pipeline.Spec{Type: "behind", Out: []pipeline.Port{{Kind: text}}}, func(*pipeline.Env) (any, error) { return lagging{}, nil })
	g.AddStage("queue", pipeline.Spec{Type: "queue", In: pipeline.Kinds(text), Out: []pipeline.Port{{Kind: text}}, Queue: true},
		func(env *pipeline.Env) (any, error) { return &toyQueue{env: env}, nil })
	g.AddType("work", "work", options).Common.Workers = 1
	g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(text)}, func(*pipeline.Env) (any, error) {
		return worker(func(context.Context, *pipeline.Item, pipeline.Emitter) error { return nil }), nil
	})
	g.Wire("behind > queue > work > end", "work.links > queue")
	return g
}

type worker func(context.Context, *pipeline.Item, pipeline.Emitter) error

func (w worker) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return w(ctx, it, out)
}

// start runs a graph until the end of the test.
func start(t *testing.T, g *pipeline.Graph) *pipeline.Run {
	t.Helper()
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Cancel()
		<-run.Done()
	})
	return run
}

// awaitFlow waits until something has gone through all of a run.
func awaitFlow(t *testing.T, run *pipeline.Run) {
	t.Helper()
	for deadline := time.Now().Add(patience); run.Snapshot().Stages["end"].In == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing flows")
		}
	}
}

func contains(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}
