package quads

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

var (
	_ sparql.Dataset     = (*Snapshot)(nil)
	_ sparql.GraphLister = (*Snapshot)(nil)
)

// Snapshot is one state of a store, which does not change while it is read, by any number of goroutines. It holds what
// was removed since on the disk, and [Store.Close] waits for it, so it wants to be closed soon.
type Snapshot struct {
	store  *Store
	state  pebbledb.Snapshot
	counts counts
	closed atomic.Bool
}

// Snapshot returns the state as it is now.
func (s *Store) Snapshot() (*Snapshot, error) {
	if !s.users.Enter() {
		return nil, ErrClosed
	}
	s.committing.Lock()
	defer s.committing.Unlock()
	return &Snapshot{store: s, state: s.db.NewSnapshot(), counts: s.counts}, nil
}

// Close lets go of the state. All cursors must be closed by then. A second call does nothing.
func (s *Snapshot) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	defer s.store.users.Leave()
	return s.state.Close()
}

// Revision tells states apart: two of the same revision are the same.
func (s *Snapshot) Revision() uint64 { return s.counts.revision }

// State names the state: two snapshots with the same name are of the same state. As long as a store is open, a state
// has one name; it gets another when the store is opened again, since what is there then may be a backup, whose
// revisions stand for other states.
func (s *Snapshot) State() string {
	return fmt.Sprintf("%x-%d", s.store.opening[:6], s.counts.revision)
}

// Stats counts what the state holds; what it takes on the disk is that of the store.
func (s *Snapshot) Stats() Stats { return s.counts.stats(s.store.db.DiskSpaceUsage()) }

// Find returns the id of a term, 0 if no quad has it.
func (s *Snapshot) Find(t webrace.Term) (id, error) { return findTerm(s.state, t) }

// Term returns the term of an id.
func (s *Snapshot) Term(n id) (webrace.Term, error) { return s.store.terms.term(s.state, n) }

// Context returns what is known of a context, and whether anything is.
func (s *Snapshot) Context(url string) (r Record, found bool, err error) {
	n, err := s.Find(contextTerm(url))
	if err != nil || n == 0 {
		return r, false, err
	}
	value, err := pebbledb.Get(s.state, keyOfID(contextKey, n))
	if err != nil || value == nil {
		return r, false, err
	}
	if r, err = decodeRecord(rdf.EscapeIRI(url), value); err != nil {
		return r, false, fmt.Errorf("record of context %s: %w", url, err)
	}
	return r, true, nil
}

// Contexts yields what is known of each context whose URL has a prefix, in the order in which the URLs were first
// named.
func (s *Snapshot) Contexts(ctx context.Context, prefix string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		start := rdf.EscapeIRI(prefix)
		err := pebbledb.Scan(s.state, []byte{contextKey}, []byte{contextKey + 1}, func(key, value []byte) (bool, error) {
			if err := errors.Join(ctx.Err(), checkKey(key, idKeySize)); err != nil {
				return false, err
			}
			t, err := s.Term(idOf(key[1:]))
			if err != nil {
				return false, err
			}
			iri := rdf.Value(t)
			if !strings.HasPrefix(iri, start) {
				return true, nil
			}
			r, err := decodeRecord(iri, value)
			if err != nil {
				return false, fmt.Errorf("record of context %s: %w", iri, err)
			}
			return yield(r, nil), nil
		})
		if err != nil {
			yield(Record{}, err)
		}
	}
}

// Graphs returns the graphs that state something, the provenance graph among them.
func (s *Snapshot) Graphs(ctx context.Context) (graphs []id, err error) {
	if s.counts.provenance > 0 {
		graphs = append(graphs, provenanceID)
	}
	err = pebbledb.Scan(s.state, []byte{contextKey}, []byte{contextKey + 1}, func(key, value []byte) (bool, error) {
		if err := errors.Join(ctx.Err(), checkKey(key, idKeySize)); err != nil {
			return false, err
		}
		n := idOf(key[1:])
		r, err := decodeRecord("", value)
		if err != nil {
			return false, fmt.Errorf("record of context %d: %w", n, err)
		}
		if r.Quads > 0 {
			graphs = append(graphs, n)
		}
		return true, nil
	})
	return graphs, err
}

// Quads yields what a graph states, and for an empty one what all graphs state, the provenance graph included: graph
// after graph, in the order of ids.
func (s *Snapshot) Quads(ctx context.Context, in webrace.Term) iter.Seq2[rdf.Quad, error] {
	return func(yield func(rdf.Quad, error) bool) {
		if err := s.quads(ctx, in, yield); err != nil {
			yield(rdf.Quad{}, err)
		}
	}
}

func (s *Snapshot) quads(ctx context.Context, in webrace.Term, yield func(rdf.Quad, error) bool) error {
	lower := cspo.start()
	if in != "" {
		n, err := s.Find(in)
		if err != nil || n == 0 {
			return err
		}
		lower = appendID(lower, n)
	}
	read := 0
	return pebbledb.Scan(s.state, lower, pebbledb.After(lower), func(key, _ []byte) (bool, error) {
		if read++; read%256 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err := checkKey(key, quadSize); err != nil {
			return false, err
		}
		q, err := s.terms(cspo.quad(key))
		if err != nil {
			return false, err
		}
		return yield(q, nil), nil
	})
}

// terms returns a quad in terms.
func (s *Snapshot) terms(q quad) (r rdf.Quad, err error) {
	for place, to := range [...]*webrace.Term{&r.Subject, &r.Predicate, &r.Object, &r.Graph} {
		if *to, err = s.Term(q[place]); err != nil {
			return r, err
		}
	}
	return r, nil
}
