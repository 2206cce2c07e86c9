// Package index is the stage that makes documents searchable: the full-text index over the object cache.
// It belongs into a pipeline that follows the cache, because indexing costs many times what a crawl does.
// Whatever comes, and however often, what is indexed of a URL are the latest versions that the cache has.
package index

import (
	"context"
	"errors"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
)

// Options of the stage.
type Options struct {
	Versions int `toml:"versions" doc:"how many versions of a URL can be searched, each as large in the index as the latest; 0 for all that are stored"`
}

// Validate is called when the configuration is read.
func (o Options) Validate() error {
	if o.Versions < 0 {
		return errors.New("versions: it is at least 1, or 0 for all")
	}
	return nil
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "index",
		Summary: "makes documents searchable in full text",
		Doc: "Of each URL, the latest version is what a search finds; it finds the versions before when asked to. What is indexed follows from what " +
			"is stored, whatever comes in whatever order. A change of its options holds for a URL from when it changes next, or for all after webrace-store search --rebuild.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: []pipeline.Part{webrace.PartBody, webrace.PartVersion},
		Batch: pipeline.Batch{Count: 500, Bytes: 8 << 20, Period: pipeline.Duration(time.Second)},
	}, Options{Versions: fulltext.DefaultVersions}, newStage)
}

type stage struct {
	options  Options
	env      *pipeline.Env
	fulltext *fulltext.Store
}

var (
	_ pipeline.BatchProcessor = (*stage)(nil)
	_ pipeline.Opener         = (*stage)(nil)
	_ pipeline.Checker        = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Fulltext()
	if err != nil {
		return nil, err
	}
	return &stage{o, env, store}, nil
}

// Check has nothing to add to what was found when the stage was made: that the index can be opened.
func (s *stage) Check(context.Context) error { return nil }

// Open tells the index how many versions it keeps.
func (s *stage) Open(ctx context.Context) error {
	return s.fulltext.KeepVersions(ctx, s.options.Versions)
}

// ProcessBatch indexes a group of documents. Those without text are passed over.
func (s *stage) ProcessBatch(ctx context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	var docs []fulltext.Document
	for _, it := range its {
		d, err := pipeline.ValueOf[*webrace.Document](it)
		if err != nil {
			return err
		}
		if d.Secret != "" || urlnorm.IsMarked(d.URL) { // who searches the index need not be who may see it
			s.env.Counter("private").Add(1)
			continue
		}
		if err := s.env.Reserve(ctx, its[0], len(d.Body)); err != nil { // for the text
			return err
		}
		doc, ok, err := fulltext.FromDocument(d)
		if err != nil {
			return err
		}
		if !ok {
			s.env.Counter("without_text").Add(1)
			continue
		}
		docs = append(docs, doc)
	}
	if err := s.fulltext.Index(ctx, docs); err != nil {
		return err
	}
	s.env.Counter("indexed").Add(int64(len(docs)))
	for i := range docs {
		if docs[i].Shortened {
			s.env.Counter("shortened").Add(1)
			s.env.Logger.Info("a document is too large to be indexed as a whole: phrases at its end, or its rarest words, are not found", "url", docs[i].URL)
		}
	}
	return nil
}
