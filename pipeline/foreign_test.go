package pipeline

import (
	"context"
	"testing"

	"github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
)

func TestGoStreamsConnectorsAreStages(t *testing.T) {
	in, out := make(chan any), make(chan any, 100)
	go func() {
		for i := range 100 {
			in <- i
		}
		close(in)
	}()
	twice := FromFlow(func() streams.Flow { return flow.NewMap(func(i int) int { return 2 * i }, 1) })
	mustRun(t, build().add("source", FromSource(ext.NewChanSource(in))).add("twice", twice).
		add("sink", FromSink(ext.NewChanSink(out))).chain("source", "twice", "sink"), RunOptions{})
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
	drop := FromFlow(func() streams.Flow { return flow.NewFilter(func(int) bool { return false }, 1) })
	mustRun(t, build().add("numbers", count{50, ends.add}).add("filter", drop).add("sink", &collected{}).
		chain("numbers", "filter", "sink"), RunOptions{})
	ends.mustEndOnce(t, 50) // what the operator drops is acknowledged all the same
}

func TestCancelledEmbeddedGraphLeavesItsProgramFree(t *testing.T) {
	stuck := process(func(ctx context.Context, _ *Item, _ Emitter) error { <-ctx.Done(); return ctx.Err() })
	f, run, err := build().add("stuck", stuck).g.Flow(t.Context(), RunOptions{}, "stuck", "stuck")
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

func TestNodesAreConnectedWithoutACopy(t *testing.T) {
	t.Parallel()
	r := &Run{}
	a, b := &node{run: r, ports: map[string]*outlet{}}, &node{run: r, in: newInbox(1)}
	if a.Via(b) != streams.Flow(b) || a.ports[""].targets[0] != b.in {
		t.Error("what leads out of the first node does not end in front of the second")
	}
}

func TestANodeStandsInAStreamOfGoStreams(t *testing.T) {
	t.Parallel()
	r := build().g.newRun(t.Context(), RunOptions{})
	n := &node{run: r, in: newInbox(2), ports: map[string]*outlet{}}
	values := make(chan any)
	go func() {
		defer close(values)
		for i := range 100 {
			values <- i
		}
	}()
	out := ext.NewChanSource(values).Via(n).Out()
	go func() { // what a stage does that passes items on
		defer n.tellEnd()
		out := n.newEmitter()
		for one := make([]*Item, 1); n.in.take(one) > 0; {
			out.lineage = one[0].lineage
			one[0].lineage.done(out.Emit(r.ctx, one[0]))
		}
	}()
	next := 0
	for value := range out {
		if value != next {
			t.Errorf("%v, want %d", value, next)
		}
		next++
	}
	if next != 100 || !r.flight.isZero() {
		t.Errorf("%d values of 100; nothing in flight: %t", next, r.flight.isZero())
	}
}

func TestUnknownEntryOfAnEmbeddedGraph(t *testing.T) {
	if _, _, err := build().add("a", &collected{}).g.Flow(t.Context(), RunOptions{}, "a", "b"); err == nil {
		t.Error("no error for an exit that does not exist")
	}
}
