package sparql

import (
	"github.com/webrace/webrace/internal/rdf"
	"io"
	"iter"
	"net/http"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/stages/sparql/results"
)

// writeResults writes what a query answers, and counts solutions or triples.
func writeResults(w io.Writer, f format, r *sparql.Results, rows *int64) error {
	switch {
	case f.graph != "":
		return writeGraph(w, f, r.Triples(), rows)
	case r.Form == sparql.Ask:
		return results.WriteBoolean(w, f.solutions, r.Boolean)
	}
	out, err := results.NewWriter(w, f.solutions, r.Vars)
	if err != nil {
		return err
	}
	for row, err := range r.Solutions() {
		if err == nil {
			*rows++
			err = out.Write(row)
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

// writeGraph writes triples. Not every graph can be written as RDF/XML.
func writeGraph(w io.Writer, f format, triples iter.Seq2[webrace.Triple, error], n *int64) error {
	to := &failing{w: w}
	var reading error
	err := rdf.WriteTriples(to, f.graph, func(yield func(webrace.Triple, error) bool) {
		for t, err := range triples {
			*n++
			if reading = err; !yield(t, err) {
				return
			}
		}
	})
	if err == nil || reading != nil || to.err != nil {
		return err
	}
	return refuse(http.StatusNotAcceptable, "the graph cannot be written as %s: %v; ask for text/turtle", f.media, err)
}

// failing remembers that writing has failed.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(p []byte) (n int, err error) {
	n, err = f.w.Write(p)
	f.err = err
	return n, err
}
