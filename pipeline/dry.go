package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Dry makes a run one without effects outside: the stages are the real ones, but for those whose [Spec] names an
// effect. What comes to them is shown, and goes on at ports that pass on what the stage is given. Stores are what the
// program lends; it lends copies.
type Dry struct {
	// Items is after how many items the run drains: those that queues hand out, and that sources give which lead to no
	// queue. 0 has no limit.
	Items int64
	// Show is told what would be done with an item, and by which stage. Stages of a run call it at the same time.
	Show func(effect string, item Tapped)
}

// over returns the graph with stages that show in place of those that have an effect.
func (d *Dry) over(g *Graph) (*Graph, error) {
	dry := *g
	dry.Stages = slices.Clone(g.Stages)
	for i, s := range g.Stages {
		switch {
		case s.Spec.Effect == "":
			continue
		case s.IsSource() || s.Spec.Queue:
			return nil, fmt.Errorf("stage %s would %s: there is no dry run of it; webrace-run test runs the others with a fixture in its place", s.Name, s.Spec.Effect)
		}
		shows := *s
		shows.Spec.Batch, shows.Common.Workers = Batch{}, 1 // in the order in which they come
		shows.Make = func(env *Env) (any, error) { return &stub{dry: d, stage: &shows, env: env}, nil }
		dry.Stages[i] = &shows
	}
	return &dry, nil
}

// stub stands for a stage that has an effect.
type stub struct {
	dry   *Dry
	stage *Stage
	env   *Env
	shown int64
}

// Process shows the item, and passes it on where the stage would.
func (s *stub) Process(ctx context.Context, it *Item, out Emitter) error {
	s.shown++
	item := Tapped{Pipeline: s.env.Pipeline, Stage: s.env.Stage, Port: TapInput, Time: time.Now(), Number: s.shown}
	item.show(it, 0)
	s.dry.Show(s.stage.Spec.Effect, item)
	for _, port := range s.stage.Ports() {
		if port.Kind != SameAsInput {
			continue
		}
		emit := func() error { return out.EmitTo(ctx, port.Name, it) }
		if port.Name == "" {
			emit = func() error { return out.Emit(ctx, it) }
		}
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// errEnough gives a lease back to its queue: the items that a dry run is to have were handed out before.
var errEnough = errors.New("a dry run has had its items")

// findCounted finds what the items of a dry run are counted at: where they come in, which is the first queue on their
// way.
func (r *Run) findCounted() {
	if r.options.Dry == nil {
		return
	}
	behind := make(map[*node]bool) // a queue, without being one of its own cycle
	leads := make(map[*node]bool)  // to a queue
	for _, q := range r.nodes {
		if q.queue == nil || q.ends() {
			continue
		}
		inside := r.reachableFrom(q)
		for _, n := range r.nodes {
			if n == q {
				continue
			}
			behind[n] = behind[n] || inside[n]
			leads[n] = leads[n] || r.reachableFrom(n)[q]
		}
	}
	for _, n := range r.nodes {
		_, isSource := n.impl.(Source)
		n.counted.Store(n.queue != nil && !n.ends() && !behind[n] || isSource && !leads[n])
	}
}

// limited reports whether what the node gives are items of a dry run, of which there are only so many.
func (n *node) limited() bool {
	d := n.run.options.Dry
	return d != nil && d.Items > 0 && n.counted.Load()
}

// mayGive counts an item that the node is about to give, and reports whether it may.
func (n *node) mayGive() bool {
	return !n.limited() || n.run.giving.Add(1) <= n.run.options.Dry.Items
}

// gave drains a dry run when the last of its items is on its way.
func (n *node) gave() {
	if n.limited() && n.run.given.Add(1) == n.run.options.Dry.Items {
		n.run.drainFor(fmt.Sprintf("a dry run of %d items", n.run.options.Dry.Items))
	}
}
