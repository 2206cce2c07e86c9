// Package aciemit is the stage that stores annotations, where their owners find them. An annotation is
// known by its id, so storing one again, after a crash or from a mirror, tells nobody twice.
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
		In:      pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI]()),
		Batch:   pipeline.Batch{Count: 1024, Period: pipeline.Duration(20 * time.Millisecond)},
	}, struct{}{}, newStage)
}

type stage struct {
	env     *pipeline.Env
	control *control.Store
}

var _ pipeline.BatchProcessor = (*stage)(nil)

func newStage(_ struct{}, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	return &stage{env, store}, nil
}

// ProcessBatch stores the annotations in one transaction. If some of them cannot be stored, the others are,
// one by one, so that their owners are told; the error then says what is wrong with those some.
func (s *stage) ProcessBatch(ctx context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	var failures []error
	acis := make([]*xmlschema.ACI, 0, len(its))
	for _, it := range its {
		aci, err := pipeline.ValueOf[*xmlschema.ACI](it)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		acis = append(acis, aci)
	}
	if err := s.store(ctx, acis...); err != nil {
		if len(acis) == 1 || ctx.Err() != nil {
			return errors.Join(append(failures, err)...)
		}
		for _, aci := range acis {
			failures = append(failures, s.store(ctx, aci))
		}
	}
	return errors.Join(failures...)
}

func (s *stage) store(ctx context.Context, acis ...*xmlschema.ACI) error {
	stored, err := s.control.PutACIs(ctx, acis)
	if err != nil {
		return err
	}
	s.env.Counter("annotations").Add(int64(stored.Added))
	s.env.Counter("withheld").Add(int64(stored.Withheld))
	s.env.Counter("near_duplicates").Add(int64(stored.Alike))
	s.env.Counter("repeated").Add(int64(len(acis) - stored.Added - stored.Withheld - stored.Alike))
	return nil
}
