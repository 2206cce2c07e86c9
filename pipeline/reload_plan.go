package pipeline

import (
	"fmt"
	"maps"
	"reflect"
)

// reload is a change of a run from one graph to another.
type reload struct {
	run    *Run
	graph  *Graph
	nodes  []*node          // of the stages of the graph; nil as long as they are to be made
	stages map[*node]*Stage // what those that are kept are from now on
	turned []*node          // those of them that are reconfigured
	made   []*node          // new ones
	gone   []*node          // old ones that are taken out, in the order of the flow
	change Change

	stopped []*node // sinks whose calls have been stopped
	open    []*node // of these, those that more may come to
}

// fate is what becomes of a stage.
type fate int8

const (
	kept fate = iota
	reconfigured
	replaced
)

// plan compares the graph that runs with another.
func (r *Run) plan(g *Graph) (*reload, error) {
	if g.Name != r.graph.Name {
		return nil, fmt.Errorf("the graph is one of pipeline %s", g.Name)
	}
	g, err := r.options.around(g)
	if err == nil {
		err = g.checkEdges()
	}
	if err != nil {
		return nil, err
	}
	l := &reload{run: r, graph: g, stages: make(map[*node]*Stage)}
	fates := r.fates(g)
	for _, stage := range g.Stages {
		l.place(stage, fates)
	}
	for _, n := range r.nodes {
		if _, stays := l.stages[n]; stays {
			continue
		}
		l.gone = append(l.gone, n)
		if g.stage(n.name) == nil {
			l.change.Removed = append(l.change.Removed, n.name)
		}
		if what, is := unreloadable(n.impl); is {
			return nil, fmt.Errorf("stage %s is %s, which cannot be changed or taken out while the pipeline runs: what it holds would be lost", n.name, what)
		}
	}
	return l, nil
}

// place decides where the node of a stage comes from.
func (l *reload) place(stage *Stage, fates map[string]fate) {
	old, c := l.run.byName[stage.Name], &l.change
	fate, known := fates[stage.Name]
	switch {
	case !known:
		old, c.Added = nil, append(c.Added, stage.Name)
	case fate == replaced:
		old, c.Replaced = nil, append(c.Replaced, stage.Name)
	case fate == reconfigured:
		l.turned = append(l.turned, old)
		c.Reconfigured = append(c.Reconfigured, stage.Name)
	case old.stage.Common != stage.Common:
		c.Reconfigured = append(c.Reconfigured, stage.Name)
	case !maps.Equal(l.run.graph.outputs(stage.Name), l.graph.outputs(stage.Name)):
		c.Rewired = append(c.Rewired, stage.Name)
	}
	l.nodes = append(l.nodes, old)
	if old != nil {
		l.stages[old] = stage
	}
}

// fates tells what becomes of the stages that the other graph has as well.
func (r *Run) fates(g *Graph) map[string]fate {
	fates := make(map[string]fate, len(r.nodes))
	for _, n := range r.nodes {
		if stage := g.stage(n.name); stage != nil {
			fates[n.name] = n.fate(stage)
		}
	}
	for spread := true; spread; { // to those that hold what is no more
		spread = false
		for _, n := range r.nodes {
			if fate, stays := fates[n.name]; stays && fate != replaced && n.env.holds(func(peer *node) bool {
				fate, stays := fates[peer.name]
				return !stays || fate == replaced
			}) {
				fates[n.name], spread = replaced, true
			}
		}
	}
	return fates
}

func (n *node) fate(stage *Stage) fate {
	_, able := n.impl.(Reconfigurer)
	now := n.stage
	switch {
	case now == stage:
		return kept
	case !reflect.DeepEqual(now.Spec, stage.Spec), now.Common.Workers != stage.Common.Workers && n.queue == nil:
		return replaced
	case reflect.DeepEqual(now.Options, stage.Options):
		if n.outdated() {
			return replaced
		}
		return kept
	case able:
		return reconfigured
	}
	return replaced
}

// outdated reports whether the stage has read files that hold something else by now. One that panics is made anew.
func (n *node) outdated() bool {
	r, reads := n.impl.(OutdatedReporter)
	outdated := reads
	_ = n.guarded(func() error {
		if reads {
			outdated = r.Outdated()
		}
		return nil
	})
	return outdated
}

// outputs returns where the stage's ports lead.
func (g *Graph) outputs(stage string) map[[2]string]bool {
	leads := make(map[[2]string]bool)
	for _, e := range g.Edges {
		if e.From == stage {
			leads[[2]string{e.Port, e.To}] = true
		}
	}
	return leads
}

// possible refuses, while nothing is in flight, what the stages that are kept cannot do any more.
func (l *reload) possible() error {
	r := l.run
	r.wiring.Lock()
	defer r.wiring.Unlock()
	if r.drainCtx.Err() != nil {
		return ErrEnded
	}
	if err := l.keepsSides(); err != nil {
		return err
	}
	byName, alive := byName(l.nodes), make(map[string]bool)
	for _, n := range l.nodes {
		if n.isAlive() {
			alive[n.name] = true
			maps.Copy(alive, l.graph.behind(n.name))
		}
	}
	for _, e := range l.graph.Edges {
		to := byName[e.To]
		if !alive[e.From] {
			continue
		}
		if to.sealed && !l.graph.behind(e.To)[e.From] {
			return fmt.Errorf("queue %s has been told that nothing more comes, and %s would lead to it: start the pipeline anew", e.To, e.From)
		}
	}
	return nil
}

// isAlive reports whether a node may hand something out that it was not given before.
func (n *node) isAlive() bool {
	_, alive := unreloadable(n.impl)
	switch n.impl.(type) {
	case Source, Queue:
		alive = true
	}
	return alive && !n.ended
}

// behind returns the stages that what a stage hands out may come to.
func (g *Graph) behind(stage string) map[string]bool {
	reached := make(map[string]bool)
	for next := []string{stage}; len(next) > 0; next = next[1:] {
		for _, e := range g.Edges {
			if e.From == next[0] && !reached[e.To] {
				reached[e.To] = true
				next = append(next, e.To)
			}
		}
	}
	return reached
}

func byName(nodes []*node) map[string]*node {
	m := make(map[string]*node, len(nodes))
	for _, n := range nodes {
		m[n.name] = n
	}
	return m
}
