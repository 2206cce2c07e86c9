package pipeline

import (
	"sync"
	"sync/atomic"
	"time"
)

// Outcome is what becomes of a lease once every item made from it has been dealt with.
type Outcome struct {
	// Err is the first failure that no error policy took care of; nil means done. A run that was
	// cancelled gives [context.Canceled]: the work was not finished, and nothing is known against it.
	Err error
	// RetryAt, set by an error from [Retry], is when the work should be tried again.
	RetryAt time.Time
	// Learned holds what stages passed to [Item.Learn], in the order of the calls.
	Learned []any
}

// lineage counts the items alive that descend from one lease. Each fork is an item on an edge or a hold;
// when the last is done, end is told the outcome, exactly once.
type lineage struct {
	alive   atomic.Int64
	end     func(Outcome)
	release func(note any)
	queued  bool  // the lease is a queue's, which can hand it out again
	run     *Run  // that waits for it; nil outside one
	trace   Trace // nil unless it is followed

	mu       sync.Mutex
	outcome  Outcome
	cleanups []func()
	released bool
}

// newLineage returns a lineage with one item alive.
func newLineage(end func(Outcome), release func(any)) *lineage {
	l := &lineage{end: end, release: release}
	l.alive.Store(1)
	return l
}

func (l *lineage) fork() { l.alive.Add(1) }

// done ends one item. The first error of a lineage decides its outcome.
func (l *lineage) done(err error) {
	if err != nil {
		l.fail(err)
	}
	switch left := l.alive.Add(-1); {
	case left == 0:
		l.finish()
	case left < 0:
		panic("pipeline: an item was acknowledged twice")
	}
}

func (l *lineage) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outcome.Err != nil {
		return
	}
	l.outcome.Err = err
	if retry, ok := asRetry(err); ok {
		l.outcome.RetryAt = retry.at
	}
}

func (l *lineage) finish() {
	l.mu.Lock()
	outcome, cleanups := l.outcome, l.cleanups
	l.cleanups = nil
	l.mu.Unlock()
	for _, cleanup := range cleanups {
		cleanup()
	}
	if l.trace != nil {
		l.trace.End(outcome)
	}
	if l.end != nil {
		l.end(outcome)
	}
	if l.run != nil {
		l.run.settle(outcome, l.queued)
		l.run.flight.done()
	}
}

func (l *lineage) hold() func(error) {
	l.fork()
	var once sync.Once
	return func(err error) { once.Do(func() { l.done(err) }) }
}

func (l *lineage) learn(what any) {
	l.mu.Lock()
	l.outcome.Learned = append(l.outcome.Learned, what)
	l.mu.Unlock()
}

func (l *lineage) onEnd(f func()) {
	l.mu.Lock()
	l.cleanups = append(l.cleanups, f)
	l.mu.Unlock()
}

func (l *lineage) releaseEarly(note any) {
	l.mu.Lock()
	first := !l.released
	l.released = true
	l.mu.Unlock()
	if first && l.release != nil {
		l.release(note)
	}
}
