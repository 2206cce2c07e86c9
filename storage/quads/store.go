package quads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/locks"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Store holds the quads of a data directory. Its methods may be called concurrently.
type Store struct {
	db       *pebbledb.Store
	readOnly bool
	opening  generation.ID // tells one opening of a store from another
	users    locks.Users

	contexts locks.Stripes // held while a context changes
	changing sync.RWMutex  // held alone by what changes more than contexts
	lexicon  lexicon
	terms    termCache
	sizes    keySizes

	committing sync.Mutex // held to commit; what is counted belongs to it
	counts     counts

	syncer syncer
}

// kind is what is particular to the database.
var kind = pebbledb.Kind{
	Store: "quads", Title: "quad store", Closed: ErrClosed, ReadOnly: ErrReadOnly,
	Format: 1, FormatKey: formatKey, GenerationKey: generationKey,
	Begin: begin, Whole: true,
}

// begin has a new store begin with the term of the provenance graph.
func begin(b pebbledb.Batch) error {
	return errors.Join(
		setTerm(b, rdf.NewIRI(ProvenanceGraph), provenanceID),
		b.Set([]byte(countsKey), counts{next: 2, terms: 1}.encode()),
	)
}

// Open opens the store in dir, which is made if need be. The caller sees to it that one process has it open.
func Open(dir string, o Options) (*Store, error) {
	o.Cache = cmp.Or(o.Cache, 48<<20)
	s := &Store{readOnly: o.ReadOnly, opening: generation.NewID(), contexts: locks.NewStripes()}
	var err error
	if s.db, err = pebbledb.OpenStore(dir, kind, s.databaseOptions(o), s.readCounts); err != nil {
		return nil, err
	}
	s.lexicon.begin(s.db, s.counts.next)
	s.syncer.start(s.db)
	return s, nil
}

// readCounts reads what is counted. What cannot be read is counted anew by the check.
func (s *Store) readCounts(r pebbledb.Reader) error {
	value, err := pebbledb.Get(r, []byte(countsKey))
	if err != nil {
		return err
	}
	if s.counts, err = decodeCounts(value); err == nil || s.readOnly && value == nil {
		return nil
	}
	s.counts = counts{}
	last, err := lastNumberIn(r)
	s.counts.next = last + 1
	return err
}

// lastNumberIn returns the highest number that a term has.
func lastNumberIn(r pebbledb.Reader) (last uint64, err error) {
	for _, kind := range []rdf.Kind{rdf.IRI, rdf.Literal, rdf.Blank} {
		it, err := r.NewIter(pebbledb.IterOptions{
			LowerBound: keyOfID(idKey, newID(kind, 0)), UpperBound: pebbledb.After(keyOfID(idKey, newID(kind, lastNumber))),
		})
		if err != nil {
			return 0, err
		}
		if it.Last() && len(it.Key()) == idKeySize {
			last = max(last, numberOf(idOf(it.Key()[1:])))
		}
		if err := errors.Join(it.Error(), it.Close()); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// Close makes durable what was accepted, answers it, and waits for calls under way and for snapshots to be closed. A
// second call does nothing.
func (s *Store) Close() error {
	if !s.users.Close() {
		return nil
	}
	s.users.Wait()
	s.syncer.close()
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close quad store: %w", err)
	}
	return nil
}

// change begins a call that changes the store; leave ends it.
func (s *Store) change() (leave func(), err error) {
	if s.readOnly {
		return nil, ErrReadOnly
	}
	if !s.users.Enter() {
		return nil, ErrClosed
	}
	return s.users.Leave, nil
}

// lock keeps others from changing a context, and from changing more than contexts, until unlock is called. URLs of one
// IRI are one context.
func (s *Store) lock(url string) (unlock func()) {
	s.changing.RLock()
	leave := s.contexts.Lock([]byte(rdf.EscapeIRI(url)))
	return func() {
		leave()
		s.changing.RUnlock()
	}
}

// Backup writes a copy of the store, as it stands now, to a directory that does not exist yet and opens as a store. The
// store may be in use; what was promised before the call is in the copy.
func (s *Store) Backup(ctx context.Context, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.users.Enter() {
		return ErrClosed
	}
	defer s.users.Leave()
	return s.db.Backup(ctx, to)
}

// Stats counts what the store holds.
func (s *Store) Stats() (Stats, error) {
	if !s.users.Enter() {
		return Stats{}, ErrClosed
	}
	defer s.users.Leave()
	s.committing.Lock()
	c := s.counts
	s.committing.Unlock()
	return c.stats(s.db.DiskSpaceUsage()), nil
}
