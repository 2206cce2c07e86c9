// Package objects is the stage that follows the object cache: every version of every document, in the
// order in which they were stored, each once whatever happens. It never holds a request of the crawl that
// stores them, and gives way to it for a while.
package objects

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

// Options of the stage.
type Options struct {
	Restart bool              `toml:"restart" doc:"begin with the first version again instead of going on: to fill an index that was lost or removed"`
	MaxLag  pipeline.Duration `toml:"max_lag" doc:"how long what is stored may wait while other pipelines of the process store much, so that following takes nothing from them; what waits is caught up with then, or when they rest. 0s gives way to none"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "objects",
		Summary: "follows the object cache: every new version of every document",
		Doc: "It remembers how far it has come under the name of its pipeline and stage. It ends when it has caught up and no crawl runs " +
			"in the same process.",
		Out: []pipeline.Port{{
			Kind: pipeline.KindOf[*webrace.Document](), Doc: "the document with its body, as it was stored",
			Cases: []pipeline.Case{{Name: string(webrace.Fetched), Parts: []pipeline.Part{webrace.PartBody, webrace.PartVersion}}},
		}},
		Follows: true,
	}, Options{MaxLag: pipeline.Duration(time.Minute)}, newStage)
}

type stage struct {
	options Options

	env   *pipeline.Env
	store *objects.Store
}

var (
	_ pipeline.Source      = (*stage)(nil)
	_ pipeline.LagReporter = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Objects()
	if err != nil {
		return nil, err
	}
	return &stage{o, env, store}, nil
}

// Run emits what was stored since it last did.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	log := s.log()
	if s.options.Restart {
		log.Cursor = func(context.Context) (uint64, error) { return 0, nil }
	}
	return pipeline.Follow(ctx, s.env, log, out)
}

// Lag returns how many versions it has not dealt with.
func (s *stage) Lag(ctx context.Context) (int64, error) { return s.log().Lag(ctx) }

func (s *stage) log() pipeline.Log[objects.Version] {
	cursor := s.env.Pipeline + "/" + s.env.Stage
	return pipeline.Log[objects.Version]{
		Next: s.store.Next,
		Last: func(context.Context) (uint64, error) { return s.store.Last(), nil },
		Seq:  func(v objects.Version) uint64 { return v.Seq },
		From: func(v objects.Version) (string, uint64) {
			return "document " + objects.View(v.Secret, v.URL), uint64(v.Number)
		},
		Value:     s.document,
		MaxLag:    time.Duration(s.options.MaxLag),
		Cursor:    func(context.Context) (uint64, error) { return s.store.Cursor(cursor) },
		SetCursor: func(_ context.Context, seq uint64) error { return s.store.SetCursor(cursor, seq, false) },
	}
}

func (s *stage) document(ctx context.Context, v objects.Version) (any, error) {
	body, header, err := s.store.Body(v)
	for errors.Is(err, objects.ErrNotFound) { // it was removed since the log was read, or is about to be
		if gone, err := s.store.Gone(ctx, v); err != nil || gone {
			return nil, err
		}
		body, header, err = s.store.Body(v)
	}
	if err != nil {
		return nil, fmt.Errorf("%s version %d: %w", v.URL, v.Number, err)
	}
	return documentOf(v, body, header), nil
}

func documentOf(v objects.Version, body []byte, header http.Header) *webrace.Document {
	return &webrace.Document{
		URL: v.URL, Secret: v.Secret, Outcome: webrace.Fetched, Status: v.Status, Header: header, At: v.FetchedAt,
		MediaType: v.MediaType, Charset: v.Charset, Language: v.Language, Body: body, Truncated: v.Truncated,
		Digest: v.Digest, Version: v.Number, Changed: true,
	}
}
