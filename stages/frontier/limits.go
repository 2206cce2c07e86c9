package frontier

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/pipeline"
)

// RunOptions limit what a run fetches. Then it drains: what is in flight is finished, and the rest stays queued.
type RunOptions struct {
	RunPages int               `toml:"run_pages" doc:"how many documents a run fetches or has confirmed; then it ends, and the next run goes on. Here and below, 0 sets no limit"`
	RunTime  pipeline.Duration `toml:"run_time" doc:"how long a run hands out URLs"`
	RunBytes pipeline.Size     `toml:"run_bytes" doc:"how many bytes of documents, decompressed, a run fetches; those in flight are finished, and come on top"`
}

func (o RunOptions) validate() error {
	fail := func(option string, n any) error {
		return &pipeline.OptionError{Option: option, Err: fmt.Errorf("%v is negative; 0 sets no limit", n)}
	}
	switch {
	case o.RunPages < 0:
		return fail("run_pages", o.RunPages)
	case o.RunTime < 0:
		return fail("run_time", time.Duration(o.RunTime))
	case o.RunBytes < 0:
		return fail("run_bytes", int64(o.RunBytes))
	}
	return nil
}

// quota counts what a run has fetched against its limits. A URL that is out may become a document, so as many are out
// as documents are left: the limit of documents is never passed.
type quota struct {
	drain func(reason string)
	began time.Time

	mu      sync.Mutex
	limits  RunOptions
	out     int // URLs that may still become a document
	pages   int
	bytes   int64
	timer   *time.Timer // of the limit of time; nil: none
	changed broadcast.Cond
}

// set begins to hold the run against limits, also against others than before.
func (q *quota) set(limits RunOptions) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop()
	q.limits = limits
	if left := time.Duration(limits.RunTime); left > 0 {
		q.timer = time.AfterFunc(left-time.Since(q.began), func() { q.drain(fmt.Sprintf("%v have passed, which is the limit of a run (frontier.run_time)", left)) })
	}
	q.check()
	q.changed.Broadcast()
}

// close ends what set has begun.
func (q *quota) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stop()
}

func (q *quota) stop() {
	if q.timer != nil {
		q.timer.Stop()
	}
}

// check ends the run if it has fetched as much as it may.
func (q *quota) check() {
	switch l := q.limits; {
	case l.RunPages > 0 && q.pages >= l.RunPages:
		q.drain(fmt.Sprintf("%d documents were fetched or confirmed, which is the limit of a run (frontier.run_pages)", q.pages))
	case l.RunBytes > 0 && q.bytes >= int64(l.RunBytes):
		q.drain(fmt.Sprintf("%d bytes were fetched, where %v are the limit of a run (frontier.run_bytes)", q.bytes, l.RunBytes))
	}
}

// full reports whether every document that is left may come of a URL that is out.
func (q *quota) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.limits.RunPages > 0 && q.pages+q.out >= q.limits.RunPages
}

// take waits until another URL may be handed out, and counts it as out.
func (q *quota) take(ctx context.Context) error {
	for {
		changed := q.changed.Next()
		if !q.full() {
			q.mu.Lock()
			q.out++
			q.mu.Unlock()
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settle counts what came of a URL that was out.
func (q *quota) settle(r webrace.HostReport) {
	q.mu.Lock()
	q.out--
	q.pages += r.Documents
	q.bytes += r.Bytes
	q.check()
	q.mu.Unlock()
	q.changed.Broadcast()
}
