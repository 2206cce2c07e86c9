// Package jsonld reads JSON-LD 1.1 as RDF (W3C Recommendations of 16 July 2020: JSON-LD 1.1, and its Processing
// Algorithms and API): context processing, expansion, and deserialization to RDF.
//
// Nothing is ever fetched: a context that a document names by a URL is looked up in [Contexts], which compiles each
// once for all documents and goroutines. Time and memory are in proportion to the document, but for contexts that hold
// below terms (scoped contexts), which multiply: definitions of terms are counted wherever they are applied, and have a
// limit. Whatever a document is, it ends with an error that tells where, within the limits or when its context ends.
package jsonld

import (
	"context"
	"iter"
	"math"

	"github.com/webrace/webrace/internal/rdf"
)

// Options determine how a document is read. The zero value is a document without a URL, under the contexts that are
// built in.
type Options struct {
	Base     string    // the URL of the document, against which relative IRIs are resolved; empty leaves them out
	Blank    string    // what labels of blank nodes begin with; "b" if empty: the nth of a document is Blank+n, from 0
	Contexts *Contexts // what contexts are known; nil for those that are built in
	Context  string    // the URL of a context that holds from the beginning, as a Link header names one; empty for none
	// Direction determines what becomes of the base direction of a text: nothing if empty; else "i18n-datatype" or
	// "compound-literal".
	Direction string
	// Escape is to percent-encode what no IRI can have, as a space or a brace, and to pass over white space around a
	// reference, as other syntaxes do in pages. The standard leaves out all that is said by such an IRI.
	Escape bool
	// Lenient is to read what pages have in their scripts and is no JSON: comments, control characters, the marks of a
	// section of text (CDATA), and a comma behind the last value.
	Lenient bool
	// Told, if set, is told of what states nothing in RDF and is left out, and of what is read as something else than is
	// written: each thing once, with its place.
	Told   func(*Error)
	Limits Limits
}

// Limits are how much a document may ask for. A field of zero is the default, a negative one is no limit. A document
// can have eight values of JSON, and two nodes and values of RDF, for each triple that it may state, and 64 MiB of
// IRIs, datatypes and languages in all.
type Limits struct {
	rdf.Limits
	// Definitions is how many definitions of terms are applied, of each term wherever its context is: 1,000,000. Long
	// IRIs count more.
	Definitions int
}

func (l Limits) withDefaults() Limits {
	l.Limits = l.Limits.WithDefaults()
	switch {
	case l.Definitions == 0:
		l.Definitions = 1_000_000
	case l.Definitions < 0:
		l.Definitions = math.MaxInt
	}
	return l
}

// ToRDF yields what a document states, in the order of the document. A quad that it states twice is yielded twice.
// Names of graphs are kept. The first error is the last thing that is yielded: an [Error], a [rdf.LimitError], or that
// of ctx, which is looked at every 1,000 steps. What was yielded before an error is not all that the document states.
//
// What is no well-formed RDF is left out, as the standard requires, and told: relative IRIs without a base, blank nodes
// as properties, keys that stand for nothing.
func ToRDF(ctx context.Context, body []byte, o Options) iter.Seq2[rdf.Quad, error] {
	return func(yield func(rdf.Quad, error) bool) {
		limits := o.Limits.withDefaults()
		w := &watch{ctx: ctx, about: &source{body: string(body)}, escape: o.Escape, lenient: o.Lenient, notes: notes{tell: o.Told}}
		var nodes []*node
		err := catch(func() {
			if len(body) > math.MaxInt32 {
				w.exceed("bytes of a document", math.MaxInt32)
			}
			nodes = expandDocument(w, o, limits)
		})
		if err == nil {
			e := newEmitter(w, o, limits, yield)
			if e.nodes(nodes); e.stopped {
				return
			}
			err = e.err
		}
		w.noteMore()
		if err != nil {
			yield(rdf.Quad{}, err)
		}
	}
}

// expandDocument returns the expanded form of a document.
func expandDocument(w *watch, o Options, limits Limits) []*node {
	root := read(w, w.about.body, limits)
	p := newProcessor(w, o.Contexts, o.Base, limits)
	a := &active{base: o.Base}
	if o.Context != "" {
		a = p.written(a, &value{kind: text, text: o.Context})
	}
	result := p.expand(a, "", &root, false)
	if !result.array && len(result.nodes) == 1 && result.nodes[0].isGraphAlone() {
		return result.nodes[0].items
	}
	return result.nodes
}
