package quads

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Imported is what came of an import.
type Imported struct {
	Contexts       int // that were replaced
	Added, Removed int // quads of them
	Ignored        int // quads of the provenance graph that are none of ours, or speak of contexts that the quads say nothing of
}

// importPart is how many quads are read before they are written.
const importPart = 20_000

// Import replaces what the contexts state that quads name as their graphs. What the provenance graph states of them
// becomes their records. Blank nodes belong to their context, so one that two graphs share becomes two; labels that
// [Snapshot.Export] wrote are kept, if the reader keeps them.
//
// Each context changes by itself, and one of more than 20,000 quads, or whose quads do not follow each other, in
// several steps; a document that replaces it in between stays. If a quad is wrong, or the iterator yields an error,
// what was written before stays: to import the same again puts that right. It returns when all is durable. Memory grows
// with the number of contexts.
func (s *Store) Import(ctx context.Context, quads iter.Seq2[rdf.Quad, error]) (Imported, error) {
	leave, err := s.change()
	if err != nil {
		return Imported{}, err
	}
	defer leave()
	im := &importing{store: s, arrivals: make(map[string]*arrival)}
	err = im.run(ctx, quads)
	durable := make(chan error, 1)
	s.settled(func(err error) { durable <- err })
	if err := errors.Join(err, <-durable); err != nil {
		return im.done, fmt.Errorf("import quads: %w", err)
	}
	return im.done, nil
}

// importing is an import under way.
type importing struct {
	store    *Store
	arrivals map[string]*arrival // by URL
	held     int                 // quads that are not written
	done     Imported
}

// arrival is a context that was named.
type arrival struct {
	prefix  string // of its blank nodes
	record  Record // as far as the provenance has come; Quads is what that states, -1 if it does not
	owned   int    // quads of provenance
	triples []webrace.Triple
	named   bool // as a graph
	begun   bool // what it said before is gone
}

func (im *importing) run(ctx context.Context, quads iter.Seq2[rdf.Quad, error]) error {
	n := 0
	for q, err := range quads {
		if err == nil && n%1000 == 0 {
			err = ctx.Err()
		}
		n++
		if err == nil {
			err = im.take(q)
		}
		if err == nil && im.held >= importPart {
			err = im.write()
		}
		if err != nil {
			return err
		}
	}
	if err := im.write(); err != nil {
		return err
	}
	return im.finish()
}

// take takes a quad into what is to be written.
func (im *importing) take(q rdf.Quad) error {
	if err := checkTriple(q.Triple); err != nil {
		return err
	}
	if rdf.KindOf(q.Graph) != rdf.IRI {
		return fmt.Errorf("%.100s %.100s %.100s is in no graph that has an IRI, which would be the context that says it: write it behind the object",
			q.Subject, q.Predicate, q.Object)
	}
	if rdf.Value(q.Graph) == ProvenanceGraph {
		return im.provenance(q.Triple)
	}
	a, err := im.arrival(rdf.Value(q.Graph))
	if err != nil {
		return err
	}
	q.Subject, q.Object = imported(q.Subject, a.prefix), imported(q.Object, a.prefix)
	a.triples, a.named = append(a.triples, q.Triple), true
	im.held++
	return nil
}

func (im *importing) provenance(t webrace.Triple) error {
	if rdf.KindOf(t.Subject) != rdf.IRI {
		im.done.Ignored++
		return nil
	}
	a, err := im.arrival(rdf.Value(t.Subject))
	if err != nil {
		return err
	}
	if a.record.read(t) {
		a.owned++
	} else {
		im.done.Ignored++
	}
	return nil
}

func (im *importing) arrival(url string) (*arrival, error) {
	if a := im.arrivals[url]; a != nil {
		return a, nil
	}
	if err := checkURL(url); err != nil {
		return nil, err
	}
	a := &arrival{prefix: BlankPrefix(url), record: Record{Context: Context{URL: url}, Quads: -1, Imported: true}}
	im.arrivals[url] = a
	return a, nil
}

// write writes what is held.
func (im *importing) write() error {
	for _, url := range slices.Sorted(maps.Keys(im.arrivals)) {
		a := im.arrivals[url]
		if len(a.triples) == 0 {
			continue
		}
		if err := im.say(a, a.triples); err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		a.triples = nil
	}
	im.held = 0
	return nil
}

// say writes triples of a context: beside what was written of it before, or in the place of what it stated.
func (im *importing) say(a *arrival, triples []webrace.Triple) error {
	s := im.store
	defer s.lock(a.record.URL)()
	e, err := s.edit(a.record.URL)
	if err != nil || a.begun && !e.record.Imported { // a document has replaced it meanwhile, or it was removed
		return err
	}
	e.extends = a.begun
	change, err := e.say(a.record, triples, nil)
	im.done.Added += change.Added
	im.done.Removed += change.Removed
	if err == nil && !a.begun {
		a.begun = true
		im.done.Contexts++
	}
	return err
}

// finish writes the records as they are at the end. A context that has a record alone states nothing.
func (im *importing) finish() error {
	for url, a := range im.arrivals {
		var err error
		switch {
		case a.named:
			err = im.note(a)
		case a.record.Quads == 0:
			err = im.say(a, nil)
		default:
			im.done.Ignored += a.owned
		}
		if err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
	}
	return nil
}

// note writes the record of a context whose provenance came after its quads.
func (im *importing) note(a *arrival) error {
	s := im.store
	defer s.lock(a.record.URL)()
	e, err := s.edit(a.record.URL)
	if err != nil || !e.record.Imported {
		return err
	}
	next := a.record
	next.Quads = e.record.Quads
	return e.note(next, nil)
}
