package httpout

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// receiver is what is known of whether the receiver answers. After so many failures in a row it is down: it
// is asked by one request at a time, the probe, and less and less often, until it answers.
type receiver struct {
	threshold  int
	wait, most time.Duration
	probe      chan struct{} // capacity 1: who has put something in asks while the receiver is down

	mu       sync.Mutex
	failures int
	until    time.Time // no worker is to ask before
}

func newReceiver(o Options) *receiver {
	return &receiver{threshold: o.Failures, wait: time.Duration(o.Backoff), most: time.Duration(o.MaxBackoff), probe: make(chan struct{}, 1)}
}

// enter waits until the receiver may be asked. Who was let in calls leave when it has been.
func (r *receiver) enter(ctx context.Context) (leave func(), err error) {
	for {
		down, until := r.state()
		if !down {
			return func() {}, pause(ctx, time.Until(until))
		}
		select {
		case r.probe <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if down, until = r.state(); down {
			leave = func() { <-r.probe }
			if err := pause(ctx, time.Until(until)); err != nil {
				leave()
				return nil, err
			}
			return leave, nil
		}
		<-r.probe // it is back meanwhile
	}
}

func (r *receiver) state() (down bool, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures >= r.threshold, r.until
}

// answered notes that the receiver works, and reports whether it was down.
func (r *receiver) answered() (was bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was = r.failures >= r.threshold
	r.failures, r.until = 0, time.Time{}
	return was
}

// failed notes that it did not, and for how long it wants to be left alone, if it asks for that. It reports whether
// the receiver is down since now.
func (r *receiver) failed(asked time.Duration) (down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures++
	wait := min(asked, r.most)
	if more := r.failures - r.threshold; more >= 0 {
		wait = max(wait, r.backoff(more+1))
	}
	if until := time.Now().Add(wait); until.After(r.until) {
		r.until = until
	}
	return r.failures == r.threshold
}

// backoff is how long to wait after so many attempts: about twice as long each time, never more than the most,
// and never the same for all who wait.
func (r *receiver) backoff(attempts int) time.Duration {
	wait := r.wait
	for range attempts - 1 {
		if wait >= r.most/2 {
			wait = r.most
			break
		}
		wait *= 2
	}
	return wait/2 + rand.N(wait/2+1)
}

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
