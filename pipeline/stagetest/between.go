package stagetest

import (
	"context"

	"github.com/webrace/webrace/pipeline"
)

// Between returns a graph with a stage of a registered type, under the name of its type, between a source and
// a taker of the test's: for tests of when a stage lets go of what it keeps, and of when leases end, which
// [Try] does not tell. The taker gets what leaves the default port. What both do, with time and with leases, is
// up to the test, and so is the run; the stage is returned too, for what is common to all, as its workers.
func Between(typ string, options any, give func(context.Context, pipeline.Emitter) error, take func(*pipeline.Item) error) (*pipeline.Graph, *pipeline.Stage) {
	g, anything := pipeline.NewGraph("stagetest"), pipeline.KindOf[any]()
	source := pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: anything}}}
	g.AddStage("source", source, func(*pipeline.Env) (any, error) { return feederFunc(give), nil })
	stage := g.Add(typ, options)
	sink := pipeline.Spec{Type: "sink", In: pipeline.Kinds(anything)}
	g.AddStage("sink", sink, func(*pipeline.Env) (any, error) { return takerFunc(take), nil })
	g.Connect("source", "", typ)
	g.Connect(typ, "", "sink")
	return g, stage
}

type takerFunc func(*pipeline.Item) error

func (f takerFunc) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return f(it)
}

// Changed returns a function that gives a type's defaults with a change.
func Changed[O any](defaults O) func(change func(*O)) O {
	return func(change func(*O)) O {
		o := defaults
		change(&o)
		return o
	}
}

// Numbers are 0 to n-1.
func Numbers(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = i
	}
	return all
}
