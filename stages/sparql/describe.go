package sparql

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/storage/quads"
)

// Names of the description (SPARQL 1.1 Service Description).
const (
	sd        = "http://www.w3.org/ns/sparql-service-description#"
	formats   = "http://www.w3.org/ns/formats/"
	textQuery = "http://jena.apache.org/text#query"
)

var resultFormats = []string{
	"SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV", "Turtle", "N-Triples", "RDF_XML",
}

// describe answers with what the endpoint is, and what is said in its default graph.
func (s *stage) describe(ctx context.Context, r *http.Request, d *quads.Snapshot, a *asked) error {
	at, err := s.at(r)
	if err != nil {
		return err
	}
	counted, err := s.counted(ctx, d)
	if err != nil {
		return err
	}
	triples := append(service(at), counted...)
	return writeGraph(a.out, a.format, func(yield func(webrace.Triple, error) bool) {
		for _, t := range triples {
			if !yield(t, nil) {
				return
			}
		}
	}, &a.rows)
}

// at returns the URL of the endpoint as the client knows it, which is also the base of the IRIs of its queries.
func (s *stage) at(r *http.Request) (string, error) {
	at := (&url.URL{Scheme: "http", Host: r.Host, Path: s.options.Path}).String()
	if !rdf.ValidIRI(at) {
		return "", refuse(http.StatusBadRequest, "%.200q is no name of a server", r.Host)
	}
	return at, nil
}

// service describes the endpoint at a URL.
func service(at string) (all []webrace.Triple) {
	self, dataset := rdf.NewIRI(at), rdf.NewBlank("all")
	say := func(subject webrace.Term, property string, object webrace.Term) {
		all = append(all, webrace.Triple{Subject: subject, Predicate: rdf.NewIRI(property), Object: object})
	}
	say(self, rdf.Type, rdf.NewIRI(sd+"Service"))
	say(self, sd+"endpoint", self)
	say(self, sd+"supportedLanguage", rdf.NewIRI(sd+"SPARQL11Query"))
	say(self, sd+"feature", rdf.NewIRI(sd+"UnionDefaultGraph"))
	say(self, sd+"propertyFeature", rdf.NewIRI(textQuery))
	for _, name := range resultFormats {
		say(self, sd+"resultFormat", rdf.NewIRI(formats+name))
	}
	say(self, sd+"defaultDataset", dataset)
	say(dataset, rdf.Type, rdf.NewIRI(sd+"Dataset"))
	say(dataset, sd+"defaultGraph", quads.Described)
	say(quads.Described, rdf.Type, rdf.NewIRI(sd+"Graph"))
	return all
}

// counted returns how much is said, by class and property. As long as the state is the same, it is counted once. What
// would take more than a query may is left out.
func (s *stage) counted(ctx context.Context, d *quads.Snapshot) ([]webrace.Triple, error) {
	within, cancel := context.WithTimeout(ctx, time.Duration(s.options.Timeout))
	defer cancel()
	select {
	case s.described.turn <- struct{}{}:
		defer func() { <-s.described.turn }()
	case <-within.Done():
		return nil, ctx.Err()
	}
	if s.described.state == d.State() {
		return s.described.triples, nil
	}
	triples, err := d.Describe(within, s.options.limits())
	var limit *sparql.LimitError
	if err != nil && !errors.As(err, &limit) && (ctx.Err() != nil || within.Err() == nil) {
		return nil, err
	}
	s.described.state, s.described.triples = d.State(), triples
	return triples, nil
}
