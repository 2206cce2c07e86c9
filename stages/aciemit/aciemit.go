// Package aciemit is the stage that stores annotations, where their owners find them. An annotation is
// known by its id, so storing one again after a crash tells its owner once. A document at which they would be shown
// the same text as at another is listed with that one. One that names a stored version of a document is stored after
// that version is durable: no crash leaves an annotation of a version that is not there.
package aciemit

import (
	"context"
	"errors"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "aci-emit",
		Summary: "stores annotations for their owners, each once",
		Doc: "The same text at another document, sixteen words or more of it, or nearly the same with the same words found in it, is told once: " +
			"further documents are listed in the annotation of the first. Shorter texts are told for each document.",
		In: pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI]()),
		Out: []pipeline.Port{{
			Name: portNew, Kind: pipeline.KindOf[*xmlschema.ACI](),
			Doc: "each annotation that was stored now, and not before, with the mirrors that came together with it",
		}},
		Batch: pipeline.Batch{Count: 1024, Period: pipeline.Duration(20 * time.Millisecond)},
	}, Options{Mirrors: mirrorsOnce}, newStage)
}

// Options of the stage.
type Options struct {
	Mirrors string `toml:"mirrors" doc:"the same text at several documents: once tells it for the first, and lists the others there; each tells it for each" enum:"once,each"`
}

const (
	mirrorsOnce = "once"
	portNew     = "new"
)

type stage struct {
	options Options
	env     *pipeline.Env
	dir     *storage.Dir
	control *control.Store
}

var _ pipeline.BatchProcessor = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	return &stage{o, env, dir, store}, nil
}

// ProcessBatch stores the annotations in one transaction. If some of them cannot be stored, the others are,
// one by one, so that their owners are told; the error then tells what is wrong with those some.
func (s *stage) ProcessBatch(ctx context.Context, its []*pipeline.Item, out pipeline.Emitter) error {
	var failures []error
	acis := make([]*xmlschema.ACI, 0, len(its))
	for _, it := range its {
		aci, err := pipeline.ValueOf[*xmlschema.ACI](it)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if aci.Judgement.IsPending() {
			s.env.Counter("unasked").Add(1)
			aci = unasked(aci)
		}
		acis = append(acis, aci)
	}
	if err := s.awaitDocuments(ctx, acis); err != nil {
		return notStored(ctx, its, err)
	}
	stored, err := s.store(ctx, acis...)
	if err != nil {
		if len(acis) == 1 || ctx.Err() != nil {
			return errors.Join(append(failures, err)...)
		}
		for _, aci := range acis {
			one, err := s.store(ctx, aci)
			stored, failures = append(stored, one...), append(failures, err)
		}
	}
	failures = append(failures, emitNew(ctx, stored, its, out))
	return errors.Join(failures...)
}

// unasked marks an annotation as not judged: no stage before this one has asked a model what its URD wants to know.
func unasked(aci *xmlschema.ACI) *xmlschema.ACI {
	told := *aci
	told.Judgement = &xmlschema.Judgement{
		Question: aci.Judgement.Question, Answer: xmlschema.AnswerNone, Reason: "the pipeline has no stage ask, so no model was asked",
	}
	return &told
}

// emitNew passes on what was stored now, each with the lease of the item that it came with.
func emitNew(ctx context.Context, stored []*xmlschema.ACI, its []*pipeline.Item, out pipeline.Emitter) error {
	if len(stored) == 0 {
		return nil
	}
	items := make(map[string]*pipeline.Item, len(its))
	for _, it := range its {
		if aci, ok := it.Value.(*xmlschema.ACI); ok {
			items[aci.ID] = it
		}
	}
	for _, aci := range stored {
		if err := out.EmitTo(ctx, portNew, items[aci.ID].With(aci)); err != nil {
			return err
		}
	}
	return nil
}

// store stores annotations, and returns those that were not known.
func (s *stage) store(ctx context.Context, acis ...*xmlschema.ACI) ([]*xmlschema.ACI, error) {
	put := s.control.PutACIs
	if s.options.Mirrors != mirrorsOnce {
		put = s.control.PutEachACI
	}
	stored, err := put(ctx, acis)
	if err != nil {
		return nil, err
	}
	s.env.Counter("annotations").Add(int64(stored.Added))
	s.env.Counter("withheld").Add(int64(stored.Withheld))
	s.env.Counter("mirrors").Add(int64(stored.Mirrors))
	s.env.Counter("repeated").Add(int64(len(acis) - stored.Added - stored.Withheld - stored.Mirrors))
	return stored.New, nil
}
