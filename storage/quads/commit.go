package quads

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// step is what is committed at once.
type step struct {
	batch      pebbledb.Batch
	terms      []fresh
	contexts   int64 // more of them than before
	quads      int64
	provenance int64
	forgotten  int64 // terms that are removed
}

// commit applies a step, which is visible when it returns. Done is called once it is durable, or cannot be, and may be
// nil; if commit returns an error, it is not called.
func (s *Store) commit(st *step, done func(error)) error {
	s.committing.Lock()
	defer s.committing.Unlock()
	err := s.apply(st)
	s.lexicon.settle(st.terms, err == nil)
	if err != nil {
		return errors.Join(fmt.Errorf("commit to the quad store: %w", err), st.batch.Close())
	}
	s.syncer.add(waiting{st.batch, s.db.Generation(), done})
	return nil
}

// apply is called with s.committing held.
func (s *Store) apply(st *step) error {
	c := s.counts
	c.next = s.lexicon.nextNumber()
	c.contexts += st.contexts
	c.quads += st.quads
	c.provenance += st.provenance
	c.terms -= st.forgotten
	for _, f := range st.terms {
		if !f.stored {
			c.terms++
		}
	}
	c.revision++
	err := st.batch.Set([]byte(countsKey), c.encode())
	if err == nil {
		err = s.db.Submit(st.batch)
	}
	if err == nil {
		s.counts = c
	}
	return err
}

// abandon gives up a step that is not committed.
func (s *Store) abandon(st *step) error {
	s.lexicon.settle(st.terms, false)
	return st.batch.Close()
}

// settled has done called when all is durable that was committed before.
func (s *Store) settled(done func(error)) {
	if done != nil {
		s.syncer.add(waiting{done: done})
	}
}

// syncer waits for the syncs of batches, one after the other, so that nobody else has to.
type syncer struct {
	db      *pebbledb.Store
	waiting atomic.Int64

	mu     sync.Mutex
	signal *sync.Cond
	queue  []waiting
	closed bool
	exited chan struct{}
}

// waiting is a batch whose sync is under way, or nothing but a caller that waits for those before it.
type waiting struct {
	batch      pebbledb.Batch
	generation generation.Generation
	done       func(error)
}

func (y *syncer) start(db *pebbledb.Store) {
	y.db = db
	y.signal, y.exited = sync.NewCond(&y.mu), make(chan struct{})
	go y.run()
}

func (y *syncer) add(w waiting) {
	y.waiting.Add(1)
	y.mu.Lock()
	defer y.mu.Unlock()
	y.queue = append(y.queue, w)
	y.signal.Signal()
}

// close returns when all that was added is answered.
func (y *syncer) close() {
	y.mu.Lock()
	y.closed = true
	y.signal.Signal()
	y.mu.Unlock()
	<-y.exited
}

// run answers all that waits. The first failure is that of all who come after it.
func (y *syncer) run() {
	defer close(y.exited)
	var failed error
	for group := y.next(); group != nil; group = y.next() {
		for _, w := range group {
			if w.batch != nil {
				failed = cmp.Or(failed, w.sync())
			}
			y.waiting.Add(-1)
			if w.done != nil {
				w.done(failed)
			}
		}
		failed = cmp.Or(failed, y.reach(group))
	}
}

// next returns what waits, nil at the end.
func (y *syncer) next() []waiting {
	y.mu.Lock()
	defer y.mu.Unlock()
	for len(y.queue) == 0 && !y.closed {
		y.signal.Wait()
	}
	group := y.queue
	y.queue = nil
	return group
}

func (w *waiting) sync() error {
	if err := errors.Join(w.batch.SyncWait(), w.batch.Close()); err != nil {
		return fmt.Errorf("make the quad store durable: %w", err)
	}
	return nil
}

// reach writes down which generation is durable: once for all of a group, behind whose answers it may be.
func (y *syncer) reach(group []waiting) error {
	for _, w := range slices.Backward(group) {
		if w.batch != nil {
			if err := y.db.Reached(w.generation); err != nil {
				return fmt.Errorf("count the commits of the quad store: %w", err)
			}
			return nil
		}
	}
	return nil
}
