// Package embedded is an example of a pipeline in a program of one's own, without a pipelines.toml: pages are handed in
// and come out with their text, worked on by several goroutines.
package embedded

import (
	"context"
	"iter"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/normalize" // registers the stage
)

// Texts calls show with the text of each page, in any order, one at a time.
func Texts(ctx context.Context, pages iter.Seq[*webrace.Document], show func(*webrace.Document) error) error {
	document := pipeline.KindOf[*webrace.Document]()
	graph := pipeline.NewGraph("texts")
	graph.AddStage("pages", pipeline.Spec{Out: []pipeline.Port{{Kind: document}}},
		func(*pipeline.Env) (any, error) { return source(pages), nil })
	graph.Add("normalize", nil).Common.Workers = 4 // nil: its default options
	graph.AddStage("show", pipeline.Spec{In: pipeline.Kinds(document)},
		func(*pipeline.Env) (any, error) { return sink(show), nil })
	graph.Wire("pages > normalize > show")
	if err := graph.Check(); err != nil {
		return err
	}
	_, err := graph.Run(ctx, pipeline.RunOptions{}) // without dead letters: the first page that fails ends the run
	return err
}

// source emits pages until there are no more, or the run drains.
type source iter.Seq[*webrace.Document]

func (s source) Run(ctx context.Context, out pipeline.Emitter) error {
	for page := range s {
		if ctx.Err() != nil {
			return nil
		}
		if err := out.Emit(ctx, pipeline.NewItem(page, nil)); err != nil {
			return err
		}
	}
	return nil
}

// sink emits nothing. It has one worker, as every stage has unless told otherwise.
type sink func(*webrace.Document) error

func (s sink) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	page, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	return s(page)
}
