// Package rdfshow writes RDF for people: with the prefixes that are well known.
package rdfshow

import (
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/transform"
)

// namespaces has the prefixes that people see, by what they stand for: those that RDFa knows, and that of RSS. Of two
// prefixes the longer says more.
var namespaces = sync.OnceValue(func() map[string]string {
	names := map[string]string{"http://purl.org/rss/1.0/": "rss"}
	for prefix, space := range transform.RDFaPrefixes {
		if len(prefix) > len(names[space]) {
			names[space] = prefix
		}
	}
	return names
})

// namespaceOf returns where the last part of an IRI begins.
func namespaceOf(iri string) string { return iri[:1+strings.LastIndexAny(iri, "#/")] }

// Short writes an IRI for a person, with the prefix of its namespace where that is well known.
func Short(iri string) string {
	space := namespaceOf(iri)
	if prefix := namespaces()[space]; prefix != "" && len(space) < len(iri) {
		return prefix + ":" + iri[len(space):]
	}
	return iri
}

// lookAhead is how many triples are looked at to find out which prefixes a graph needs.
const lookAhead = 1000

// Write writes triples in a syntax while they come, with the prefixes of the namespaces that the first of them have.
// After an error of the sequence, which it returns, what was written is a part of what came before, and lacks its end.
func Write(w io.Writer, syntax rdf.Syntax, triples iter.Seq2[webrace.Triple, error]) error {
	var first []webrace.Triple
	var out *rdf.Writer
	begin := func() (err error) {
		out = rdf.NewWriter(w, syntax, prefixesOf(first))
		for _, t := range first {
			if err = out.Write(rdf.Quad{Triple: t}); err != nil {
				break
			}
		}
		return err
	}
	for t, err := range triples {
		switch {
		case err != nil:
		case out != nil:
			err = out.Write(rdf.Quad{Triple: t})
		default:
			if first = append(first, t); len(first) == lookAhead {
				err = begin()
			}
		}
		if err != nil {
			return err
		}
	}
	if out == nil {
		if err := begin(); err != nil {
			return err
		}
	}
	return out.Close()
}

// prefixesOf returns the prefixes of the namespaces of some triples; of those of properties, that of rdf is needed for
// more than rdf:type alone.
func prefixesOf(triples []webrace.Triple) map[string]string {
	used := make(map[string]string)
	add := func(iri string) {
		if space := namespaceOf(iri); namespaces()[space] != "" {
			used[namespaces()[space]] = space
		}
	}
	for _, t := range triples {
		for _, term := range []webrace.Term{t.Subject, t.Predicate, t.Object} {
			switch {
			case rdf.KindOf(term) == rdf.IRI && (term != t.Predicate || rdf.Value(term) != rdf.NS+"type"):
				add(rdf.Value(term))
			case rdf.Language(term) == "" && rdf.Datatype(term) != rdf.XSDString:
				add(rdf.Datatype(term))
			}
		}
	}
	return used
}
