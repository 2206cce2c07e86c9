// Package results writes what a query answers: the SPARQL 1.1 Query Results formats in JSON, XML, CSV and TSV.
//
// Writers stream: a row is on its way once some kilobytes of them are together, and memory does not grow with rows.
// What is written reads back the same, with these exceptions, which are those of the formats: XML has no place for most
// control characters, which become U+FFFD; CSV has texts alone, not what they are of.
package results

import (
	"fmt"
	"io"

	"github.com/webrace/webrace"
)

// Format is a format of results, by its media type.
type Format string

// The formats.
const (
	JSON Format = "application/sparql-results+json"
	XML  Format = "application/sparql-results+xml"
	CSV  Format = "text/csv"
	TSV  Format = "text/tab-separated-values"
)

// Formats are all formats, in the order in which a server prefers them.
var Formats = []Format{JSON, XML, TSV, CSV}

// flushAt is how many bytes are kept until they are written.
const flushAt = 16 << 10

// Writer writes the solutions of a query, row by row. After an error all calls give that error.
type Writer struct {
	w     io.Writer
	b     []byte
	vars  int
	rows  bool // there was a row
	err   error
	form  form
	names []string // of JSON and XML: what stands before the value of each variable
}

// form is what a format writes; all append to a buffer.
type form interface {
	head(b []byte, vars []string) []byte
	name(variable string) string
	row(b []byte, names []string, row []webrace.Term, first bool) []byte
	end(b []byte) []byte
	boolean(b []byte, value bool) []byte // nil if the format has none
}

func formOf(f Format) (form, error) {
	switch f {
	case JSON:
		return jsonForm{}, nil
	case XML:
		return xmlForm{}, nil
	case CSV:
		return csvForm{}, nil
	case TSV:
		return tsvForm{}, nil
	}
	return nil, fmt.Errorf("no format of results %q; there are %s, %s, %s and %s", f, JSON, XML, CSV, TSV)
}

// NewWriter returns a writer of solutions, whose variables are named without ? or $. Nothing is written before there is
// a first row, or Close.
func NewWriter(w io.Writer, f Format, vars []string) (*Writer, error) {
	form, err := formOf(f)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = form.name(v)
	}
	return &Writer{w: w, b: form.head(nil, vars), vars: len(vars), form: form, names: names}, nil
}

// Write writes a solution: a term for each variable, in their order, empty where it is unbound.
func (w *Writer) Write(row []webrace.Term) error {
	if w.err != nil {
		return w.err
	}
	if len(row) != w.vars {
		w.err = fmt.Errorf("a solution has %d terms, but there are %d variables", len(row), w.vars)
		return w.err
	}
	w.b = w.form.row(w.b, w.names, row, !w.rows)
	w.rows = true
	if len(w.b) >= flushAt {
		w.Flush()
	}
	return w.err
}

// Flush writes what is kept.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.b) > 0 {
		_, w.err = w.w.Write(w.b)
		w.b = w.b[:0]
	}
	return w.err
}

// Close writes the end. A reader of JSON or XML that does not find it knows that it has a part alone. It does not close
// what is written to.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.b = w.form.end(w.b)
	return w.Flush()
}

// WriteBoolean writes the answer of an ASK. CSV has none; TSV, whose recommendation has none either, has a line of the
// word, which no head is like.
func WriteBoolean(w io.Writer, f Format, value bool) error {
	form, err := formOf(f)
	if err != nil {
		return err
	}
	b := form.boolean(nil, value)
	if b == nil {
		return fmt.Errorf("%s has no place for the answer of an ASK: ask for %s, %s or %s", f, JSON, XML, TSV)
	}
	_, err = w.Write(b)
	return err
}

// splitLiteral takes a literal apart: its text as quoted, its language, its datatype; both are empty for a plain text.
func splitLiteral(t webrace.Term) (quoted, tag, datatype string) {
	end := len(t) - 1
	for t[end] != '"' {
		end--
	}
	quoted = string(t[:end+1])
	switch rest := string(t[end+1:]); {
	case rest == "":
	case rest[0] == '@':
		tag = rest[1:]
	default:
		datatype = rest[len("^^<") : len(rest)-1]
	}
	return quoted, tag, datatype
}
