package objects

import (
	"context"
	"fmt"
)

// waiter is a caller of AwaitDurable.
type waiter struct {
	seq  uint64     // the last version that it waits for
	done chan error // answered once; has room for the answer, so that the committer never waits
}

// AwaitDurable waits until every version that Put has returned so far is durable, for a caller that is about to
// make something else durable that names some of them. Versions of earlier runs are durable already; when no other
// is on its way, it returns at once, and it never waits for what is accepted after it was called. The versions of
// many callers share the sync of their group.
//
// The error is that of the write which failed, when one of these versions never will be durable; that of ctx, when
// it ends first; or [ErrClosed].
func (s *Store) AwaitDurable(ctx context.Context) error {
	if err := s.users.enter(); err != nil {
		return err
	}
	defer s.users.Leave()
	s.mu.Lock()
	if s.accepted <= s.durable.seq {
		s.mu.Unlock()
		return nil
	}
	if s.failed != nil {
		defer s.mu.Unlock()
		return fmt.Errorf("object cache failed before: %w", s.failed)
	}
	w := waiter{s.accepted, make(chan error, 1)}
	s.waiters = append(s.waiters, w)
	s.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answerWaiters answers the callers of AwaitDurable whose versions are durable by now, or all of them, when the store
// has failed; s.mu must be held.
func (s *Store) answerWaiters() {
	var waiting []waiter
	for _, w := range s.waiters {
		switch {
		case w.seq <= s.durable.seq:
			w.done <- nil
		case s.failed != nil:
			w.done <- fmt.Errorf("make versions durable: %w", s.failed)
		default:
			waiting = append(waiting, w)
		}
	}
	s.waiters = waiting
}
