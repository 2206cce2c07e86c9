package control

import (
	"context"
	"sync"

	"github.com/webrace/webrace/internal/broadcast"
)

// Copy is a copy in memory of the URD base, such as what a stage matches documents with. A caller that acts on
// a change can wait until all copies have it: [Store.Copied].
type Copy struct {
	of       *copies
	revision int64
}

type copies struct {
	mu    sync.Mutex
	open  map[*Copy]struct{}
	moved broadcast.Cond
}

// Keep records that there is a copy of the base as it was at a revision, until it is closed.
func (s *Store) Keep(revision int64) *Copy {
	c := &Copy{&s.copies, revision}
	s.copies.mu.Lock()
	defer s.copies.mu.Unlock()
	if s.copies.open == nil {
		s.copies.open = make(map[*Copy]struct{})
	}
	s.copies.open[c] = struct{}{}
	return c
}

// At records that the copy is now as the base was at a revision.
func (c *Copy) At(revision int64) {
	c.of.mu.Lock()
	c.revision = revision
	c.of.mu.Unlock()
	c.of.moved.Broadcast()
}

// Close records that there is no copy any more. Closing twice does no harm.
func (c *Copy) Close() {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	c.of.moved.Broadcast()
}

// Copied waits until every copy of the base that is kept in this process is of this revision, or a later one.
func (s *Store) Copied(ctx context.Context, revision int64) error {
	for {
		moved := s.copies.moved.Next() // before looking, so that nothing slips in between
		if s.copies.allAt(revision) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *copies) allAt(revision int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.open {
		if one.revision < revision {
			return false
		}
	}
	return true
}
