package rdf_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
)

// corpus is a document of people, as FOAF has them: subjects with half a dozen properties, of which some repeat.
func corpus(people int) []rdf.Quad {
	const foaf, ex = "http://xmlns.com/foaf/0.1/", "http://people.example.org/id/"
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range people {
		s := fmt.Sprintf("<%sperson%d>", ex, i)
		fmt.Fprintf(&b, "%s <%s> <%sPerson> .\n", s, rdf.Type, foaf)
		fmt.Fprintf(&b, "%s <%sname> \"Person Number %d\" .\n", s, foaf, i)
		fmt.Fprintf(&b, "%s <%sbased_near> \"Wörgl %d\"@de .\n", s, foaf, random.IntN(50))
		fmt.Fprintf(&b, "%s <%sage> \"%d\"^^<%s> .\n", s, foaf, random.IntN(90), rdf.XSDInteger)
		fmt.Fprintf(&b, "%s <%shomepage> <http://www.example.org/~person%d/> .\n", s, foaf, i)
		for range 3 {
			fmt.Fprintf(&b, "%s <%sknows> <%sperson%d> .\n", s, foaf, ex, random.IntN(people))
		}
	}
	quads, err := read(&b, rdf.NTriples, "")
	if err != nil {
		panic(err)
	}
	return quads
}

var foafPrefixes = map[string]string{"foaf": "http://xmlns.com/foaf/0.1/", "id": "http://people.example.org/id/"}

// BenchmarkParsePage reads a document of the size of a page's, 24 triples.
func BenchmarkParsePage(b *testing.B) {
	quads := corpus(3)
	for _, extension := range []string{".nt", ".ttl", ".rdf"} {
		body := []byte(write(quads, syntaxes[extension], foafPrefixes))
		b.Run(extension[1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(bytes.NewReader(body), syntaxes[extension], ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParse reads 80,000 triples in each syntax. WEBRACE_CORPUS=DIR writes them there, for other programs.
func BenchmarkParse(b *testing.B) {
	quads := corpus(10_000)
	for _, extension := range []string{".nt", ".nq", ".ttl", ".rdf"} {
		body := []byte(write(quads, syntaxes[extension], foafPrefixes))
		if dir := os.Getenv("WEBRACE_CORPUS"); dir != "" {
			os.WriteFile(dir+"/corpus"+extension, body, 0o644)
		}
		b.Run(extension[1:], func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range rdf.Parse(b.Context(), bytes.NewReader(body), syntaxes[extension], rdf.Options{}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(len(quads)*b.N)/b.Elapsed().Seconds(), "triples/s")
		})
	}
}

// BenchmarkWrite writes 80,000 triples in each syntax.
func BenchmarkWrite(b *testing.B) {
	quads := corpus(10_000)
	for _, extension := range []string{".nq", ".ttl", ".rdf"} {
		b.Run(extension[1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := rdf.NewWriter(io.Discard, syntaxes[extension], foafPrefixes)
				for _, q := range quads {
					w.Write(q)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(quads)*b.N)/b.Elapsed().Seconds(), "triples/s")
		})
	}
}
