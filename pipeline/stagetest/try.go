package stagetest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// Result is what a stage made of its inputs.
type Result struct {
	Out      map[string][]any    // what left each port, in its order; "" is the default port
	Outcomes []pipeline.Outcome  // of the leases of the inputs, in the order of these; none for a source
	Failures []*pipeline.Failure // the inputs it failed on
	Counters map[string]int64    // what it counted
}

// Try runs the stage once on the inputs of the case, one at a time, and returns what came of them: for
// the tests of what a stage does, beside [Run] for what it owes. A stage that cannot be run, or that does
// not end, fails the test.
func Try(t testing.TB, c Case) *Result {
	t.Helper()
	c = c.withDefaults()
	r := &recorder{result: Result{Out: make(map[string][]any)}}
	run, err := r.graph(c).Start(t.Context(), pipeline.RunOptions{Resources: c.Resources})
	if err != nil {
		t.Fatalf("stage %s: %v", c.Type, err)
	}
	patience := time.NewTimer(c.Patience)
	defer patience.Stop()
	select {
	case <-run.Done():
	case <-patience.C:
		t.Fatalf("stage %s does not end within %v; holding items: %v", c.Type, c.Patience, run.Holding())
	}
	report, err := run.Wait()
	if err != nil && !errors.Is(err, pipeline.ErrEffect) { // which the outcomes tell as well
		t.Fatalf("stage %s: %v", c.Type, err)
	}
	r.result.Counters = maps.Clone(report.Stages["stage"].Counters)
	return &r.result
}

// recorder stands around the stage and writes down what it does.
type recorder struct {
	mu     sync.Mutex
	result Result
}

// graph is a source of the inputs, the stage, and a taker on every port.
func (r *recorder) graph(c Case) *pipeline.Graph {
	g := c.Registry.NewGraph("stagetest")
	stage := g.AddType("stage", c.Type, c.Options)
	stage.Common.Workers = 1
	if len(stage.Spec.In) > 0 {
		r.result.Outcomes = make([]pipeline.Outcome, len(c.Inputs))
		ports := []pipeline.Port{{Kind: pipeline.KindOf[any]()}}
		g.AddStage("feeder", pipeline.Spec{Type: "feeder", Out: ports}, func(*pipeline.Env) (any, error) { return r.feed(c.Inputs), nil })
		g.Connect("feeder", "", "stage")
	}
	take := func(name, port string, f func(any)) {
		g.AddStage(name, takerOf(name), func(*pipeline.Env) (any, error) { return recording{r, f}, nil })
		g.Connect("stage", port, name)
	}
	for _, port := range stage.Ports() {
		take("taker-"+port.Name, port.Name, func(v any) { r.result.Out[port.Name] = append(r.result.Out[port.Name], v) })
	}
	take("failures", "errors", func(v any) { r.result.Failures = append(r.result.Failures, v.(*pipeline.Failure)) })
	return g
}

func (r *recorder) feed(inputs []any) pipeline.Source {
	return feederFunc(func(ctx context.Context, out pipeline.Emitter) error {
		for i, v := range inputs {
			it := pipeline.NewItem(v, func(o pipeline.Outcome) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.result.Outcomes[i] = o
			})
			if err := out.Emit(ctx, it); err != nil {
				return err
			}
		}
		return nil
	})
}

// recording takes what leaves a port.
type recording struct {
	r    *recorder
	note func(any)
}

func (k recording) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	k.r.mu.Lock()
	defer k.r.mu.Unlock()
	k.note(it.Value)
	return nil
}

// takerOf describes a stage that takes what leaves a port: it makes use of all parts, so that the stage gives them, and
// needs none, so that it may stand behind any.
func takerOf(name string) pipeline.Spec {
	return pipeline.Spec{
		Type: name, In: pipeline.Kinds(pipeline.KindOf[any]()), Needs: pipeline.NoParts, Uses: []pipeline.Part{pipeline.AllParts},
	}
}
