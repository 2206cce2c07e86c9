package rdf

import (
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/webrace/webrace"
)

// knownNamespaces has the prefixes that people see, by what they stand for: those that RDFa knows, and that of RSS. Of
// two prefixes the longer tells more.
var knownNamespaces = sync.OnceValue(func() map[string]string {
	names := map[string]string{"http://purl.org/rss/1.0/": "rss"}
	for prefix, space := range KnownPrefixes {
		if len(prefix) > len(names[space]) {
			names[space] = prefix
		}
	}
	return names
})

// namespaceOf returns where the last part of an IRI begins.
func namespaceOf(iri string) string { return iri[:1+strings.LastIndexAny(iri, "#/")] }

// ShortIRI writes an IRI for a person, with the prefix of its namespace where that is well known.
func ShortIRI(iri string) string {
	space := namespaceOf(iri)
	if prefix := knownNamespaces()[space]; prefix != "" && len(space) < len(iri) {
		return prefix + ":" + iri[len(space):]
	}
	return iri
}

// prefixLookAhead is how many triples are looked at to find out which prefixes a graph needs.
const prefixLookAhead = 1000

// WriteTriples writes triples in a syntax while they come, with the prefixes of the namespaces that the first of them
// have. After an error of the sequence, which it returns, what was written is a part of what came before, and lacks its
// end.
func WriteTriples(w io.Writer, syntax Syntax, triples iter.Seq2[webrace.Triple, error]) error {
	var first []webrace.Triple
	var out *Writer
	begin := func() (err error) {
		out = NewWriter(w, syntax, prefixesOf(first))
		for _, t := range first {
			if err = out.Write(Quad{Triple: t}); err != nil {
				break
			}
		}
		return err
	}
	for t, err := range triples {
		switch {
		case err != nil:
		case out != nil:
			err = out.Write(Quad{Triple: t})
		default:
			if first = append(first, t); len(first) == prefixLookAhead {
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
		if space := namespaceOf(iri); knownNamespaces()[space] != "" {
			used[knownNamespaces()[space]] = space
		}
	}
	for _, t := range triples {
		for _, term := range []webrace.Term{t.Subject, t.Predicate, t.Object} {
			switch {
			case KindOf(term) == IRI && (term != t.Predicate || Value(term) != NS+"type"):
				add(Value(term))
			case Language(term) == "" && Datatype(term) != XSDString:
				add(Datatype(term))
			}
		}
	}
	return used
}
