package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
)

// gate is what sources and queues pass when they hand something out. It is shut while the run is paused.
// A gate never changes: another one takes its place, so that who passes has to look at one pointer.
type gate struct {
	openTo  openness
	ctx     context.Context // ends when the run drains, or when another gate takes the place of this one
	cancel  context.CancelFunc
	changed chan struct{} // closed when another gate takes its place
	hurry   bool          // somebody waits for what is in flight: groups do not wait to be full
}

// openness says who may pass a gate.
type openness int8

const (
	shut            openness = iota // nobody: nothing is in flight, nor will be
	openToOperators                 // go-streams operators alone, which have to get rid of what they were given
	open                            // everybody
)

// gating is who may change the gate, and what it should be.
type gating struct {
	mu     sync.Mutex
	gate   atomic.Pointer[gate]
	paused bool
	held   openness // by a reload; open without one
}

// set changes what the gate should be, and puts another in the place of the one there is. The new one ends
// with ctx.
func (c *gating) set(ctx context.Context, change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	to := c.held
	if c.paused {
		to = min(to, openToOperators)
	}
	g := &gate{openTo: to, hurry: c.held != open, changed: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancel(ctx)
	if before := c.gate.Swap(g); before != nil {
		before.cancel()
		close(before.changed)
	}
}

// Pause makes sources and queues hand out nothing more until [Run.Resume] is called; what they are handing
// out, and what is in flight, goes on. A paused run can be drained, which ends it, and cancelled.
func (r *Run) Pause() { r.gating.set(r.drainCtx, func() { r.gating.paused = true }) }

// Resume ends a pause.
func (r *Run) Resume() { r.gating.set(r.drainCtx, func() { r.gating.paused = false }) }

// Paused reports whether the run has been paused.
func (r *Run) Paused() bool {
	r.gating.mu.Lock()
	defer r.gating.mu.Unlock()
	return r.gating.paused
}

// hold shuts the gate for a reload, or opens it after one.
func (r *Run) hold(to openness) { r.gating.set(r.drainCtx, func() { r.gating.held = to }) }

// enter waits until the gate is open to somebody, and counts them as in flight. It returns the gate, or nil
// if they had to stop first: then nothing is counted.
func (r *Run) enter(as openness, stop, stopToo <-chan struct{}) *gate {
	for {
		r.flight.add() // before looking: who shuts the gate and sees nothing in flight knows that nobody passes
		g := r.gating.gate.Load()
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
