package rdf_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

func triple(i int) webrace.Triple {
	return webrace.Triple{Subject: rdf.NewIRI(fmt.Sprintf("http://a/%d", i)), Predicate: "<http://schema.org/name>", Object: rdf.NewTyped("1", rdf.XSDInteger)}
}

// Prefixes are those that are needed, also where there are more triples than are looked at; after an error nothing more
// is written.
func TestWriteTriples(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	for _, n := range []int{0, 1, 999, 1000, 1001, 2500} {
		for _, fails := range []bool{false, true} {
			var b strings.Builder
			err := rdf.WriteTriples(&b, rdf.Turtle, func(yield func(webrace.Triple, error) bool) {
				for i := range n {
					if !yield(triple(i), nil) {
						return
					}
				}
				if fails {
					yield(webrace.Triple{}, wrong)
				}
			})
			text := b.String()
			written := strings.Count(text, "schema:name 1 .")
			switch {
			case fails && (!errors.Is(err, wrong) || written > n):
				t.Errorf("%d triples and an error: %v, %d written", n, err, written)
			case !fails && (err != nil || written != n || strings.Contains(text, "@prefix schema:") != (n > 0) || strings.Contains(text, "foaf:")):
				t.Errorf("%d triples: %v, %d written, beginning with %.200s", n, err, written, text)
			}
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for iri, want := range map[string]string{
		"http://schema.org/name": "schema:name", "http://purl.org/rss/1.0/item": "rss:item", "http://a/b": "http://a/b",
		"http://schema.org/": "http://schema.org/", "urn:x": "urn:x", "": "",
	} {
		if got := rdf.ShortIRI(iri); got != want {
			t.Errorf("%q is %q, want %q", iri, got, want)
		}
	}
}
