package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// patience is how long a request waits for its turn before it goes back to the queue: less than a host
// rests that asks for it, more than one that is merely left its pause.
const patience = 20 * time.Second

// turns says when a host may be asked, where not all requests come from the queue, which says it else: the
// parts of a page are asked for while the queue hands out the host's next page. Until the first part is
// asked for it costs nothing, and nobody waits.
type turns struct {
	shared atomic.Bool // somebody besides the queue asks

	mu     sync.Mutex
	byHost map[string]*hostTurns
	enough int // hosts before the next look for those that can be forgotten
}

type hostTurns struct {
	inFlight, parallel int
	notBefore          time.Time
	changed            chan struct{} // closed and replaced when a turn ends
}

// turn is the right to ask a host once. A nil turn is one that nobody counts.
type turn struct {
	turns *turns
	host  *hostTurns
}

func newTurns() *turns { return &turns{byHost: make(map[string]*hostTurns)} }

// take waits for a turn at a host. It does not wait for longer than patience for one that rests: then the
// error is [ErrResting].
func (t *turns) take(ctx context.Context, host string) (*turn, error) {
	if !t.shared.Load() {
		return nil, nil
	}
	for {
		h, wait, changed := t.try(host)
		if changed == nil {
			return &turn{t, h}, nil
		}
		if wait > patience {
			return nil, &restingError{until: time.Now().Add(wait)}
		}
		if err := sleepOr(ctx, wait, changed); err != nil {
			return nil, err
		}
	}
}

// try takes a turn if there is one. Otherwise it returns how long to wait for one, 0 if that is unknown, and
// what is closed when there may be one.
func (t *turns) try(host string) (h *hostTurns, wait time.Duration, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	h = t.byHost[host]
	if h == nil {
		t.makeRoom(now)
		h = &hostTurns{parallel: 1, changed: make(chan struct{})}
		t.byHost[host] = h
	}
	switch {
	case h.inFlight >= h.parallel:
		return h, 0, h.changed
	case now.Before(h.notBefore):
		return h, h.notBefore.Sub(now), h.changed
	}
	h.inFlight++
	return h, 0, nil
}

// makeRoom forgets hosts that nobody asks, and that need not be left alone. It wants the lock.
func (t *turns) makeRoom(now time.Time) {
	if len(t.byHost) < max(maxHosts, t.enough) {
		return
	}
	for name, h := range t.byHost {
		if h.inFlight == 0 && now.After(h.notBefore) {
			delete(t.byHost, name)
		}
	}
	t.enough = 2 * len(t.byHost) // so that many that rest are not looked through for each that comes
}

// endTurn gives a turn back in which a host was asked at a certain time, and answered or failed.
func (s *stage) endTurn(t *turn, a *answer, err error, began time.Time, crawlDelay time.Duration) {
	if t != nil {
		t.end(s.restAfter(a, err, began, crawlDelay))
	}
}

// end gives the turn back, with how the host wants to be treated from now on.
func (t *turn) end(report webrace.HostReport) {
	t.turns.mu.Lock()
	defer t.turns.mu.Unlock()
	h := t.host
	h.inFlight--
	if report.Parallel > 0 {
		h.parallel = report.Parallel
	}
	h.notBefore = later(h.notBefore, report.NotBefore)
	close(h.changed)
	h.changed = make(chan struct{})
}

// restAfter says how to treat a host that was asked at a certain time, and answered or failed.
func (s *stage) restAfter(a *answer, err error, began time.Time, crawlDelay time.Duration) webrace.HostReport {
	now := time.Now()
	if err != nil {
		var failure *net.OpError
		errors.As(err, &failure)
		return s.treatment(failedAddress(failure), now.Sub(began), crawlDelay, now)
	}
	report := s.treatment(a.origin, a.took, crawlDelay, now)
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		asked := retryAfter(a.header, now, time.Duration(s.options.MaxRetryAfter))
		report.NotBefore = later(report.NotBefore, now.Add(asked.wait))
	}
	return report
}

// comeBack gives a request back whose turn did not come.
func (x *exchange) comeBack(err error) error {
	var resting *restingError
	if !errors.As(err, &resting) {
		return err
	}
	x.count("hosts_resting")
	x.release(webrace.HostReport{NotBefore: resting.until, Why: resting.why})
	return pipeline.Retry(fmt.Errorf("fetch %s: %w: %w", x.req.URL, webrace.ErrNotAsked, err), resting.until)
}

// restingError says until when a host is left alone, and why, if not for the usual pause.
type restingError struct {
	until time.Time
	why   string
}

func (e *restingError) Error() string { return ErrResting.Error() }
func (e *restingError) Unwrap() error { return ErrResting }

// sleepOr waits for some time, without a limit if it is 0, or until something is closed.
func sleepOr(ctx context.Context, wait time.Duration, until <-chan struct{}) error {
	var elapsed <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-elapsed:
		return nil
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
