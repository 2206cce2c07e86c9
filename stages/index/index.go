// Package index is the stage that makes documents searchable: the full-text index over the object cache.
// It belongs into a pipeline that follows the cache, because indexing costs many times what a crawl does.
package index

import (
	"context"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "index",
		Summary: "makes documents searchable in full text",
		Doc:     "A document is known by its URL, and its newest version is the one found; indexing it again changes nothing.",
		In:      pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Batch:   pipeline.Batch{Count: 500, Period: pipeline.Duration(time.Second)},
	}, struct{}{}, newStage)
}

type stage struct {
	env      *pipeline.Env
	fulltext *fulltext.Store
}

var _ pipeline.BatchProcessor = (*stage)(nil)

func newStage(_ struct{}, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Fulltext()
	if err != nil {
		return nil, err
	}
	return &stage{env, store}, nil
}

// groupBytes is how much text is indexed in one write: the index keeps many times that in memory
// meanwhile, however few documents it is.
const groupBytes = 4 << 20

// ProcessBatch indexes a group of documents, in one write unless they are large. Those without text are
// passed over.
func (s *stage) ProcessBatch(ctx context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	var docs []fulltext.Document
	bytes := 0
	for _, it := range its {
		d, err := pipeline.ValueOf[*webrace.Document](it)
		if err != nil {
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
		if bytes += len(doc.Headings) + len(doc.Body); bytes >= groupBytes {
			if err := s.write(ctx, docs); err != nil {
				return err
			}
			docs, bytes = nil, 0
		}
	}
	return s.write(ctx, docs)
}

func (s *stage) write(ctx context.Context, docs []fulltext.Document) error {
	if err := s.fulltext.Index(ctx, docs); err != nil {
		return fmt.Errorf("index %d documents: %w", len(docs), err)
	}
	s.env.Counter("indexed").Add(int64(len(docs)))
	return nil
}
