package quads

import (
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql"
)

// TestDates asks what was fetched in the last week.
func TestDates(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	for url, age := range map[string]time.Duration{
		"http://example.org/hour": time.Hour, "http://example.org/days": 6 * 24 * time.Hour, "http://example.org/week": 8 * 24 * time.Hour,
	} {
		durably(t, s, Context{URL: url, Version: 1, At: time.Now().Add(-age)}, &webrace.Graph{Whole: true, Triples: []webrace.Triple{
			{Subject: "<http://example.org/s>", Predicate: "<http://example.org/p>", Object: `"` + webrace.Term(url) + `"`},
		}})
	}
	got := column(t, s, `PREFIX dcterms: <http://purl.org/dc/terms/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
		SELECT ?page { GRAPH <urn:webrace:provenance> { ?page dcterms:modified ?at FILTER(?at > NOW() - "P7D"^^xsd:dayTimeDuration) } }`)
	if want := []webrace.Term{"<http://example.org/days>", "<http://example.org/hour>"}; !slices.Equal(got, want) {
		t.Errorf("in the last week: %v, want %v", got, want)
	}
}

// column returns the values of a query of one variable, sorted.
func column(t testing.TB, s *Store, text string) (terms []webrace.Term) {
	t.Helper()
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	query, err := sparql.Parse(text, "")
	must(t, err)
	results, err := query.Run(t.Context(), snapshot, sparql.Limits{})
	must(t, err)
	for row, err := range results.Solutions() {
		must(t, err)
		terms = append(terms, row[0])
	}
	slices.Sort(terms)
	return terms
}
