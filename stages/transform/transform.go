// Package transform is the stage that reads what documents state as RDF: in a syntax of RDF, in JSON-LD, in feeds, and
// in pages with structured data. MultiCrawler calls this phase so ("MultiCrawler: A Pipelined Architecture for Crawling
// and Indexing Semantic Web Data", ISWC 2006, section 3.3).
//
// What it guarantees: the same document at the same URL gets the same graph; what a document cannot be read for stands
// in the graph's problems and stops nothing; and no document costs more than the limits of the options.
package transform

import (
	"context"
	"errors"
	"mime"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/jsonld"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/transform"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/filestate"
)

// Options of the stage.
type Options struct {
	Page  bool `toml:"page" doc:"also say the title, the addresses, the images and the links of pages"`
	Roles bool `toml:"roles" doc:"also say the roles of elements, which most pages name for screen readers alone"`

	OneSchemaOrg bool `toml:"one_schema_org" doc:"the terms of schema.org are those at http://schema.org/, also where a document has them at https: or www, so that one query finds all"`

	Lenient bool `toml:"lenient" doc:"also read JSON-LD that is not quite JSON: with comments, control characters in texts, marks of CDATA, or a comma behind the last value; each is among the problems"`

	Contexts map[string]pipeline.File `toml:"contexts" doc:"contexts of JSON-LD by their URL, each a file; that of schema.org is built in, and none is ever fetched"`

	MaxTriples     int               `toml:"max_triples" doc:"triples of a document; with more, it is not whole"`
	MaxLiteral     pipeline.Size     `toml:"max_literal" doc:"the longest text of a literal"`
	MaxIRI         pipeline.Size     `toml:"max_iri" doc:"the longest IRI"`
	MaxDepth       int               `toml:"max_depth" doc:"how deep values may lie within each other"`
	MaxDefinitions int               `toml:"max_definitions" doc:"definitions of terms that the contexts of one document of JSON-LD may apply"`
	Timeout        pipeline.Duration `toml:"timeout" doc:"how long a document is read; one that takes longer fails"`
}

func defaults() Options {
	return Options{
		OneSchemaOrg: true, MaxTriples: 100_000, MaxLiteral: 256 << 10, MaxIRI: 8 << 10, MaxDepth: 256, MaxDefinitions: 1_000_000,
		Timeout: pipeline.Duration(time.Minute),
	}
}

// Validate refuses limits that leave nothing.
func (o Options) Validate() error {
	for _, limit := range []struct {
		option string
		value  int64
	}{
		{"max_triples", int64(o.MaxTriples)}, {"max_literal", int64(o.MaxLiteral)}, {"max_iri", int64(o.MaxIRI)},
		{"max_depth", int64(o.MaxDepth)}, {"max_definitions", int64(o.MaxDefinitions)}, {"timeout", int64(o.Timeout)},
	} {
		if limit.value <= 0 {
			return &pipeline.OptionError{Option: limit.option, Err: errors.New("must be more than 0")}
		}
	}
	return nil
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "transform",
		Single:  true,
		Summary: "reads what documents say as RDF: Turtle, RDF/XML, JSON-LD, feeds, and pages with structured data",
		Doc: "Of pages it reads JSON-LD, Microdata, RDFa 1.1, Open Graph and Dublin Core in `meta`, and microformats. It goes by the media type, " +
			"which `detect` in front of it finds out. A document of RDF that is malformed, cut or exceeds a limit is not whole, and says so; in a page each script stands alone. " +
			"What a document says is of its own URL: names of graphs in it are dropped. A document that has a graph already which is not whole, because a stage in front of this one, such as `xslt`, could not read it, passes as it came. `triples` counts them, `silent` documents that say nothing, " +
			"`unwhole` those that are not whole, `problems` what could not be read, was left out, or was read as something else than is written, and `exceeded_…` documents that exceed a limit.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: pipeline.NoParts, // of a body it makes use, but cache need not read those of documents that were not fetched anew
		Out: []pipeline.Port{{
			Kind: pipeline.KindOf[*webrace.Document](), Adds: []pipeline.Addition{{Parts: []pipeline.Part{webrace.PartGraph}, Of: []pipeline.Part{webrace.PartBody}}},
			Doc: "every document, with its graph; one without a body as it came",
		}},
		Workers: 2,
	}, defaults(), newStage)
}

type stage struct {
	filestate.Files // of contexts
	env             *pipeline.Env
	options         transform.Options
}

var (
	_ pipeline.Processor        = (*stage)(nil)
	_ pipeline.OutdatedReporter = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	s := &stage{env: env}
	contexts := make(map[string][]byte, len(o.Contexts))
	for url, file := range o.Contexts {
		text, err := s.Read(string(file))
		if err != nil {
			return nil, &pipeline.OptionError{Option: "contexts", Err: err}
		}
		contexts[url] = text
	}
	s.options = transform.Options{
		Page: o.Page, Roles: o.Roles, Lenient: o.Lenient, TwoSchemaOrgs: !o.OneSchemaOrg, Contexts: jsonld.NewContexts(contexts),
		Limits: transform.Limits{
			Limits: jsonld.Limits{
				Limits:      rdf.Limits{Triples: o.MaxTriples, Literal: int(o.MaxLiteral), IRI: int(o.MaxIRI), Depth: o.MaxDepth},
				Definitions: o.MaxDefinitions,
			},
			Time: time.Duration(o.Timeout),
		},
		Exceeded: func(limit string) { env.Counter("exceeded_" + limit).Add(1) },
	}
	return s, nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	if d.Body == nil {
		return out.Emit(ctx, it)
	}
	if d.Graph != nil && !d.Graph.Whole { // a stage in front could not read it
		s.count(d.Graph)
		return out.Emit(ctx, it)
	}
	if err := s.env.Reserve(ctx, it, len(d.Body)); err != nil { // for the graph, which has seldom more
		return err
	}
	graph, err := transform.Document(ctx, d.Body, contentType(d), d.URL, s.options)
	if err != nil {
		return err
	}
	if d.Truncated {
		graph.Whole = false
		graph.Problems = append(graph.Problems, "the document was cut off by a limit of its size")
	}
	s.count(graph)
	said := *d
	said.Graph = graph
	return out.Emit(ctx, it.With(&said))
}

// contentType is the document's media type, which a stage in front may have set, with the parameters that the server
// sent for that type.
func contentType(d *webrace.Document) string {
	sent := d.Header.Get("Content-Type")
	if mediaType, _, _ := mime.ParseMediaType(sent); d.MediaType == "" || mediaType == d.MediaType {
		return sent
	}
	return d.MediaType
}

func (s *stage) count(g *webrace.Graph) {
	s.env.Counter("triples").Add(int64(len(g.Triples)))
	s.env.Counter("problems").Add(int64(len(g.Problems)))
	if len(g.Triples) == 0 {
		s.env.Counter("silent").Add(1)
	}
	if !g.Whole {
		s.env.Counter("unwhole").Add(1)
	}
}
