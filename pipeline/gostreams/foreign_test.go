package gostreams_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/gostreams"
)

func TestGoStreamsConnectorsAreStages(t *testing.T) {
	in, out := make(chan any), make(chan any, 100)
	go func() {
		for i := range 100 {
			in <- i
		}
		close(in)
	}()
	twice := gostreams.FromFlow(func() streams.Flow { return flow.NewMap(func(i int) int { return 2 * i }, 1) })
	mustRun(t, build().add("source", gostreams.FromSource(ext.NewChanSource(in))).add("twice", twice).
		add("sink", gostreams.FromSink(ext.NewChanSink(out))).chain("source", "twice", "sink"), pipeline.RunOptions{})
	sum := 0
	for v := range out {
		sum += v.(int)
	}
	if sum != 2*99*100/2 {
		t.Errorf("sum %d", sum)
	}
}

func TestGoStreamsOperatorAcknowledgesAtItsEntry(t *testing.T) {
	ends := newOutcomes()
	drop := gostreams.FromFlow(func() streams.Flow { return flow.NewFilter(func(int) bool { return false }, 1) })
	mustRun(t, build().add("numbers", count{50, ends.add}).add("filter", drop).add("sink", &collected{}).
		chain("numbers", "filter", "sink"), pipeline.RunOptions{})
	ends.mustEndOnce(t, 50) // what the operator drops is acknowledged all the same
}

func TestCancelledEmbeddedGraphLeavesItsProgramFree(t *testing.T) {
	stuck := process(func(ctx context.Context, _ *pipeline.Item, _ pipeline.Emitter) error { <-ctx.Done(); return ctx.Err() })
	f, run, err := gostreams.Flow(t.Context(), build().add("stuck", stuck).g, pipeline.RunOptions{}, "stuck", "stuck")
	if err != nil {
		t.Fatal(err)
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		defer close(f.In())
		for i := range 100 {
			f.In() <- i
		}
	}()
	run.Cancel()
	for range f.Out() {
		t.Error("something came out")
	}
	<-fed
}

func TestAPipelineStandsInAStreamOfGoStreams(t *testing.T) {
	t.Parallel()
	values := make(chan any)
	go func() {
		defer close(values)
		for i := range 100 {
			values <- i
		}
	}()
	pass := process(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error { return out.Emit(ctx, it) })
	f, run, err := gostreams.Flow(t.Context(), build().add("pass", pass).g, pipeline.RunOptions{}, "pass", "pass")
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for value := range ext.NewChanSource(values).Via(f).Via(flow.NewPassThrough()).Out() {
		if value != next {
			t.Errorf("%v, want %d", value, next)
		}
		next++
	}
	if report, err := run.Wait(); next != 100 || err != nil || report.Stages["pass"].Out != 100 {
		t.Errorf("%d values of 100; the run ended with %v, %+v", next, err, report)
	}
}

func TestAPanicOfWhatMakesAnOperatorEndsTheRun(t *testing.T) {
	hostile := gostreams.FromFlow(func() streams.Flow { panic("boom") })
	_, err := build().add("numbers", count{n: 1}).add("hostile", hostile).add("sink", new(collected)).chain("numbers", "hostile", "sink").
		g.Run(t.Context(), pipeline.RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "stage hostile panicked: boom") {
		t.Errorf("the run ended with %v", err)
	}
}

func TestAReloadDoesNotTakeOutAnOperatorOverValues(t *testing.T) {
	graph := func(options string) graphOf {
		return build().add("numbers", ticking{}).add("operator", gostreams.FromFlow(func() streams.Flow { return flow.NewPassThrough() })).
			with(options).add("to", new(collected)).chain("numbers", "operator", "to")
	}
	run := graph("").started(t)
	_, err := run.Reload(t.Context(), graph("other").g)
	if err == nil || !strings.Contains(err.Error(), "stage operator is a go-streams operator, which cannot be changed or taken out") {
		t.Errorf("the reload is answered %v", err)
	}
	mustEnd(t, run)
}

func TestUnknownEntryOfAnEmbeddedGraph(t *testing.T) {
	if _, _, err := gostreams.Flow(t.Context(), build().add("a", &collected{}).g, pipeline.RunOptions{}, "a", "b"); err == nil {
		t.Error("no error for an exit that does not exist")
	}
}

func TestAnOperatorRunsOnThroughReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink collected
		graph := func(i int) graphOf {
			pass := process(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error { return out.Emit(ctx, it) })
			return build().add("from", ticking{}).add("pass", pass).with(i).
				add("operator", gostreams.FromFlow(func() streams.Flow { return flow.NewPassThrough() })).add("to", &sink).chain("from", "pass", "operator", "to")
		}
		run := graph(0).started(t)
		for i := range 20 {
			time.Sleep(10 * time.Millisecond)
			mustReload(t, run, graph(i+1))
		}
		mustEnd(t, run)
		for i, v := range sink.values {
			if v != i {
				t.Fatalf("value %d is %v", i, v)
			}
		}
		if len(sink.values) < 100 {
			t.Errorf("only %d values came through", len(sink.values))
		}
	})
}

func TestAnEmbeddedGraphIsReloaded(t *testing.T) {
	graph := func(i, factor int) *pipeline.Graph {
		return build().add("times", pipeline.Map(func(_ context.Context, n int) (int, error) { return n * factor, nil })).with(i).g
	}
	f, run, err := gostreams.Flow(t.Context(), graph(0, 2), pipeline.RunOptions{}, "times", "times")
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	var reading sync.WaitGroup
	reading.Go(func() {
		for v := range f.Out() {
			got = append(got, v)
		}
	})
	f.In() <- 1
	for run.Snapshot().Stages["(out)"].In == 0 {
		time.Sleep(100 * time.Microsecond)
	}
	if _, err := run.Reload(t.Context(), graph(1, 3)); err != nil {
		t.Fatal(err)
	}
	f.In() <- 1
	close(f.In())
	reading.Wait()
	if _, err := run.Wait(); err != nil || !slices.Equal(got, []any{2, 3}) {
		t.Errorf("out came %v, %v", got, err)
	}
	if _, err := run.Reload(t.Context(), build().add("other", new(collected)).g); err == nil {
		t.Error("a graph without the stage where values enter is taken")
	}
}
