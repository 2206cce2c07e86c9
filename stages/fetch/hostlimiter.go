package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// patience is how long a request mostly waits for its slot before it goes back to the queue: less than a host
// rests that asks for it, more than one that is merely left its pause.
const patience = 20 * time.Second

// hostLimiter is a semaphore for each host, with a pause after each request. It is needed where not all requests
// come from the queue, which otherwise keeps the pauses: subresources of a page are asked for while the queue hands out
// the host's next page. Until the first of them is asked for it costs nothing, and no request waits.
type hostLimiter struct {
	shared atomic.Bool // subresources are asked for, which do not come from the queue

	mu     sync.Mutex
	byHost map[string]*hostSlots
	enough int // hosts before the next look for those that can be forgotten
}

type hostSlots struct {
	inFlight, parallel int
	notBefore          time.Time
	changed            broadcast.Cond // when a slot is given back
}

// slot is the right to ask a host once. A nil slot is not counted.
type slot struct {
	limiter *hostLimiter
	host    *hostSlots
}

func newHostLimiter() *hostLimiter { return &hostLimiter{byHost: make(map[string]*hostSlots)} }

// take waits for a slot at a host. It does not wait for one that rests for longer than the caller has patience: then
// the error is [httpclient.ErrResting].
func (l *hostLimiter) take(ctx context.Context, host string, patience time.Duration) (*slot, error) {
	if !l.shared.Load() {
		return nil, nil
	}
	for {
		h, wait, changed := l.try(host)
		if changed == nil {
			return &slot{l, h}, nil
		}
		if wait > patience {
			return nil, &restingError{until: time.Now().Add(wait)}
		}
		if err := sleepOr(ctx, wait, changed); err != nil {
			return nil, err
		}
	}
}

// try takes a slot if there is one. Otherwise it returns how long to wait for one, 0 if that is unknown, and
// what is closed when there may be one.
func (l *hostLimiter) try(host string) (h *hostSlots, wait time.Duration, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	h = l.byHost[host]
	if h == nil {
		l.makeRoom(now)
		h = &hostSlots{parallel: 1}
		l.byHost[host] = h
	}
	switch {
	case h.inFlight >= h.parallel:
		return h, 0, h.changed.Next()
	case now.Before(h.notBefore):
		return h, h.notBefore.Sub(now), h.changed.Next()
	}
	h.inFlight++
	return h, 0, nil
}

// makeRoom forgets hosts without a request in flight that need not be left alone. It wants the lock.
func (l *hostLimiter) makeRoom(now time.Time) {
	if len(l.byHost) < max(maxHosts, l.enough) {
		return
	}
	for name, h := range l.byHost {
		if h.inFlight == 0 && now.After(h.notBefore) {
			delete(l.byHost, name)
		}
	}
	l.enough = 2 * len(l.byHost) // so that many that rest are not looked through for each that comes
}

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

// endSlot gives a slot back in which a host was asked at a certain time, and answered or failed.
func (s *stage) endSlot(held *slot, a *httpclient.Response, err error, began time.Time, crawlDelay time.Duration) {
	if held != nil {
		held.end(s.restAfter(a, err, began, crawlDelay))
	}
}

// restAfter returns how to treat a host that was asked at a certain time, and answered or failed.
func (s *stage) restAfter(a *httpclient.Response, err error, began time.Time, crawlDelay time.Duration) webrace.HostReport {
	now := time.Now()
	if err != nil {
		return s.hostPolicy(httpclient.FailedAddress(err), now.Sub(began), crawlDelay, now)
	}
	report := s.hostPolicy(a.Origin, a.Took, crawlDelay, now)
	if a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable {
		asked := retryAfter(a.Header, now, time.Duration(s.options.MaxRetryAfter))
		report.NotBefore = later(report.NotBefore, now.Add(asked.wait))
	}
	return report
}

// end gives the slot back, with how the host wants to be treated from now on.
func (s *slot) end(report webrace.HostReport) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	h := s.host
	h.inFlight--
	if report.Parallel > 0 {
		h.parallel = report.Parallel
	}
	h.notBefore = later(h.notBefore, report.NotBefore)
	h.changed.Broadcast()
}

// requeue gives a request back to the queue whose slot did not come.
func (x *exchange) requeue(err error) error {
	var resting *restingError
	if !errors.As(err, &resting) {
		return err
	}
	x.count("hosts_resting")
	x.release(webrace.HostReport{NotBefore: resting.until, Why: resting.why})
	return pipeline.Retry(fmt.Errorf("fetch %s: %w: %w", x.req.URL, webrace.ErrNotAsked, err), resting.until)
}

// restingError tells until when a host is left alone, and why, if not for the usual pause.
type restingError struct {
	until time.Time
	why   string
}

func (e *restingError) Error() string { return httpclient.ErrResting.Error() }
func (e *restingError) Unwrap() error { return httpclient.ErrResting }
