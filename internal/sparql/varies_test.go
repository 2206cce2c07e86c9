package sparql_test

import (
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql"
)

func TestQueriesThatVary(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"SELECT (RAND() AS ?r) {}":                                               true,
		"ASK { FILTER(now() > 1) }":                                              true,
		"SELECT * { { SELECT (UUID() AS ?u) {} } }":                              true,
		"CONSTRUCT { <a:a> <a:b> ?u } { BIND(STRUUID() AS ?u) }":                 true,
		"SELECT (BNODE() AS ?b) (CONCAT('NOW()', 'x') AS ?now) { ?s ?p 'RAND' }": false,
	} {
		q, err := sparql.Parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		if q.Varies() != want || q.WithDataset([]webrace.Term{"<a:a>"}, nil).Varies() != want {
			t.Errorf("%s: %v", text, q.Varies())
		}
	}
}

// What a query kept is counted as its limit counts it.
func TestWhatAQueryKept(t *testing.T) {
	t.Parallel()
	data := sparql.NewMemory([]webrace.Triple{{Subject: "<a:a>", Predicate: "<a:b>", Object: `"c"`}, {Subject: "<a:b>", Predicate: "<a:b>", Object: `"d"`}})
	q, err := sparql.Parse("SELECT * { ?s ?p ?o } ORDER BY ?o", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, 1000} {
		r, err := q.Run(t.Context(), data, sparql.Limits{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range r.Solutions() {
			if err != nil {
				break
			}
		}
		if r.Kept() < 100 || (err != nil) != (memory == 1000) || memory > 0 && r.Kept() <= memory {
			t.Errorf("of %d bytes it kept %d: %v", memory, r.Kept(), err)
		}
	}
}
