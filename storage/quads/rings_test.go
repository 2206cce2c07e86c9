package quads

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// TestRings asks for rings of four patterns of many triples each, whole and page by page. Ten graphs state them, some
// of the triples in several.
func TestRings(t *testing.T) {
	t.Parallel()
	const size, nodes, graphs = 1500, 700, 10
	r := rand.New(rand.NewPCG(27, 4))
	s := open(t, vfs.NewMem())
	said := make([]*webrace.Graph, graphs)
	for i := range said {
		said[i] = &webrace.Graph{Whole: true}
	}
	edges := map[byte]map[int][]int{}
	for _, property := range []byte("pqrs") {
		edges[property] = map[int][]int{}
		for range size {
			from, to := r.IntN(nodes), r.IntN(nodes)
			triple := webrace.Triple{
				Subject: node(from), Predicate: rdf.NewIRI("http://example.org/" + string(property)), Object: node(to),
			}
			for range 1 + r.IntN(2) {
				if g := said[r.IntN(graphs)]; !slices.Contains(g.Triples, triple) {
					g.Triples = append(g.Triples, triple)
				}
			}
			if !slices.Contains(edges[property][from], to) {
				edges[property][from] = append(edges[property][from], to)
			}
		}
	}
	for i, g := range said {
		durably(t, s, Context{URL: fmt.Sprint("http://example.org/graph", i), Version: 1}, g)
	}
	var want []webrace.Term
	for a, bs := range edges['p'] {
		for _, b := range bs {
			for _, c := range edges['q'][b] {
				for _, d := range edges['r'][c] {
					if slices.Contains(edges['s'][d], a) {
						want = append(want, webrace.Term(fmt.Sprintf(`"%d %d %d %d"`, a, b, c, d)))
					}
				}
			}
		}
	}
	slices.Sort(want)
	const query = `PREFIX : <http://example.org/> SELECT (CONCAT(SUBSTR(STR(?a), 21), " ", SUBSTR(STR(?b), 21), " ", SUBSTR(STR(?c), 21), " ",
		SUBSTR(STR(?d), 21)) AS ?ring) { ?a :p ?b . ?b :q ?c . ?c :r ?d . ?d :s ?a }`
	if got := column(t, s, query); !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("%d rings, want %d", len(got), len(want))
	}
	var pages []webrace.Term
	for page := range len(want)/7 + 1 {
		pages = append(pages, column(t, s, fmt.Sprintf("%s LIMIT 7 OFFSET %d", query, 7*page))...)
	}
	if slices.Sort(pages); !slices.Equal(pages, want) {
		t.Errorf("page by page there are %d rings, want %d", len(pages), len(want))
	}
}

func node(n int) webrace.Term { return rdf.NewIRI(fmt.Sprint("http://example.org/n", n)) }
