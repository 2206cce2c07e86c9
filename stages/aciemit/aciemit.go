// Package aciemit is the stage that stores annotations, where their owners find them. An annotation is
// known by its id, so storing one again, after a crash or from a mirror, tells nobody twice.
package aciemit

import (
	"context"
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
		Batch:   pipeline.Batch{Count: 256, Period: pipeline.Duration(20 * time.Millisecond)},
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

// ProcessBatch stores the annotations in one transaction.
func (s *stage) ProcessBatch(ctx context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	acis := make([]*xmlschema.ACI, len(its))
	for i, it := range its {
		aci, err := pipeline.ValueOf[*xmlschema.ACI](it)
		if err != nil {
			return err
		}
		acis[i] = aci
	}
	added, err := s.control.PutACIs(ctx, acis)
	if err != nil {
		return err
	}
	s.env.Counter("annotations").Add(int64(added))
	s.env.Counter("repeated").Add(int64(len(acis) - added))
	return nil
}
