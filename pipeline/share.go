package pipeline

import (
	"fmt"
	"slices"

	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/pipeline/finding"
)

// Sharer is implemented by option structs (by value) of a [Queue] that pipelines can share, under a name; empty if this
// one is its pipeline's alone. Such a queue may be the end of one pipeline, where nothing follows it and Take is not
// called, and the source of another, where nothing leads to it: [Env.Shares] reports which.
type Sharer interface{ Shares() (name string) }

// sharedName returns the name by which a stage shares a queue; empty if it does not.
func (s *Stage) sharedName() string {
	if sharer, ok := s.Options.(Sharer); ok && s.Spec.Queue {
		return sharer.Shares()
	}
	return ""
}

// shares reports whether a stage is the source of the graph, or the end, by a queue that others have as well.
func (g *Graph) shares(s *Stage) (begins, ends bool) {
	if s.sharedName() == "" {
		return false, false
	}
	begins = !slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.To == s.Name })
	ends = !slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.From == s.Name && e.Port == "" })
	return begins, ends && !begins
}

// orShare tells how a queue without a name could be the source or the end of its pipeline.
func (s *Stage) orShare(what string) string {
	if sharer, ok := s.Options.(Sharer); ok && s.Spec.Queue && sharer.Shares() == "" {
		return fmt.Sprintf("; to be the %s of the pipeline, the queue needs a name by which another has it as well", what)
	}
	return ""
}

// Continues reports whether a source of the graph is a queue that other pipelines fill.
func (g *Graph) Continues() bool {
	return slices.ContainsFunc(g.Stages, func(s *Stage) bool {
		begins, _ := g.shares(s)
		return begins
	})
}

// Shares reports whether the stage, a queue, is where the pipeline begins, or where it ends: see [Sharer]. Outside of a
// run it is neither.
func (e *Env) Shares() (begins, ends bool) {
	if next := pointer.Load(&e.next); next != nil {
		return next.graph.shares(next.graph.stage(e.Stage))
	}
	if e.run == nil {
		return false, false
	}
	e.run.layout.RLock()
	defer e.run.layout.RUnlock()
	return e.run.graph.shares(e.run.graph.stage(e.Stage))
}

// ends reports whether a queue hands out nothing in this run.
func (n *node) ends() bool {
	_, ends := n.run.graph.shares(n.stage)
	return ends
}

// keepsSides refuses a graph in which a queue that others share is no more the end, or the source, that it was.
func (l *reload) keepsSides() error {
	for n, stage := range l.stages {
		begins, ends := l.run.graph.shares(n.stage)
		if begin, end := l.graph.shares(stage); n.queue != nil && (begin != begins || end != ends) {
			return fmt.Errorf("queue %s is the source or the end of a pipeline as long as that runs: start the pipeline anew to have it be another", n.name)
		}
	}
	return nil
}

// checkShared reports queues that a pipeline would share with itself: its source would wait for its own end.
func (l *linter) checkShared() {
	seen := make(map[string]string)
	for _, s := range l.g.Stages {
		name := s.sharedName()
		if name == "" {
			continue
		}
		if other, twice := seen[name]; twice {
			found := l.add(s.Pos, finding.CodeStage, len(s.Name), "stages %q and %q are one queue, %s: let one stage stand where both do, or write two pipelines", other, s.Name, name)
			l.at(found, s, "name")
		}
		seen[name] = s.Name
	}
}
