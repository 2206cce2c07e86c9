package gostreams

import (
	"fmt"
	"slices"

	"github.com/reugn/go-streams"

	"github.com/webrace/webrace/pipeline"
)

// Register adds a stage type to the default registry; see [RegisterIn].
func Register[C any](s pipeline.Spec, defaults C, mk func(C, *pipeline.Env) (any, error)) {
	RegisterIn(pipeline.DefaultRegistry, s, defaults, mk)
}

// RegisterIn makes a source, operator or sink of go-streams a stage type. It is [pipeline.RegisterIn], but mk may
// return a func() ([streams.Source], error), a func() [streams.Flow] (an operator over values, see [FromFlow]) or a
// func() ([streams.Sink], error) as well as a stage of this package: what go-streams makes begins to work at once, so
// it is made when the stage is opened. A value of a kind that the Spec does not list is answered by an error, and does
// not come to the operator or sink, whose goroutines would end the process.
func RegisterIn[C any](r *pipeline.Registry, s pipeline.Spec, defaults C, mk func(C, *pipeline.Env) (any, error)) {
	pipeline.RegisterIn(r, s, defaults, func(options C, env *pipeline.Env) (any, error) {
		made, err := mk(options, env)
		if err != nil {
			return nil, err
		}
		stage, err := stageOf(made)
		if limited, ours := stage.(interface{ only([]pipeline.Kind) }); ours {
			limited.only(inputKinds(s, options))
		}
		return stage, err
	})
}

// stageOf makes a stage of what is of go-streams.
func stageOf(made any) (any, error) {
	switch made := made.(type) {
	case func() streams.Flow:
		return FromFlow(made), nil
	case func() (streams.Source, error):
		return &foreignSource{make: made}, nil
	case func() (streams.Sink, error):
		return &foreignSink{make: made}, nil
	case streams.Outlet, streams.Inlet:
		return nil, fmt.Errorf("a %T is at work already: return the function that makes it, a func() streams.Flow, or "+
			"a func() (streams.Source, error) or (streams.Sink, error)", made)
	}
	return made, nil
}

func inputKinds(s pipeline.Spec, options any) []pipeline.Kind {
	if provider, depends := options.(pipeline.InputKindsProvider); depends {
		return provider.InputKinds()
	}
	return s.In
}

// inputs are the kinds that a stage takes; all, unless it is told.
type inputs struct{ kinds []pipeline.Kind }

func (i *inputs) only(kinds []pipeline.Kind) { i.kinds = kinds }

func (i *inputs) check(it *pipeline.Item) error {
	if i.kinds == nil || slices.ContainsFunc(i.kinds, func(k pipeline.Kind) bool { return k.Holds(it.Value) }) {
		return nil
	}
	return fmt.Errorf("takes %v, got %T", i.kinds, it.Value)
}
