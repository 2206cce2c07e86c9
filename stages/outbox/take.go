package outbox

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
)

// Take returns the next message that is due.
func (s *stage) Take(ctx context.Context) (pipeline.Lease, error) {
	for {
		changed := s.changed.Next() // before looking, so that nothing slips in between
		lease, err := s.next(ctx)
		if err != nil || lease != nil {
			return lease, err
		}
		if s.isOver() {
			s.leaveAll(errOver)
			return nil, io.EOF
		}
		wait, err := s.untilNext(ctx)
		if err != nil {
			return nil, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
			s.mayBeDue()
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		timer.Stop()
	}
}

// isOver reports whether nothing more will come, and nothing is out that might come again.
func (s *stage) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sealed && !s.stale && len(s.known) == 0 && s.out == 0 && s.ready.isEmpty()
}

// longestWait is how long the clock of the machine is trusted.
const longestWait = time.Minute

// untilNext returns how long nothing is due.
func (s *stage) untilNext(ctx context.Context) (time.Duration, error) {
	now := s.now()
	wait := longestWait
	if next := s.nextMail(now); !next.IsZero() {
		wait = min(next.Sub(now), wait)
	}
	s.mu.Lock()
	if s.stale && s.out < s.options.Leases {
		wait = min(max(s.untilLook(now, true), 0), wait)
	}
	s.mu.Unlock()
	next, err := s.store.NextDue(ctx, now)
	if err != nil || next.IsZero() {
		return wait, err
	}
	return min(next.Sub(now), wait), nil
}

// next returns a lease of a message that may be handed out, of mails of accounts first; nil if there is none.
func (s *stage) next(ctx context.Context) (pipeline.Lease, error) {
	if l := s.takeMail(); l != nil {
		return l, nil
	}
	for idle := false; ; {
		looked, err := s.look(ctx, idle)
		if err != nil {
			return nil, err
		}
		m, is := s.takeReady()
		switch {
		case is:
		case idle && !looked:
			return nil, nil
		default:
			idle = true
			continue
		}
		composed, err := s.compose(ctx, m)
		switch {
		case errors.Is(err, control.ErrNotFound): // the channel was removed, and its messages with it, or is not active any more
			s.forget(m)
		case errors.Is(err, errUnwritable):
			if _, err := s.store.Attempted(ctx, control.Attempt{Message: m.ID, Said: err.Error()}); err != nil {
				return nil, err
			}
			s.env.Counter("given_up").Add(1)
			s.forget(m)
		case err != nil:
			s.forget(m)
			return nil, err
		case s.admit(m, composed.Address.String()):
			return &lease{s, m, (&pipeline.Item{Value: composed}).From("message "+m.ID, 0)}, nil
		}
	}
}
