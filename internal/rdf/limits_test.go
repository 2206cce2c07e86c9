package rdf_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
)

// Each limit lets through what just meets it, by default and where it is set.
func TestLimits(t *testing.T) {
	t.Parallel()
	literal := func(n int) string { return `<http://a> <http://a> "` + strings.Repeat("a", n) + `" .` }
	iri := func(n int) string {
		return `<http:` + strings.Repeat("a", n-len("http:")) + `> <http://a> <http://a> .`
	}
	label := func(n int) string { return `_:` + strings.Repeat("a", n-len("_:")) + ` <http://a> <http://a> .` }
	lists := func(n int) string {
		return `<http://a> <http://a> ` + strings.Repeat("(", n) + strings.Repeat(")", n) + " ."
	}
	resolved := func(n int) string { return `<` + strings.Repeat("a", n-len("http://a/")) + `> a <> .` }
	prefixed := func(n int) string {
		return `@prefix : <http://a/> . :` + strings.Repeat("a", n-len("http://a/")) + ` a : .`
	}
	triples := func(n int) string { return strings.Repeat("<http://a> <http://a> <http://a> .\n", n) }
	elements := func(n int) string {
		return rdfHead + `<a>` + strings.Repeat(`<p rdf:parseType="Resource">`, n-2) + strings.Repeat(`</p>`, n-2) + `</a></rdf:RDF>`
	}
	text := func(n int) string { return rdfHead + `<a><p>` + strings.Repeat("a", n) + `</p></a></rdf:RDF>` }
	value := func(n int) string {
		return rdfHead + `<rdf:Description rdf:type="http:` + strings.Repeat("a", n-5) + `"/></rdf:RDF>`
	}
	for _, c := range []struct {
		what     string
		syntax   rdf.Syntax
		doc      func(n int) string
		standard int
		limits   rdf.Limits
		set      int
	}{
		{"triples", rdf.NTriples, triples, 100_000, rdf.Limits{Triples: 3}, 3},
		{"bytes of a literal", rdf.NTriples, literal, 256 << 10, rdf.Limits{Literal: 10}, 10},
		{"bytes of a literal", rdf.RDFXML, text, 256 << 10, rdf.Limits{Literal: 100}, 100},
		{"bytes of an IRI", rdf.NQuads, iri, 8 << 10, rdf.Limits{IRI: 20}, 20},
		{"bytes of an IRI", rdf.RDFXML, value, 8 << 10, rdf.Limits{IRI: 60}, 60},
		{"bytes of an IRI", rdf.Turtle, resolved, 8 << 10, rdf.Limits{IRI: 50}, 50},
		{"bytes of an IRI", rdf.TriG, prefixed, 8 << 10, rdf.Limits{IRI: 50}, 50},
		{"bytes of a label", rdf.NQuads, label, 8 << 10, rdf.Limits{IRI: 50}, 50},
		{"collections and property lists within each other", rdf.Turtle, lists, 256, rdf.Limits{Depth: 2}, 2},
		{"elements within each other", rdf.RDFXML, elements, 256, rdf.Limits{Depth: 4}, 4},
	} {
		for n, limits := range map[int]rdf.Limits{c.standard: {}, c.set: c.limits} {
			o := rdf.Options{Base: "http://a/", Limits: limits}
			if _, err := readWith(strings.NewReader(c.doc(n)), c.syntax, o); err != nil {
				t.Errorf("%s: %d %s: %v", c.syntax, n, c.what, err)
			}
			_, err := readWith(strings.NewReader(c.doc(n+1)), c.syntax, o)
			var limit *rdf.LimitError
			if !errors.As(err, &limit) || limit.What != c.what || limit.Line == 0 || limit.Column == 0 {
				t.Errorf("%s: %d %s: %v", c.syntax, n+1, c.what, err)
			}
		}
		none := rdf.Limits{Triples: -1, Literal: -1, IRI: -1, Depth: -1}
		if _, err := readWith(strings.NewReader(c.doc(c.standard+1)), c.syntax, rdf.Options{Base: "http://a/", Limits: none}); err != nil {
			t.Errorf("%s without a limit: %v", c.what, err)
		}
	}
}

func TestParseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	why := errors.New("it takes too long")
	for name, doc := range map[string]string{
		".nt": strings.Repeat("<a:> <b:> <c:> .\n", 5000), ".ttl": "<a:> <b:> " + strings.Repeat("1,", 5000) + "1 .",
		".rdf": rdfHead + strings.Repeat("<a/>", 5000) + "</rdf:RDF>",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		var last error
		for _, err := range rdf.Parse(ctx, strings.NewReader(doc), syntaxes[name], rdf.Options{}) {
			cancel(why)
			n++
			last = err
		}
		if n > 1001 || !errors.Is(last, why) {
			t.Errorf("%s: %d steps after the end, %v", name, n, last)
		}
	}
}
