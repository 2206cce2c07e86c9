package rdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/webrace/webrace"
)

// Syntax is a syntax of RDF, by its media type.
type Syntax string

// The syntaxes that are read and written.
const (
	NTriples Syntax = "application/n-triples"
	NQuads   Syntax = "application/n-quads"
	Turtle   Syntax = "text/turtle"
	TriG     Syntax = "application/trig"
	RDFXML   Syntax = "application/rdf+xml"
)

// Options are what [Parse] is told beside the document.
type Options struct {
	Base  string // what relative IRIs are resolved against; if empty, a relative IRI is an error
	Blank string // what labels of blank nodes begin with; "b" if empty: the nth of a document is Blank+n, from 0

	// KeepLabels keeps the labels of blank nodes of N-Triples and N-Quads as they are written, and Blank is not used:
	// for what this package wrote. The other syntaxes have blank nodes without a label, and ignore it.
	KeepLabels bool

	Limits Limits
}

// Limits are how much a document may ask for. A field of zero is the default, a negative one is no limit. Beside them,
// what prefixes and the like make of a few bytes is bounded by the length of the document.
type Limits struct {
	Triples int // 100,000
	Literal int // bytes of a literal's text as it is written: 256 KiB
	IRI     int // bytes of an IRI, a label or a language tag as it is written, and of an IRI that was resolved: 8 KiB
	Depth   int // collections, property lists and elements within each other: 256
}

const noLimit = math.MaxInt / 8

// WithDefaults returns limits of which none is zero or negative.
func (l Limits) WithDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{{&l.Triples, 100_000}, {&l.Literal, 256 << 10}, {&l.IRI, 8 << 10}, {&l.Depth, 256}} {
		switch {
		case *f.field == 0:
			*f.field = f.value
		case *f.field < 0:
			*f.field = noLimit
		}
	}
	return l
}

// SyntaxError is where a document breaks the rules of its syntax. Lines and columns count from 1, columns in
// characters.
type SyntaxError struct {
	Line, Column int
	Says         string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Says)
}

// LimitError is where a document exceeds one of the [Limits].
type LimitError struct {
	Line, Column int
	What         string // what there is too much of, as "bytes of a literal"
	Limit        int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("line %d, column %d: more than %d %s", e.Line, e.Column, e.Limit, e.What)
}

// Parse reads a document in UTF-8 while it arrives, and yields what it states in its order; a statement that stands
// twice is yielded twice. The first error is the last thing that is yielded: a [SyntaxError], a [LimitError], that of
// the reader, or that of ctx, which is looked at every 1,000 quads and at each reading. What was yielded before an
// error is not all that the document states.
func Parse(ctx context.Context, r io.Reader, syntax Syntax, o Options) iter.Seq2[Quad, error] {
	return func(yield func(Quad, error) bool) {
		p, err := newReader(ctx, r, o)
		if err == nil {
			p.yield = yield
			err = p.parse(syntax)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Quad{}, err)
		}
	}
}

var errStopped = errors.New("the caller of Parse wants no more")

// reader is what the readers of all syntaxes share.
type reader struct {
	input
	limits Limits
	base   Base
	lax    bool // relative IRIs are resolved against base; otherwise there must be none
	yield  func(Quad, error) bool
	quads  int

	iris     interner // of IRIs between < and >, which are looked up as they are written
	names    interner // of IRIs from prefixed names and resolved ones
	literals interner
	made     int    // bytes of the long terms that were made in scratch
	scratch  []byte // the term that is being put together
	spare    []byte // the same, while a part of it is read

	keepLabels bool
	blank      string
	blanks     map[string]webrace.Term // by label
	blankCount int
}

func newReader(ctx context.Context, r io.Reader, o Options) (*reader, error) {
	p := &reader{input: newInput(ctx, r), limits: o.Limits.WithDefaults(), blank: o.Blank, keepLabels: o.KeepLabels}
	if p.blank == "" {
		p.blank = "b"
	}
	if o.Base == "" {
		return p, nil
	}
	var err error
	p.base, err = ParseBase(o.Base)
	return p, err
}

func (r *reader) parse(syntax Syntax) error {
	switch syntax {
	case NTriples, NQuads:
		return r.parseLines(syntax == NQuads)
	case Turtle, TriG:
		return r.parseTurtle(syntax == TriG)
	case RDFXML:
		return r.parseXML()
	default:
		return fmt.Errorf("RDF is not read from %q: want %s, %s, %s, %s or %s",
			syntax, NTriples, NQuads, Turtle, TriG, RDFXML)
	}
}

// Prefixes, bases, datatypes, languages and namespaces are written once, and are in each term that is made with them.
// So the long terms of a document may have as many bytes as anyTerms and growth times its own length in all. Short ones
// cannot have many more, since triples have a limit.
const (
	anyTerms = 4 << 20
	growth   = 16
)

// term returns the term in scratch.
func (r *reader) term(t *interner) (webrace.Term, error) {
	if known, ok := t.find(r.scratch); ok {
		return known, nil
	}
	if len(r.scratch) > longInterned {
		r.made += len(r.scratch)
		if most := anyTerms + growth*(r.dropped+r.pos); r.made > most {
			return "", r.limitError(0, "bytes of terms that the document makes of prefixes, bases, datatypes and languages up to here", most)
		}
	}
	return t.add(r.scratch), nil
}

// emit yields a quad.
func (r *reader) emit(subject, predicate, object, graph webrace.Term) error {
	if r.quads >= r.limits.Triples {
		return r.limitError(0, "triples", r.limits.Triples)
	}
	if r.quads++; r.quads%1000 == 0 {
		if err := r.ctx.Err(); err != nil {
			return context.Cause(r.ctx)
		}
	}
	q := Quad{Triple: webrace.Triple{Subject: subject, Predicate: predicate, Object: object}, Graph: graph}
	if !r.yield(q, nil) {
		return errStopped
	}
	return nil
}
