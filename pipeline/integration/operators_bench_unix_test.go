//go:build unix

package integration

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/gostreams"
	"github.com/webrace/webrace/stages/batch"
	"github.com/webrace/webrace/stages/sample"
	"github.com/webrace/webrace/stages/throttle"
	"github.com/webrace/webrace/stages/window"
)

// BenchmarkOperators compares shipped stages with operators of go-streams in their places, by the processor time of an
// item. The time of the source and of the sink around them is that of "nothing".
func BenchmarkOperators(b *testing.B) {
	all := func(context.Context, *pipeline.Item) (bool, error) { return true, nil }
	long := pipeline.Duration(time.Minute)
	for _, c := range []struct {
		name, typ string
		options   any
		operator  func() any
	}{
		{name: "nothing"},
		{name: "sample", typ: "sample", options: sample.Options{Every: 1}},
		{name: "filter of go-streams", operator: func() any { return gostreams.Filter(all, 1) }},
		{name: "batch", typ: "batch", options: batch.Options{Count: 100, Period: long, MaxItems: 10_000, MaxKeys: 1000}},
		{name: "batch of go-streams", operator: func() any { return gostreams.Batch(100, time.Minute) }},
		{name: "window", typ: "window", options: window.Options{
			Size: pipeline.Duration(50 * time.Millisecond), Period: long, Aggregate: map[string]string{"n": "count"}, Hold: true, MaxItems: 100_000, MaxKeys: 10_000,
		}},
		{name: "window of go-streams", operator: func() any { return gostreams.Tumbling(50 * time.Millisecond) }},
		{name: "throttle", typ: "throttle", options: throttle.Options{Count: 1e9, Period: pipeline.Duration(time.Second), Burst: 1e9, Waiting: 64, MaxKeys: 1}},
		{name: "throttle of go-streams", operator: func() any { return gostreams.Throttle(1e9, time.Second) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := pipeline.NewGraph("bench")
			g.Stages = append(g.Stages, stageOf("numbers", numbers(b.N)), stageOf("end", nothing{}))
			switch {
			case c.typ != "":
				g.AddType("stage", c.typ, c.options)
			case c.operator != nil:
				g.Stages = append(g.Stages, stageOf("stage", c.operator()))
			}
			if len(g.Stages) == 3 {
				g.Edges = []pipeline.Edge{{From: "numbers", To: "stage"}, {From: "stage", To: "end"}}
			} else {
				g.Edges = []pipeline.Edge{{From: "numbers", To: "end"}}
			}
			before := processorTime()
			if _, err := g.Run(b.Context(), pipeline.RunOptions{}); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/item")
		})
	}
}

func stageOf(name string, impl any) *pipeline.Stage {
	return &pipeline.Stage{Name: name, Make: func(*pipeline.Env) (any, error) { return impl, nil }}
}

type numbers int

func (n numbers) Run(ctx context.Context, out pipeline.Emitter) error {
	for range n {
		if err := out.Emit(ctx, pipeline.NewItem(1, nil)); err != nil {
			return err
		}
	}
	return nil
}

type nothing struct{}

func (nothing) Process(context.Context, *pipeline.Item, pipeline.Emitter) error { return nil }

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
