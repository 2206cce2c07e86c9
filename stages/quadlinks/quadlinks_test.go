package quadlinks

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

const (
	here    = "http://example.org/me.ttl?of={nina}" // which is no IRI
	seeAlso = "<http://www.w3.org/2000/01/rdf-schema#seeAlso>"
)

// indexed is a data directory in which two documents are indexed: here and another one.
func indexed(t *testing.T, triples ...webrace.Triple) *pipeline.Resources {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	store, err := dir.Quads()
	if err != nil {
		t.Fatal(err)
	}
	other := []webrace.Triple{{Subject: "_:x", Predicate: seeAlso, Object: "<http://example.org/of-another>"}}
	for url, says := range map[string][]webrace.Triple{here: triples, "http://example.org/other": other} {
		c := quads.Context{URL: url, Version: 1, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		if _, err := store.Replace(c, &webrace.Graph{Triples: says, Whole: true}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return resources
}

func document() *webrace.Document {
	return &webrace.Document{URL: here, Outcome: webrace.NotModified, Reach: []webrace.Reach{{Crawl: "c", Distance: 2}}}
}

var says = []webrace.Triple{
	{Subject: "_:x", Predicate: seeAlso, Object: "<http://example.org/nina#me>"},
	{Subject: "_:x", Predicate: seeAlso, Object: "<http://example.org/nina>"},
	{Subject: "_:x", Predicate: seeAlso, Object: "_:y"},
	{Subject: "_:x", Predicate: seeAlso, Object: "<mailto:nina@example.org>"},
	{Subject: "_:x", Predicate: "<http://purl.org/rss/1.0/link>", Object: `"http://example.org/item"`},
	{Subject: "_:x", Predicate: "<http://purl.org/rss/1.0/link>", Object: `"no address"`},
	{Subject: "_:x", Predicate: "<http://xmlns.com/foaf/0.1/knows>", Object: "<http://example.org/iason>"},
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "quad-links", Options: defaults, Resources: indexed(t, says...), Inputs: []any{document()}})
}

func linksOf(r *stagetest.Result) (urls []string) {
	for _, value := range r.Out[portLinks] {
		l := value.(*webrace.Links)
		if l.From == here && len(l.Reach) == 1 && l.Via == webrace.ViaLink {
			urls = append(urls, l.URLs...)
		}
	}
	slices.Sort(urls)
	return urls
}

func TestWhatADocumentSaysLeadsOn(t *testing.T) {
	t.Parallel()
	resources := indexed(t, says...)
	r := stagetest.Try(t, stagetest.Case{Type: "quad-links", Options: defaults, Resources: resources, Inputs: []any{document()}})
	if want := []string{"http://example.org/item", "http://example.org/nina"}; len(r.Failures) > 0 || !slices.Equal(linksOf(r), want) {
		t.Errorf("%v: it leads to %q, want %q", r.Failures, linksOf(r), want)
	}
	for counter, want := range map[string]int64{"quad_links": 2, "not_web": 2} {
		if n := r.Counters[counter]; n != want {
			t.Errorf("%s is %d, want %d", counter, n, want)
		}
	}

	own := defaults
	own.Queries = []string{"SELECT ?whom { ?who <http://xmlns.com/foaf/0.1/knows> ?whom }"}
	r = stagetest.Try(t, stagetest.Case{Type: "quad-links", Options: own, Resources: resources, Inputs: []any{document()}})
	if want := []string{"http://example.org/iason"}; !slices.Equal(linksOf(r), want) {
		t.Errorf("by a query of its own it leads to %q, want %q", linksOf(r), want)
	}

	held := document()
	held.Header = http.Header{"X-Robots-Tag": {"nofollow"}}
	r = stagetest.Try(t, stagetest.Case{Type: "quad-links", Options: defaults, Resources: resources, Inputs: []any{held}})
	if len(linksOf(r)) > 0 || len(r.Out[""]) != 1 || r.Counters["nofollow"] != 1 {
		t.Errorf("what is not to be followed leads to %q", linksOf(r))
	}
}

func TestQueriesThatCannotBe(t *testing.T) {
	t.Parallel()
	for query, says := range map[string]string{
		"":                                 "there is none",
		"SELECT ?a {":                      "line 1",
		"ASK {}":                           "SELECT of one variable",
		"SELECT ?a ?b { ?a ?b ?c }":        "SELECT of one variable",
		"SELECT ?a { SERVICE <http://b> {": "SERVICE",
	} {
		o := defaults
		if o.Queries = []string{query}; query == "" {
			o.Queries = nil
		}
		var fault *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &fault) || fault.Option != "queries" || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", query, err, says)
		}
	}
}
