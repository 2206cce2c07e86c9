package quads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// Queries over half a million quads; a query an op, with its reading, its plan and the text of what it finds.
func BenchmarkQuery(b *testing.B) {
	const pages = 20_000
	s := benchStore(b)
	benchCatalogue(b, s, pages)
	snapshot, err := s.Snapshot()
	must(b, err)
	defer snapshot.Close()
	const schema = "PREFIX schema: <http://schema.org/> "
	for name, text := range map[string]string{
		"star": schema + `SELECT ?thing ?name ?price { ?thing schema:brand <https://brands.example/7> ; a schema:Product ;
			schema:name ?name ; schema:price ?price ; schema:category ?category }`,
		"path":    schema + `SELECT ?brand { <https://shop1.example/catalogue/item-1.html#thing0> schema:isRelatedTo+/schema:brand ?brand }`,
		"keyword": schema + `SELECT ?thing ?name { ?thing <http://jena.apache.org/text#query> (schema:name "` + benchWords[40] + `") ; schema:name ?name }`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			rows := 0
			for range b.N {
				query, err := sparql.Parse(text, "")
				must(b, err)
				results, err := query.Run(context.Background(), snapshot, sparql.Limits{})
				must(b, err)
				for _, err := range results.Solutions() {
					if err != nil {
						b.Fatal(err)
					}
					rows++
				}
			}
			if rows == 0 {
				b.Fatal("no solutions")
			}
			b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
		})
	}
}

// benchCatalogue indexes pages whose first things lead to each other, anywhere in the catalogue.
func benchCatalogue(b *testing.B, s *Store, pages int) {
	var working sync.WaitGroup
	for w := range benchWorkers {
		working.Go(func() {
			for n := w; n < pages; n += benchWorkers {
				c, g := benchPage(n, 1)
				other := rand.New(rand.NewPCG(uint64(n), 10)).IntN(pages)
				g.Triples = append(g.Triples, webrace.Triple{
					Subject: rdf.NewIRI(c.URL + "#thing0"), Predicate: "<http://schema.org/isRelatedTo>",
					Object: rdf.NewIRI(fmt.Sprintf("https://shop%d.example/catalogue/item-%d.html#thing0", other%40, other)),
				})
				if _, err := s.Replace(c, g, nil); err != nil {
					b.Error(err)
				}
			}
		})
	}
	working.Wait()
}
