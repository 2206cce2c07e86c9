package quads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/webrace/webrace"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// benchPage returns what a page of a catalogue states: 25 triples about four things, most of them new, with some text.
func benchPage(page, version int) (Context, *webrace.Graph) {
	rng := rand.New(rand.NewPCG(uint64(page), 9))
	url := fmt.Sprintf("https://shop%d.example/catalogue/item-%d.html", page%40, page)
	g := &webrace.Graph{Whole: true}
	say := func(subject, predicate string, object webrace.Term) {
		g.Triples = append(g.Triples, webrace.Triple{Subject: rdf.NewIRI(subject), Predicate: rdf.NewIRI("http://schema.org/" + predicate), Object: object})
	}
	text := func(words int) webrace.Term {
		all := make([]string, words)
		for i := range all {
			all[i] = benchWords[int(float64(len(benchWords))*rng.Float64()*rng.Float64())]
		}
		return rdf.NewLangString(strings.Join(all, " "), "en")
	}
	for i := range 4 {
		thing := fmt.Sprintf("%s#thing%d", url, i)
		g.Triples = append(g.Triples, webrace.Triple{Subject: rdf.NewIRI(thing), Predicate: rdf.NewIRI(rdf.Type), Object: rdf.NewIRI("http://schema.org/Product")})
		say(thing, "name", text(4))
		say(thing, "price", rdf.NewTyped(fmt.Sprintf("%d.%02d", rng.IntN(200)+version, rng.IntN(100)), rdf.XSDDecimal))
		say(thing, "brand", rdf.NewIRI(fmt.Sprintf("https://brands.example/%d", rng.IntN(500))))
		say(thing, "category", rdf.NewString(fmt.Sprint("category ", rng.IntN(50))))
		say(thing, "related", rdf.NewIRI(fmt.Sprintf("https://shop%d.example/catalogue/item-%d.html#thing0", page%40, rng.IntN(page+100))))
	}
	say(url, "description", text(20))
	return Context{URL: url, Version: version, At: someTime, MediaType: "text/html", Digest: webrace.Digest{byte(page), byte(page >> 8), byte(version)}}, g
}

var benchWords = func() (all []string) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 4000 {
		word := make([]byte, 3+rng.IntN(7))
		for i := range word {
			word[i] = "etaoinsrhldcumfpg"[rng.IntN(17)]
		}
		all = append(all, string(word))
	}
	return all
}()

const benchWorkers = 16

// benchReplace has several callers index pages, and wait until these are durable.
func benchReplace(b *testing.B, s *Store, from, pages, version int) {
	var working sync.WaitGroup
	for w := range benchWorkers {
		working.Go(func() {
			for n := w; n < pages; n += benchWorkers {
				c, g := benchPage(from+n, version)
				done := make(chan error, 1)
				_, err := s.Replace(c, g, func(err error) { done <- err })
				if err == nil {
					err = <-done
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	working.Wait()
}

func benchStore(b *testing.B) *Store {
	s, err := Open(b.TempDir(), Options{})
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	return s
}

// Pages that are new, durable, with their words; a page an op. Making the pages is part of it.
func BenchmarkIndex(b *testing.B) {
	s := benchStore(b)
	b.ResetTimer()
	benchReplace(b, s, 0, b.N, 1)
	b.StopTimer()
	must(b, s.db.Flush())
	must(b, s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, true))
	st, err := s.Stats()
	must(b, err)
	var bytes uint64
	for _, l := range s.db.DB.(interface{ Metrics() *pebble.Metrics }).Metrics().Levels {
		bytes += uint64(l.TablesSize)
	}
	b.ReportMetric(float64(bytes)/float64(st.Quads), "B/quad")
	b.ReportMetric(float64(st.Quads)/float64(b.N), "quads/op")
}

// Pages that state what they stated.
func BenchmarkUnchanged(b *testing.B) {
	s := benchStore(b)
	benchReplace(b, s, 0, 2000, 1)
	b.ResetTimer()
	for n := range b.N {
		c, g := benchPage(n%2000, 1)
		_, err := s.Replace(c, g, nil)
		must(b, err)
	}
}

// What the pages themselves cost.
func BenchmarkPage(b *testing.B) {
	for n := range b.N {
		benchPage(n, 1)
	}
}

// Pages of which 4 of 25 triples have changed.
func BenchmarkChanged(b *testing.B) {
	s := benchStore(b)
	benchReplace(b, s, 0, 2000, 1)
	b.ResetTimer()
	for n := range b.N {
		c, g := benchPage(n%2000, 2+n/2000)
		_, err := s.Replace(c, g, nil)
		must(b, err)
	}
}

// A file of the same pages.
func BenchmarkImport(b *testing.B) {
	s := benchStore(b)
	b.ResetTimer()
	_, err := s.Import(context.Background(), func(yield func(rdf.Quad, error) bool) {
		for n := range b.N {
			c, g := benchPage(n, 1)
			for _, t := range g.Triples {
				if !yield(rdf.Quad{Triple: t, Graph: rdf.NewIRI(c.URL)}, nil) {
					return
				}
			}
		}
	})
	must(b, err)
}

// What a page points to, as quad-links asks it: one pattern of a page, with a cursor that is used again, and the text
// of what is found.
func BenchmarkLinks(b *testing.B) {
	const pages = 4000
	s := benchStore(b)
	benchReplace(b, s, 0, pages, 1)
	must(b, s.db.Flush())
	snapshot, err := s.Snapshot()
	must(b, err)
	defer snapshot.Close()
	related, err := snapshot.Find("<http://schema.org/related>")
	must(b, err)
	c, err := snapshot.Cursor(sparql.Pattern{Predicate: related, Graph: provenanceID})
	must(b, err)
	defer c.Close()
	b.ResetTimer()
	for n := range b.N {
		context, _ := benchPage(n*7%pages, 1)
		in, err := snapshot.Find(rdf.NewIRI(context.URL))
		must(b, err)
		found := 0
		for ok := c.Seek(sparql.Pattern{Predicate: related, Graph: in}); ok; ok = c.Next() {
			_, err := snapshot.Term(c.Quad().Object)
			must(b, err)
			found++
		}
		if found != 4 {
			b.Fatalf("page %d has %d links", n%pages, found)
		}
	}
}

// Going through quads of all contexts, each triple once.
func BenchmarkUnion(b *testing.B) {
	s := benchStore(b)
	benchReplace(b, s, 0, 2000, 1)
	must(b, s.db.Flush())
	snapshot, err := s.Snapshot()
	must(b, err)
	defer snapshot.Close()
	c, err := snapshot.Cursor(sparql.Pattern{Graph: sparql.Union})
	must(b, err)
	defer c.Close()
	b.ResetTimer()
	for range b.N {
		if !c.Next() {
			must(b, c.Err())
			c.Seek(sparql.Pattern{Graph: sparql.Union})
		}
	}
}
