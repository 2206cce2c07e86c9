package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/webrace/webrace/pipeline/finding"
)

// leaving returns the graph without the work of the sources that another run of it has. They stand in it, so that all
// runs look alike, and none is taken out or brought in by a reload.
func (g *Graph) leaving(elsewhere func(Spec) bool) *Graph {
	rest := *g
	rest.Stages = slices.Clone(g.Stages)
	for i, s := range g.Stages {
		if s.IsSource() && elsewhere(s.Spec) {
			idle := *s
			idle.Make = func(env *Env) (any, error) { return idleSource{env.Continuous}, nil }
			rest.Stages[i] = &idle
		}
	}
	return &rest
}

// idleSource stands where another run has a source. It gives nothing, and ends as that does: at once, or with a run
// that goes on until it is told to stop.
type idleSource struct{ continuous bool }

func (s idleSource) Run(ctx context.Context, _ Emitter) error {
	if s.continuous {
		<-ctx.Done()
	}
	return nil
}

// Undivided finds the stages that have to have all that comes, where several runs of the pipeline share the work: see
// [Spec] Whole.
func (g *Graph) Undivided() (all finding.List) {
	if g.OfOneRun() {
		return nil
	}
	for _, s := range g.Stages {
		if s.Spec.Whole != "" {
			all = append(all, finding.Finding{
				Pos: s.Pos, Width: len(s.Name), Code: finding.CodeCluster, Path: fmt.Sprintf("pipeline.%s.stage.%s", g.Name, s.Name),
				Message: fmt.Sprintf("stage %q cannot be in a pipeline of which each partition of a cluster has a part: %s", s.Name, s.Spec.Whole),
			})
		}
	}
	return all
}

// OfOneRun reports whether, where several runs of the pipeline share the work, there is none but for one of them: all
// that comes, it has from sources that are there once.
func (g *Graph) OfOneRun() bool {
	sources := 0
	for _, s := range g.Stages {
		switch {
		case s.IsSource() && s.Spec.Once:
			sources++
		case s.IsSource(), s.Spec.Queue && s.Spec.Whole == "":
			return false
		}
	}
	return sources > 0
}
