// Package acis is the stage that follows the annotations: every ACI in the order in which it was stored,
// for pipelines that deliver them. Like every follower it never holds a request of the crawl.
package acis

import (
	"context"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "acis",
		Once:    true,
		Summary: "follows the annotations: every new ACI",
		Doc: "It remembers how far it has come under the name of its pipeline and stage. It ends when it has caught up and no crawl runs " +
			"in the same process.",
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*xmlschema.ACI](), Doc: "the annotation"}},
		Follows: true,
	}, struct{}{}, newStage)
}

type stage struct {
	env   *pipeline.Env
	store *control.Store
}

var (
	_ pipeline.Source      = (*stage)(nil)
	_ pipeline.LagReporter = (*stage)(nil)
)

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

// Run emits what was stored since it last did.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	return pipeline.Follow(ctx, s.env, s.log(), out)
}

// Lag returns how many annotations it has not dealt with.
func (s *stage) Lag(ctx context.Context) (int64, error) { return s.log().Lag(ctx) }

func (s *stage) log() pipeline.Log[control.ACI] {
	cursor := s.env.Pipeline + "/" + s.env.Stage
	return pipeline.Log[control.ACI]{
		Next: func(ctx context.Context, after uint64, max int) ([]control.ACI, error) {
			return s.store.NextACIs(ctx, int64(after), max)
		},
		Last: func(ctx context.Context) (uint64, error) {
			last, err := s.store.LastACI(ctx)
			return uint64(last), err
		},
		Seq: func(a control.ACI) uint64 { return uint64(a.Seq) },
		From: func(a control.ACI) (string, uint64) {
			return "annotation " + a.ID + " " + a.URI + " " + a.Docbase.Digest, uint64(a.Docbase.Version)
		},
		Value: func(_ context.Context, a control.ACI) (any, error) { return a.ACI, nil },
		Cursor: func(ctx context.Context) (uint64, error) {
			at, err := s.store.Cursor(ctx, cursor)
			return uint64(at), err
		},
		SetCursor: func(ctx context.Context, seq uint64) error { return s.store.SetCursor(ctx, cursor, int64(seq)) },
	}
}
