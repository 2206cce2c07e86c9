package quads

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// Beyond what is counted, an estimate is within a factor of three of the truth, once quads are in tables.
func TestEstimates(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	s := open(t, vfs.NewMem())
	g := &webrace.Graph{Whole: true}
	sizes := map[webrace.Term]int64{}
	for n := range 9000 {
		p := rdf.NewIRI(fmt.Sprint("http://example.org/p", []int{0, 0, 0, 0, 0, 0, 1, 1, 2}[n%9]))
		o := rdf.NewIRI(fmt.Sprint("http://example.org/o", n%7))
		g.Triples = append(g.Triples, webrace.Triple{Subject: rdf.NewIRI(fmt.Sprint("http://example.org/s", n)), Predicate: p, Object: o})
		sizes[p]++
		sizes[o]++
	}
	for n := range 2 {
		durably(t, s, Context{URL: fmt.Sprint("http://example.org/", n), Version: 1}, g)
	}
	must(t, s.db.Flush())
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	check := func(what string, p sparql.Pattern, want int64) {
		t.Helper()
		if n, err := snapshot.Estimate(p); err != nil || n < want/3 || n > 3*want {
			t.Errorf("%s: estimated %d, %v; there are %d", what, n, err, want)
		}
	}
	for term, n := range sizes {
		id := find(t, snapshot, term)
		if term[len("<http://example.org/")] == 'p' {
			check(string(term), sparql.Pattern{Predicate: id}, 2*n)
			check("the union of "+string(term), sparql.Pattern{Predicate: id, Graph: sparql.Union}, n)
		} else {
			check(string(term), sparql.Pattern{Object: id}, 2*n)
		}
	}
	check("all", sparql.Pattern{}, 18_002)
	check("a context", sparql.Pattern{Graph: find(t, snapshot, "<http://example.org/0>")}, 9000)
	check("provenance", sparql.Pattern{Graph: provenanceID}, 4)
	check("the union", sparql.Pattern{Graph: sparql.Union}, 9000)
}
