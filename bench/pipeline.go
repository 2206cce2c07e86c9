package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
	"github.com/webrace/webrace/pipeline"
)

// The names of the contestants.
const (
	ours      = "webrace"
	bare      = "bare channels"
	goStreams = "go-streams"
)

// chanBuffer is what webrace puts in front of a stage by default; bare channels get the same.
const chanBuffer = 16

// benchPipeline measures what the framework itself costs: an item that passes a stage, and a page that
// goes round in the cycle of a crawl. No stage does any work worth mentioning.
func benchPipeline(b *bench) error {
	rounds, items, pages := 9, 200_000, 100_000
	if b.quick {
		rounds, items, pages = 5, 50_000, 30_000
	}
	costs, err := race(rounds, []contestant{
		{ours, func() error { return hopWebrace(items) }},
		{bare, func() error { return hopBare(items) }},
		{goStreams, func() error { return hopGoStreams(items) }},
	})
	if err != nil {
		return fmt.Errorf("hop: %w", err)
	}
	b.frameworkRows("hop", costs, items*hops, 1.5, 1.0/4)

	costs, err = race(rounds, []contestant{
		{ours, func() error { return cycleWebrace(pages) }},
		{bare, func() error { return cycleBare(pages) }},
		{goStreams, func() error { return cycleGoStreams(pages) }},
	})
	if err != nil {
		return fmt.Errorf("cycle: %w", err)
	}
	b.frameworkRows("cycle", costs, pages, 2, 1/2.5)
	return benchTools(b, rounds)
}

// frameworkRows adds what webrace took beside its rivals: the least CPU time, with the goals, then the
// median, then the least wall time.
func (b *bench) frameworkRows(what string, costs map[string][]cost, units int, bareGoal, goStreamsGoal float64) {
	type aspect struct {
		name  string
		pick  func([]cost, func(cost) time.Duration) time.Duration
		of    func(cost) time.Duration
		goals map[string]*goal
	}
	goals := map[string]*goal{bare: atMost(bareGoal), goStreams: atMost(goStreamsGoal)}
	for _, a := range []aspect{
		{"CPU min", best, cpuOf, goals}, {"CPU median", middle, cpuOf, nil}, {"wall min", best, wallOf, nil},
	} {
		per := func(name string) float64 { return float64(a.pick(costs[name], a.of).Nanoseconds()) / float64(units) }
		for _, rival := range []string{bare, goStreams} {
			name := fmt.Sprintf("%s, %s", what, a.name)
			b.table.against(name, per(ours), "ns", fmt.Sprintf("%s %.0f ns", rival, per(rival)), per(rival), a.goals[rival])
		}
	}
}

// hopStages is how many stages an item passes between its source and its end, and hops the edges it
// travels on.
const (
	hopStages = 8
	hops      = hopStages + 1
)

// parcel counts the stages it has passed.
type parcel struct {
	id     int
	passed int
}

// arrivals checks that every parcel comes once, having passed every stage.
type arrivals struct {
	seen  []bool
	count int
	wrong error
}

func newArrivals(items int) *arrivals { return &arrivals{seen: make([]bool, items)} }

func (a *arrivals) take(p *parcel) {
	if a.seen[p.id] || p.passed != hopStages {
		a.wrong = fmt.Errorf("parcel %d passed %d stages and was here before: %t", p.id, p.passed, a.seen[p.id])
	}
	a.seen[p.id] = true
	a.count++
}

func (a *arrivals) err() error {
	if a.wrong == nil && a.count != len(a.seen) {
		return fmt.Errorf("%d of %d parcels arrived", a.count, len(a.seen))
	}
	return a.wrong
}

func hopBare(items int) error {
	first := make(chan *parcel, chanBuffer)
	last := first
	for range hopStages {
		in, out := last, make(chan *parcel, chanBuffer)
		go func() {
			defer close(out)
			for p := range in {
				p.passed++
				out <- p
			}
		}()
		last = out
	}
	go func() {
		defer close(first)
		for id := range items {
			first <- &parcel{id: id}
		}
	}()
	arrived := newArrivals(items)
	for p := range last {
		arrived.take(p)
	}
	return arrived.err()
}

func hopGoStreams(items int) error {
	source := make(chan any)
	pass := func(p *parcel) *parcel {
		p.passed++
		return p
	}
	var last streams.Flow = extension.NewChanSource(source).Via(flow.NewMap(pass, 1))
	for range hopStages - 1 {
		last = last.Via(flow.NewMap(pass, 1))
	}
	go func() {
		defer close(source)
		for id := range items {
			source <- &parcel{id: id}
		}
	}()
	arrived := newArrivals(items)
	for p := range last.Out() {
		arrived.take(p.(*parcel))
	}
	return arrived.err()
}

// parcelSource emits parcels, each with a lease of its own, and counts the acks.
type parcelSource struct {
	items int
	acks  []int8
}

func (s *parcelSource) Run(ctx context.Context, out pipeline.Emitter) error {
	for id := range s.items {
		it := pipeline.NewItem(&parcel{id: id}, func(o pipeline.Outcome) {
			if o.Err == nil {
				s.acks[id]++
			}
		})
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// processor is a Processor from a function.
type processor func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error

func (f processor) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return f(ctx, it, out)
}

func pass(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	it.Value.(*parcel).passed++
	return out.Emit(ctx, it)
}

func hopWebrace(items int) error {
	source := &parcelSource{items: items, acks: make([]int8, items)}
	arrived := newArrivals(items)
	g := pipeline.NewGraph("hop")
	kind := pipeline.KindOf[*parcel]()
	addStage(g, "source", kind, source)
	for i := range hopStages {
		addStage(g, fmt.Sprintf("pass%d", i), kind, processor(pass))
		g.Wire(fmt.Sprintf("%s > pass%d", hopBefore(i), i))
	}
	addStage(g, "end", kind, processor(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
		arrived.take(it.Value.(*parcel))
		return nil
	}))
	g.Wire(fmt.Sprintf("pass%d > end", hopStages-1))
	if err := runGraph(g); err != nil {
		return err
	}
	for id, n := range source.acks {
		if n != 1 {
			return fmt.Errorf("parcel %d was acknowledged %d times", id, n)
		}
	}
	return arrived.err()
}

func hopBefore(i int) string {
	if i == 0 {
		return "source"
	}
	return fmt.Sprintf("pass%d", i-1)
}

// addStage adds a stage that takes and gives one kind; sources take nothing.
func addStage(g *pipeline.Graph, name string, kind pipeline.Kind, impl any) *pipeline.Stage {
	spec := pipeline.Spec{Type: name, Summary: name, Out: []pipeline.Port{{Kind: kind}}}
	if _, source := impl.(pipeline.Source); !source {
		spec.In = pipeline.Kinds(kind)
	}
	_, spec.Queue = impl.(pipeline.Queue)
	if name == "end" {
		spec.Out = nil
	}
	return g.AddStage(name, spec, func(*pipeline.Env) (any, error) { return impl, nil })
}

func runGraph(g *pipeline.Graph) error {
	if err := g.Check(); err != nil {
		return err
	}
	_, err := g.Run(context.Background(), pipeline.RunOptions{})
	return err
}
