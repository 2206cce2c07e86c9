// Package quadindex is the stage that makes the store of quads hold what documents state now, each in the context of
// its URL: the indexing of MultiCrawler ("MultiCrawler: A Pipelined Architecture for Crawling and Indexing Semantic Web
// Data", ISWC 2006, section 3.4).
//
// What it guarantees: readers of the store see all that a document stated before, or all that it states now, and never
// a part; what is not whole changes nothing but the problems that are noted; and a request is done when what its
// document states is durable. What was fetched with credentials, or by a request of its owner's own, is not indexed:
// queries are not asked in the name of an owner. Blank nodes are of their document alone, also in a graph that another
// program made.
package quadindex

import (
	"context"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "quad-index",
		Single:  true,
		Whole:   "what is said of one thing would lie apart, in as many stores as there are partitions, and no query would see all of it",
		Summary: "keeps what documents say as quads, to be asked in SPARQL",
		Doc: "The quads of a document replace those of its version before, in one step. A document that is not whole changes none: what is wrong with it is noted, " +
			"and `webrace-store quads contexts --problems` lists it. One that was not fetched anew is indexed already; if it is not, as in a data directory " +
			"whose quads are gone or come from a backup, it is fetched again. `added` and `removed` count quads, `unchanged` documents that say what they said, `kept` those " +
			"that were not whole, `older` those of which a later version is indexed, and `private` those that were fetched with credentials or by a request of a URD's own, which are not indexed.",
		In:      pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs:   []pipeline.Part{webrace.PartGraph},
		Own:     []pipeline.Addition{{Parts: []pipeline.Part{webrace.PartGraph}, In: []string{string(webrace.NotModified), string(webrace.Fresh)}}}, // it is indexed
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document, as it came"}},
		Workers: 2,
	}, struct{}{}, newStage)
}

type stage struct {
	env   *pipeline.Env
	quads *quads.Store
}

var _ pipeline.Processor = (*stage)(nil)

func newStage(_ struct{}, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Quads()
	if err != nil {
		return nil, err
	}
	return &stage{env, store}, nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	switch {
	case d.Secret != "" || urlnorm.IsMarked(d.URL):
		s.env.Counter("private").Add(1)
	case d.Graph != nil:
		err = s.index(it, d)
	default:
		err = s.confirm(d)
	}
	if err != nil {
		return err
	}
	return out.Emit(ctx, it)
}

// index makes the context of a document hold what the document states, and holds its request until that is durable.
func (s *stage) index(it *pipeline.Item, d *webrace.Document) error {
	durable := it.Hold()
	change, err := s.quads.Replace(quads.Context{
		URL: d.URL, Version: d.Version, Digest: d.Digest, At: d.At, MediaType: d.MediaType,
	}, quads.WithOwnBlanks(d.Graph, d.URL), durable)
	if err != nil {
		durable(nil) // the error of this call decides
		return err
	}
	switch {
	case change.Older:
		s.env.Counter("older").Add(1)
	case change.Kept:
		s.env.Counter("kept").Add(1)
	case change.Added == 0 && change.Removed == 0:
		s.env.Counter("unchanged").Add(1)
	default:
		s.env.Counter("added").Add(int64(change.Added))
		s.env.Counter("removed").Add(int64(change.Removed))
	}
	return nil
}

// confirm finds the version of a document that was not fetched anew among what is indexed, or has it fetched: the quads
// may come from a backup, or a repair may have lost some.
func (s *stage) confirm(d *webrace.Document) error {
	now, err := s.quads.Snapshot()
	if err != nil {
		return err
	}
	defer now.Close()
	said, found, err := now.Context(d.URL)
	if err != nil {
		return fmt.Errorf("look for what %s said: %w", d.URL, err)
	}
	if !found || !said.Has(d.Version) {
		s.env.Counter("missing").Add(1)
		return pipeline.Retry(fmt.Errorf("%s is not indexed: %w", d.URL, webrace.ErrNotStored), time.Now())
	}
	return nil
}
