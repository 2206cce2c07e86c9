package credentials

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/broadcast"
)

// hostState is the state of a secret at a host. The requests that are out with it and its refusals in a row are
// together never more than may be refused: so no answers that come late add to the refusals.
type hostState struct {
	name, host string
	limits     Limits

	mu       sync.Mutex
	out      int            // requests with the secret
	accepted bool           // by the last answer that said anything about it
	refusals int            // in a row
	until    time.Time      // when it may be sent again
	changed  broadcast.Cond // when a request ends
}

// enter waits until the secret may be sent once more; leave ends that.
func (s *hostState) enter(ctx context.Context, now func() time.Time) error {
	for {
		changed, err := s.tryEnter(now())
		if changed == nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryEnter returns what to wait for, or nil when that is decided.
func (s *hostState) tryEnter(now time.Time) (wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.until) {
		return nil, &Refusal{Paused: true, Why: fmt.Sprintf("secret %s is not sent to %s before %s, because it was refused there too often: webrace-store secret set %s stores another",
			s.name, s.host, s.until.Format(time.RFC3339), s.name)}
	}
	if s.out < max(1, s.limits.Refusals-s.refusals) {
		s.out++
		return nil, nil
	}
	return s.changed.Next(), nil
}

func (s *hostState) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out--
	s.changed.Broadcast()
}

// idle reports whether nothing is known of the host that matters.
func (s *hostState) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out == 0 && s.refusals == 0
}

// answered learns from the status of an answer, and reports whether it paused the secret. A crawler that was let in
// before, and may not see one page, is none the less let in: so 403 counts while nothing was accepted yet.
func (s *hostState) answered(status int, now time.Time) (paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden && !s.accepted:
		s.accepted = false
		s.refusals++
		if s.refusals >= s.limits.Refusals {
			s.until = now.Add(s.limits.Pause)
			return true
		}
	case status < 400 || status == http.StatusNotFound || status == http.StatusGone:
		s.accepted, s.refusals = true, 0
	}
	return false
}
