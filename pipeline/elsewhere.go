package pipeline

import (
	"context"
	"slices"
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
