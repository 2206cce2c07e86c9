package pipeline

import (
	"context"
	"sync"

	"github.com/webrace/webrace/internal/pointer"
)

// valve is what sources and queues pass when they hand something out. It is shut while the run is paused.
// A valve never changes: another one takes its place, so that a source that passes has to look at one pointer.
type valve struct {
	openTo  openness
	ctx     context.Context // ends when the run drains, or when another valve takes the place of this one
	cancel  context.CancelFunc
	changed chan struct{} // closed when another valve takes its place
	hurry   bool          // a reload waits for what is in flight: groups do not wait to be full
}

// openness determines which stages may pass a valve.
type openness int8

const (
	shut            openness = iota // none: nothing is in flight, nor will be
	openToOperators                 // keepers alone, which have to get rid of what they were given
	open                            // all
)

// valveControl changes the valve, and knows what it should be.
type valveControl struct {
	mu      sync.Mutex
	current pointer.Atomic[valve]
	paused  bool
	held    openness      // by a reload; open without one
	waits   chan struct{} // closed while a reload waits for what is in flight; nil as long as nobody has asked
	waiting bool          // waits is closed
}

// reloading returns a channel that is closed when a reload waits for what is in flight.
func (c *valveControl) reloading() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits == nil {
		c.waits = make(chan struct{})
		c.tell()
	}
	return c.waits
}

// tell brings the channel up to date. c.mu is held.
func (c *valveControl) tell() {
	switch held := c.held != open; {
	case c.waits == nil || held == c.waiting:
	case held:
		close(c.waits)
		c.waiting = true
	default:
		c.waits, c.waiting = make(chan struct{}), false
	}
}

// set changes what the valve should be, and puts another in the place of the one there is. The new one ends
// with ctx.
func (c *valveControl) set(ctx context.Context, change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.tell()
	to := c.held
	if c.paused {
		to = min(to, openToOperators)
	}
	g := &valve{openTo: to, hurry: c.held != open, changed: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancel(ctx)
	if before := pointer.Swap(&c.current, g); before != nil {
		before.cancel()
		close(before.changed)
	}
}

// Pause makes sources and queues hand out nothing more until [Run.Resume] is called; what they are handing
// out, and what is in flight, goes on. A paused run can be drained, which ends it, and cancelled.
func (r *Run) Pause() { r.valves.set(r.drainCtx, func() { r.valves.paused = true }) }

// Resume ends a pause.
func (r *Run) Resume() { r.valves.set(r.drainCtx, func() { r.valves.paused = false }) }

// Paused reports whether the run has been paused.
func (r *Run) Paused() bool {
	r.valves.mu.Lock()
	defer r.valves.mu.Unlock()
	return r.valves.paused
}

// hold shuts the valve for a reload, or opens it after one.
func (r *Run) hold(to openness) { r.valves.set(r.drainCtx, func() { r.valves.held = to }) }

// enter waits until the valve is open to a stage, and counts it as in flight. It returns the valve, or nil
// if they had to stop first: then nothing is counted.
func (r *Run) enter(as openness, stop, stopToo <-chan struct{}) *valve {
	for {
		r.flight.add() // before looking: a reload that shuts the valve and sees nothing in flight knows that none passes
		g := pointer.Load(&r.valves.current)
		if g.openTo >= as {
			return g
		}
		r.flight.done()
		select {
		case <-g.changed:
		case <-stop:
			return nil
		case <-stopToo:
			return nil
		}
	}
}
