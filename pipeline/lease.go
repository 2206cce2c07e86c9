package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// Outcome is what becomes of a lease once every item made from it has been dealt with.
type Outcome struct {
	// Err is the first failure that no error policy took care of; nil means done. A run that was
	// cancelled gives [context.Canceled]: the work was not finished, and nothing is known against it.
	Err error
	// RetryAt, set by an error from [Retry], is when the work should be tried again.
	RetryAt time.Time
	// Failed is the first failure that an error policy took care of, by a dead letter or by skipping the item: the work
	// is done as far as the pipeline goes, but not as it was meant.
	Failed error
	// Learned holds what stages passed to [Item.Learn], in the order of the calls.
	Learned []any
}

// lease counts the items alive that descend from one [Lease], its origin. Each fork is an item on an edge or a hold;
// when the last is done, the origin gets the outcome, exactly once.
type lease struct {
	alive  atomic.Int32
	beyond atomic.Bool                // it may go beyond the run's memory, at a stage or several
	origin Lease                      // gets the outcome: of a queue, an [ending], a *joint; nil if none is to
	from   *node                      // whose run waits for it; nil outside one
	state  pointer.Atomic[leaseState] // nil as long as there is nothing to say
	memory memoryHeld                 // what it has taken of the run's memory
}

// ending is a function that gets the outcome of a lease that is no queue's.
type ending func(Outcome)

func (ending) Item() *Item      { return nil }
func (f ending) Done(o Outcome) { f(o) }

// leased is an item with a lease of its own. They are made together, because most items that come in are. There are so
// many that each word of it is time for the garbage collector: what few leases need is elsewhere.
type leased struct {
	item  Item
	lease lease
}

// newLeased returns an item with one lease.
func newLeased(value any, meta map[string]string) *Item {
	made := &leased{item: Item{Value: value, Meta: meta}}
	made.lease.alive.Store(1)
	made.item.lease = &made.lease
	return &made.item
}

// queued reports whether the lease is a queue's, which can hand it out again.
func (l *lease) queued() bool {
	switch lease := l.origin.(type) {
	case nil, ending, *placed, *replayed, *alone:
		return false
	case *joint:
		return lease.queued
	}
	return true
}

// awaited reports whether somebody is told of the outcome, who brings the item again if it was not dealt with.
func (l *lease) awaited() bool {
	p, isPlaced := l.origin.(*placed)
	return l.origin != nil && (!isPlaced || p.end != nil)
}

// joint returns what the lease is of, if that is a group; else nil.
func (l *lease) joint() *joint {
	j, _ := l.origin.(*joint)
	return j
}

// trace returns what follows the lease; nil if nothing does.
func (l *lease) trace() Trace {
	if s := pointer.Load(&l.state); s != nil {
		return s.trace
	}
	return nil
}

// leaseState is what has happened to a lease besides its beginning; most of those of a fast pipeline have none.
type leaseState struct {
	trace Trace // set before an item of the lease is emitted

	mu       sync.Mutex
	outcome  Outcome
	key      string // of an item whose source tells nothing of it; made when it is asked for
	cleanups []cleanup
	released bool
	changes  *stateChanges // of states of stages; nil if there are none
}

// cleanup is what a stage wants to be called when the lease ends: one of the two.
type cleanup struct {
	end     func()
	outcome func(Outcome)
}

// newLease returns a lease with one item alive.
func newLease(origin Lease) *lease {
	l := &lease{origin: origin}
	l.alive.Store(1)
	return l
}

func (l *lease) fork() { l.alive.Add(1) }

// done ends one item. The first error of a lease decides its outcome.
func (l *lease) done(err error) {
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

// update changes the state.
func (l *lease) update(change func(*leaseState)) {
	s := pointer.Load(&l.state)
	if s == nil {
		s = new(leaseState)
		if !pointer.CompareAndSwap(&l.state, nil, s) {
			s = pointer.Load(&l.state)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (l *lease) fail(err error) {
	l.update(func(s *leaseState) {
		if s.outcome.Err != nil {
			return
		}
		s.outcome.Err = err
		if retry, ok := asRetry(err); ok {
			s.outcome.RetryAt = retry.at
		}
	})
}

// handled notes a failure that an error policy took care of.
func (l *lease) handled(err error) {
	l.update(func(s *leaseState) {
		if s.outcome.Failed == nil {
			s.outcome.Failed = err
		}
	})
}

// outcome returns the outcome, so far.
func (l *lease) outcome() (o Outcome) {
	if pointer.Load(&l.state) != nil {
		l.update(func(s *leaseState) { o = s.outcome })
	}
	return o
}

func (l *lease) finish() {
	var cleanups []cleanup
	if pointer.Load(&l.state) != nil {
		l.update(func(s *leaseState) { cleanups, s.cleanups = s.cleanups, nil })
	}
	for _, c := range cleanups {
		if err := l.clean(c); err != nil {
			l.fail(err)
		}
	}
	l.memory.end(l)
	if changes := l.changes(); changes != nil {
		changes.end(l.outcome(), l.queued(), func(err error) {
			if err != nil {
				l.fail(err)
			}
			l.finished()
		})
		return
	}
	l.finished()
}

// changes returns what stages have written to their states; nil if nothing.
func (l *lease) changes() (c *stateChanges) {
	if pointer.Load(&l.state) != nil {
		l.update(func(s *leaseState) { c = s.changes })
	}
	return c
}

// finished tells of the outcome, once all that it depends upon is durable.
func (l *lease) finished() {
	outcome := l.outcome()
	if trace := l.trace(); trace != nil {
		trace.End(outcome)
	}
	l.report(outcome)
	if l.from != nil {
		if outcome.Err != nil && !l.awaited() {
			l.from.run.lost.Add(1)
		}
		l.from.run.settle(outcome, l.queued())
		l.from.run.flight.done()
	}
}

// clean does what a stage wants to be done. That is in whatever goroutine the lease ends, so it is told by where the
// function was written which stage a panic is of.
func (l *lease) clean(c cleanup) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(l.from.writerOf(c), v)
		}
	}()
	if c.end != nil {
		c.end()
	} else {
		c.outcome(l.outcome())
	}
	return nil
}

// report tells the source or queue.
func (l *lease) report(o Outcome) {
	defer l.guard()
	if l.origin != nil {
		l.origin.Done(o)
	}
}

// guard is deferred around code of the stage whose lease it is. Outside of a run, its caller has to see to panics.
func (l *lease) guard() {
	if l.from == nil {
		return
	}
	if v := recover(); v != nil {
		l.from.run.failWith(newPanicError(l.from.name, v))
	}
}

func (l *lease) hold() func(error) {
	l.fork()
	var once sync.Once
	return func(err error) { once.Do(func() { l.done(err) }) }
}

func (l *lease) learn(what any) {
	l.update(func(s *leaseState) { s.outcome.Learned = append(s.outcome.Learned, what) })
}

func (l *lease) onEnd(c cleanup) {
	l.update(func(s *leaseState) { s.cleanups = append(s.cleanups, c) })
}

// releaseEarly tells what the lease occupies that it is free. Only the first note counts, but for a group, each of
// whose members has a first of its own.
func (l *lease) releaseEarly(note any) {
	if j := l.joint(); j != nil {
		j.release(note)
		return
	}
	first := false
	l.update(func(s *leaseState) { first, s.released = !s.released, true })
	if !first {
		return
	}
	defer l.guard()
	if r, ok := l.origin.(Releaser); ok {
		r.Release(note)
	}
}
