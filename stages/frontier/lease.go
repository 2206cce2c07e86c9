package frontier

import (
	"errors"
	"sync/atomic"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/frontier"
)

// lease is one URL on loan.
type lease struct {
	stage   *stage
	lease   *frontier.Lease
	settled atomic.Bool // with the quota
}

// settle counts what came of the URL, once.
func (l *lease) settle(r webrace.HostReport) {
	if l.settled.CompareAndSwap(false, true) {
		l.stage.quota.settle(r)
	}
}

var (
	_ pipeline.Releaser    = (*lease)(nil)
	_ pipeline.NoteMatcher = (*lease)(nil)
)

func (l *lease) Item() *pipeline.Item {
	return (&pipeline.Item{Value: l.lease.Request()}).From(l.lease.Name())
}

// Release frees the URL's host.
func (l *lease) Release(note any) {
	if report, ok := note.(webrace.HostReport); ok {
		if report.Documents > 0 {
			l.settle(report)
		}
		l.lease.Release(report)
	}
}

// Concerns reports whether a note is about this URL's host, as it was asked for this URL.
func (l *lease) Concerns(note any) bool {
	report, ok := note.(webrace.HostReport)
	request := l.lease.Request()
	return ok && report.URL == request.URL && report.Secret == request.Secret
}

// Done records the outcome. A request that was not finished, because the run has failed or was cancelled,
// is left as it is: nothing on disk records that it was handed out, so it will be again.
func (l *lease) Done(o pipeline.Outcome) {
	l.settle(webrace.HostReport{})
	if o.Err != nil && o.RetryAt.IsZero() {
		return
	}
	outcome := frontier.Outcome{
		Err: o.Err, RetryAt: o.RetryAt, Forget: errors.Is(o.Err, webrace.ErrNotStored),
		NotAsked: errors.Is(o.Err, webrace.ErrNotAsked), Answered: errors.Is(o.Err, webrace.ErrAnswered),
	}
	for _, what := range o.Learned {
		if learned, ok := what.(webrace.Learned); ok {
			outcome.Learned = append(outcome.Learned, learned)
		}
	}
	l.lease.Done(outcome, func(err error) {
		if err != nil && !errors.Is(err, frontier.ErrClosed) {
			l.stage.env.Logger.Error("outcome of a request not recorded; it will be repeated", "url", l.lease.Request().URL, "error", err)
		}
	})
}
