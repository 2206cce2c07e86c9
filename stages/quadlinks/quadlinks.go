// Package quadlinks is the stage that follows what documents state as RDF: links are the answers to queries, as in
// MultiCrawler ("MultiCrawler: A Pipelined Architecture for Crawling and Indexing Semantic Web Data", ISWC 2006,
// section 3.5).
//
// What it guarantees: it asks the store of quads, so a document that was not fetched anew leads where it led; each of
// its queries is asked of what the document itself states; and predicates and classes are not followed, which nearly
// all documents have in common.
package quadlinks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/linkset"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

// Options of the stage.
type Options struct {
	Queries    []string `toml:"queries" doc:"SELECTs of one variable, in SPARQL, over what a document says: what they answer is followed"`
	MaxLinks   int      `toml:"max_links" doc:"the most links taken from a document; the rest is counted"`
	ObeyRobots bool     `toml:"obey_robots" doc:"obey nofollow in X-Robots-Tag"`
	RobotsName string   `toml:"robots_name" doc:"what X-Robots-Tag calls the crawler by: the product token of fetch.user_agent"`

	linkset.Options
}

// followed asks for where documents state that more is to be had.
const followed = `PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rss: <http://purl.org/rss/1.0/>
PREFIX schema: <http://schema.org/>
PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX void: <http://rdfs.org/ns/void#>
SELECT DISTINCT ?link {
  VALUES ?leads {
    rdfs:seeAlso rdfs:isDefinedBy owl:sameAs foaf:homepage foaf:page rss:link schema:url schema:sameAs
    dcterms:source void:dataDump
  }
  ?thing ?leads ?link
}`

var defaults = Options{
	Queries: []string{followed}, MaxLinks: extract.DefaultMaxLinks, ObeyRobots: true, RobotsName: extract.DefaultRobotsName,
	Options: linkset.Defaults,
}

// limits of one query: the graph of a document has 100,000 triples at most, unless transform is told otherwise.
var limits = sparql.Limits{Time: 5 * time.Second, Memory: 64 << 20}

const portLinks = "links"

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "quad-links",
		Single:  true,
		Summary: "follows what documents say as RDF: links are the answers to queries",
		Doc: "Without `queries` it follows the objects of `rdfs:seeAlso` and `isDefinedBy`, `owl:sameAs`, `foaf:homepage` and `page`, `rss:link`, `schema:url` and " +
			"`sameAs`, `dcterms:source` and `void:dataDump`: IRIs, and texts that are URLs. It asks what quad-index keeps, so it follows that stage, and a document that did not " +
			"change leads where it led. `quad_links` counts what is followed, `not_web` answers that are no URL of the web, `over_limit` those beyond `max_links`, and `nofollow` " +
			"documents that are not followed.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: pipeline.NoParts,
		Out: []pipeline.Port{
			{Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document, as it came"},
			{Name: portLinks, Kind: pipeline.KindOf[*webrace.Links](), Doc: "where what a document says leads, a thousand at a time"},
		},
		Workers: 2,
	}, defaults, newStage)
}

// Validate refuses queries that are none, with line and column.
func (o Options) Validate() error {
	if o.MaxLinks < 1 {
		return &pipeline.OptionError{Option: "max_links", Err: errors.New("must be at least 1")}
	}
	if _, err := o.parse(); err != nil {
		return &pipeline.OptionError{Option: "queries", Err: err}
	}
	if err := extract.CheckRobotsName(o.RobotsName); err != nil {
		return &pipeline.OptionError{Option: "robots_name", Err: err}
	}
	return nil
}

func (o Options) parse() (queries []*sparql.Query, err error) {
	if len(o.Queries) == 0 {
		return nil, errors.New("there is none, so nothing would be followed")
	}
	for i, text := range o.Queries {
		q, err := sparql.Parse(text, "")
		if err != nil {
			return nil, fmt.Errorf("query %d: %w", i+1, err)
		}
		if q.Form() != sparql.Select || len(q.Vars()) != 1 {
			return nil, fmt.Errorf("query %d is to be a SELECT of one variable, as in SELECT ?link { ?thing rdfs:seeAlso ?link }", i+1)
		}
		queries = append(queries, q)
	}
	return queries, nil
}

type stage struct {
	options Options
	env     *pipeline.Env
	quads   *quads.Store
	queries []*sparql.Query
}

var _ pipeline.Processor = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Quads()
	if err != nil {
		return nil, err
	}
	queries, err := o.parse()
	if err != nil {
		return nil, err
	}
	return &stage{o, env, store, queries}, nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	var nothing extract.Result
	if s.options.ObeyRobots && nothing.Robots(d.Header, extract.Robot{Name: s.options.RobotsName, At: d.At}).NoFollow {
		s.env.Counter("nofollow").Add(1)
		return out.Emit(ctx, it)
	}
	set, err := s.ask(ctx, d)
	if err != nil {
		return fmt.Errorf("links of what %s says: %w", d.URL, err)
	}
	s.env.Counter("quad_links").Add(int64(len(set.URLs)))
	s.env.Counter("not_web").Add(int64(set.Invalid))
	s.env.Counter("over_limit").Add(int64(set.Over))
	for _, l := range set.Links(d, webrace.ViaLink) {
		if err := out.EmitTo(ctx, portLinks, it.With(l)); err != nil {
			return err
		}
	}
	return out.Emit(ctx, it)
}

// ask asks all queries of what one document states.
func (s *stage) ask(ctx context.Context, d *webrace.Document) (*linkset.Set, error) {
	set, err := linkset.New(d.URL, s.options.Rules(), s.options.MaxLinks)
	if err != nil {
		return nil, err
	}
	now, err := s.quads.Snapshot()
	if err != nil {
		return nil, err
	}
	defer now.Close()
	says := []webrace.Term{rdf.NewIRI(rdf.EscapeIRI(d.URL))}
	for _, q := range s.queries {
		answers, err := q.WithDataset(says, nil).Run(ctx, now, limits)
		if err != nil {
			return nil, err
		}
		for row, err := range answers.Solutions() {
			if err != nil {
				return nil, err
			}
			follow(set, row[0])
		}
	}
	return set, nil
}

// follow adds where a term leads: an IRI, or the text of a URL.
func follow(set *linkset.Set, t webrace.Term) {
	if t == "" || rdf.KindOf(t) == rdf.Blank {
		return
	}
	address := strings.TrimSpace(rdf.Value(t))
	if scheme, _, ok := strings.Cut(address, "://"); !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		set.Invalid++
		return
	}
	if url, ok := set.Resolve(address); ok {
		set.Add(url, time.Time{})
	}
}
