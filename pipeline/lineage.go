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
	alive  atomic.Int64
	lease  Lease                 // what is told: of a queue, an [ending], a *joint; nil if nobody is
	from   *node                 // whose run waits for it; nil outside one
	story  atomic.Pointer[story] // nil as long as there is nothing to say
	memory memoryHeld            // what it has taken of the run's memory
}

// ending is told how a lease ended that is no queue's.
type ending func(Outcome)

func (ending) Item() *Item      { return nil }
func (f ending) Done(o Outcome) { f(o) }

// leased is an item with a lease of its own. They are made together, because most items that come in are. There are so
// many that each word of it is time for the garbage collector: what few leases need is elsewhere.
type leased struct {
	item    Item
	lineage lineage
}

// newLeased returns an item with one lease.
func newLeased(value any, meta map[string]string) *Item {
	made := &leased{item: Item{Value: value, Meta: meta}}
	made.lineage.alive.Store(1)
	made.item.lineage = &made.lineage
	return &made.item
}

// queued reports whether the lease is a queue's, which can hand it out again.
func (l *lineage) queued() bool {
	switch lease := l.lease.(type) {
	case nil, ending, *alone:
		return false
	case *joint:
		return lease.queued
	}
	return true
}

// joint returns what the lease is of, if that is a group; else nil.
func (l *lineage) joint() *joint {
	j, _ := l.lease.(*joint)
	return j
}

// trace returns what follows the lease; nil if nothing does.
func (l *lineage) trace() Trace {
	if s := l.story.Load(); s != nil {
		return s.trace
	}
	return nil
}

// story is what has happened to a lease besides its beginning; most of those of a fast pipeline have none.
type story struct {
	trace Trace // set before an item of the lease is emitted

	mu       sync.Mutex
	outcome  Outcome
	cleanups []cleanup
	released bool
}

// cleanup is what a stage wants to be called when the lease ends: one of the two.
type cleanup struct {
	end     func()
	outcome func(Outcome)
}

// newLineage returns a lineage with one item alive.
func newLineage(lease Lease) *lineage {
	l := &lineage{lease: lease}
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

// tell changes the story.
func (l *lineage) tell(change func(*story)) {
	s := l.story.Load()
	if s == nil {
		s = new(story)
		if !l.story.CompareAndSwap(nil, s) {
			s = l.story.Load()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (l *lineage) fail(err error) {
	l.tell(func(s *story) {
		if s.outcome.Err != nil {
			return
		}
		s.outcome.Err = err
		if retry, ok := asRetry(err); ok {
			s.outcome.RetryAt = retry.at
		}
	})
}

// told returns the outcome, so far.
func (l *lineage) told() (o Outcome) {
	if l.story.Load() != nil {
		l.tell(func(s *story) { o = s.outcome })
	}
	return o
}

func (l *lineage) finish() {
	var cleanups []cleanup
	if l.story.Load() != nil {
		l.tell(func(s *story) { cleanups, s.cleanups = s.cleanups, nil })
	}
	for _, c := range cleanups {
		if err := l.clean(c); err != nil {
			l.fail(err)
		}
	}
	l.memory.end(l)
	outcome := l.told()
	if trace := l.trace(); trace != nil {
		trace.End(outcome)
	}
	l.tellEnd(outcome)
	if l.from != nil {
		l.from.run.settle(outcome, l.queued())
		l.from.run.flight.done()
	}
}

// clean does what a stage wants to be done. That is in whatever goroutine the lease ends, so it is told by where the
// function was written which stage a panic is of.
func (l *lineage) clean(c cleanup) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(l.from.writerOf(c), v)
		}
	}()
	if c.end != nil {
		c.end()
	} else {
		c.outcome(l.told())
	}
	return nil
}

// tellEnd tells the source or queue.
func (l *lineage) tellEnd(o Outcome) {
	defer l.guard()
	if l.lease != nil {
		l.lease.Done(o)
	}
}

// guard is deferred around code of the stage whose lease it is. Outside of a run, its caller has to see to panics.
func (l *lineage) guard() {
	if l.from == nil {
		return
	}
	if v := recover(); v != nil {
		l.from.run.failWith(newPanicError(l.from.name, v))
	}
}

func (l *lineage) hold() func(error) {
	l.fork()
	var once sync.Once
	return func(err error) { once.Do(func() { l.done(err) }) }
}

func (l *lineage) learn(what any) {
	l.tell(func(s *story) { s.outcome.Learned = append(s.outcome.Learned, what) })
}

func (l *lineage) onEnd(c cleanup) {
	l.tell(func(s *story) { s.cleanups = append(s.cleanups, c) })
}

// releaseEarly tells what the lease occupies that it is free. Only the first note counts, but for a group, each of
// whose members has a first of its own.
func (l *lineage) releaseEarly(note any) {
	if j := l.joint(); j != nil {
		j.release(note)
		return
	}
	first := false
	l.tell(func(s *story) { first, s.released = !s.released, true })
	if !first {
		return
	}
	defer l.guard()
	if r, ok := l.lease.(Releaser); ok {
		r.Release(note)
	}
}
