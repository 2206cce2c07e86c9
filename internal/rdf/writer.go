package rdf

import (
	"bufio"
	"fmt"
	"io"
)

// Writer writes quads in a syntax while they come. Turtle, TriG and RDF/XML write what is said of one subject after
// another together. Syntaxes without graphs leave out the names of graphs. Not every graph can be written as RDF/XML:
// its predicates must end with a name of XML, and its literals must not have control characters.
type Writer struct {
	out  *bufio.Writer
	body body
	err  error
}

// body writes quads in one syntax.
type body interface {
	write(*bufio.Writer, Quad) error
	end(*bufio.Writer) error
}

// NewWriter returns a writer to w. Prefixes, namespaces by their prefix, are for the syntaxes that have them.
// N-Triples and N-Quads are canonical (RDF 1.2 N-Quads, section 4), but have the order of the calls, and U+FFFE and
// U+FFFF as they are.
func NewWriter(w io.Writer, syntax Syntax, prefixes map[string]string) *Writer {
	out := bufio.NewWriterSize(w, 32<<10)
	switch syntax {
	case NTriples, NQuads:
		return &Writer{out: out, body: linesBody(syntax == NQuads)}
	case Turtle, TriG:
		return &Writer{out: out, body: newTurtleBody(syntax == TriG, prefixes)}
	case RDFXML:
		return &Writer{out: out, body: newXMLBody(prefixes)}
	}
	return &Writer{out: out, err: fmt.Errorf("RDF is not written as %q: want %s, %s, %s, %s or %s",
		syntax, NTriples, NQuads, Turtle, TriG, RDFXML)}
}

// Write writes a quad. After an error it does nothing but return that error.
func (w *Writer) Write(q Quad) error {
	if w.err == nil {
		w.err = w.body.write(w.out, q)
	}
	return w.err
}

// Close writes the end of the document. It does not close what is written to.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.body.end(w.out)
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// linesBody writes N-Triples or, if true, N-Quads.
type linesBody bool

func (graphs linesBody) write(out *bufio.Writer, q Quad) error {
	out.WriteString(string(q.Subject))
	out.WriteByte(' ')
	out.WriteString(string(q.Predicate))
	out.WriteByte(' ')
	out.WriteString(string(q.Object))
	if bool(graphs) && q.Graph != "" {
		out.WriteByte(' ')
		out.WriteString(string(q.Graph))
	}
	_, err := out.WriteString(" .\n")
	return err
}

func (linesBody) end(*bufio.Writer) error { return nil }
