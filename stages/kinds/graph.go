package kinds

import (
	"bytes"
	"context"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// triples are what a document states, as N-Triples outside of Go.
type triples struct{ list []webrace.Triple }

func (t *triples) MarshalText() ([]byte, error) {
	if t == nil {
		return nil, nil
	}
	var b bytes.Buffer
	w := rdf.NewWriter(&b, rdf.NTriples, nil)
	for _, one := range t.list {
		if err := w.Write(rdf.Quad{Triple: one}); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// UnmarshalText reads what another program made, or left as it was: blank nodes keep their labels.
func (t *triples) UnmarshalText(text []byte) error {
	t.list = []webrace.Triple{}
	known := make(map[webrace.Triple]bool)
	o := rdf.Options{KeepLabels: true, Limits: rdf.Limits{Triples: -1, Literal: -1, IRI: -1}}
	for q, err := range rdf.Parse(context.Background(), bytes.NewReader(text), rdf.NTriples, o) {
		if err != nil {
			return err
		}
		if !known[q.Triple] {
			known[q.Triple] = true
			t.list = append(t.list, q.Triple)
		}
	}
	return nil
}

// sizeOfGraph is about how many bytes a graph takes: the terms of properties and subjects stand in several triples, and
// are there once.
func sizeOfGraph(g *webrace.Graph) int {
	const triple = 3 * 16
	size := cap(g.Triples) * triple
	var subject webrace.Term
	for _, t := range g.Triples {
		size += len(t.Object)
		if t.Subject != subject {
			subject = t.Subject
			size += len(subject)
		}
	}
	for _, problem := range g.Problems {
		size += len(problem)
	}
	return size
}
