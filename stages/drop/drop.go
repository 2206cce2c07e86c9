// Package drop is the stage that takes anything and does nothing: the end of a branch that is not wanted.
package drop

import (
	"context"

	"github.com/webrace/webrace/pipeline"
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "drop",
		Summary: "takes anything and does nothing with it",
		In:      pipeline.Kinds(pipeline.KindOf[any]()),
		Needs:   pipeline.NoParts,
	}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return stage{}, nil })
}

type stage struct{}

var _ pipeline.Processor = stage{}

func (stage) Process(context.Context, *pipeline.Item, pipeline.Emitter) error { return nil }
