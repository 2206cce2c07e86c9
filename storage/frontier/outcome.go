package frontier

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace"
)

// Outcome is how the work on a URL ended.
type Outcome struct {
	Err     error     // why it failed; nil when it did not
	RetryAt time.Time // not zero: it failed, and is to be tried again then, if attempts are left
	Forget  bool      // it failed because what the last visit left behind is of no use: that is forgotten

	// NotAsked means, with RetryAt, that no server was asked: that is no attempt.
	NotAsked bool

	// Answered means, with RetryAt, that the server gave an answer that may pass. At the last attempt it did not fail:
	// what was learned is what came of the URL.
	Answered bool

	Learned []webrace.Learned // applied, in order, to the visit of what did not fail
}

// Done ends the lease. The visit is written in one step with taking the URL off the queue, and done is
// called when that is durable; it must not block. A URL that failed keeps its last visit, but for the
// count of attempts and the error. One that did not fail may still have learned that there is no
// document: an Error in its visit lists it among the failures, and is no reason to try it again. Only the
// first call counts.
func (l *Lease) Done(o Outcome, done func(error)) {
	if !l.ended.CompareAndSwap(false, true) {
		if done != nil {
			done(fmt.Errorf("end the lease of %s: %w", l.item.url, errors.New("it has ended already")))
		}
		return
	}
	l.Release(webrace.HostReport{})
	e := l.learn(o)
	e.hits = l.takeHits()
	l.q.submit(l.ending(e, done))
}

// learn makes the visit that the outcome leaves behind.
func (l *Lease) learn(o Outcome) *ending {
	v := webrace.Visit{}
	if l.request.Visit != nil {
		v = *l.request.Visit
		v.Baseline = slices.Clone(v.Baseline)
	}
	if lister := l.item.lister(); lister != "" {
		v.Lister = lister
	}
	if l.left && !l.hasMoved() && !(o.NotAsked && !o.RetryAt.IsZero()) {
		return &ending{dropped: true}
	}
	if o.Err == nil && o.RetryAt.IsZero() {
		if !l.request.Stored || v.Version > 0 && v.Status < 400 { // a stored answer that there is no document stays one
			v.Attempts, v.Error, v.Refused = 0, "", false
		}
		for _, learned := range o.Learned {
			learned(&v)
		}
		if len(v.State) > webrace.MostState {
			return l.learn(Outcome{Err: fmt.Errorf("what it knows of its source has %d bytes, at most %d are kept", len(v.State), webrace.MostState)})
		}
		changed := l.adapt(&v)
		return &ending{changed: changed, visit: &v, proof: l.prove(&v, changed)}
	}
	if o.NotAsked && !o.RetryAt.IsZero() {
		return &ending{failed: true, notAsked: true, retryAt: o.RetryAt}
	}
	if o.Forget {
		v = webrace.Visit{Attempts: v.Attempts, Lister: v.Lister}
	}
	e := &ending{visit: &v, failed: true, retryAt: o.RetryAt}
	if o.Answered {
		e.last = l.learn(Outcome{Learned: o.Learned})
	}
	v.Attempts++
	v.Error, v.Refused = "failed", false
	if o.Err != nil {
		v.Error = o.Err.Error()
	}
	return e
}

func isRedirect(status int) bool { return status >= 300 && status <= 399 && status != 304 }

func isPermanent(status int) bool { return status == 301 || status == 308 }
