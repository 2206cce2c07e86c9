package pipeline

import "context"

// gate is what sources and queues pass when they hand something out. It is shut while the run is paused.
// A gate never changes: another one takes its place, so that who passes has to look at one pointer.
type gate struct {
	openTo  openness
	ctx     context.Context // ends when the run drains, or when another gate takes the place of this one
	cancel  context.CancelFunc
	changed chan struct{} // closed when another gate takes its place
}

// openness says who may pass a gate.
type openness int8

const (
	shut            openness = iota // nobody
	openToOperators                 // go-streams operators alone, which have to get rid of what they were given
	open                            // everybody
)

// setGate puts another gate in the place of the one there is. Who holds r.control may call it.
func (r *Run) setGate(to openness) {
	g := &gate{openTo: to, changed: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancel(r.drainCtx)
	if before := r.gate.Swap(g); before != nil {
		before.cancel()
		close(before.changed)
	}
}

// Pause makes sources and queues hand out nothing more until [Run.Resume] is called; what they are handing
// out, and what is in flight, goes on. A paused run can be drained, which ends it, and cancelled.
func (r *Run) Pause() { r.setPaused(true) }

// Resume ends a pause.
func (r *Run) Resume() { r.setPaused(false) }

// Paused reports whether the run has been paused.
func (r *Run) Paused() bool {
	r.control.Lock()
	defer r.control.Unlock()
	return r.paused
}

func (r *Run) setPaused(paused bool) {
	r.control.Lock()
	defer r.control.Unlock()
	if r.paused != paused {
		r.paused = paused
		r.setGate(r.openness())
	}
}

// openness is what the gate is when nothing but a pause shuts it.
func (r *Run) openness() openness {
	if r.paused {
		return openToOperators
	}
	return open
}

// enter waits until the gate is open to somebody, and counts them as in flight. It returns the gate, or nil
// if they had to stop first: then nothing is counted.
func (r *Run) enter(as openness, stop, stopToo <-chan struct{}) *gate {
	for {
		r.flight.add() // before looking: who shuts the gate and sees nothing in flight knows that nobody passes
		g := r.gate.Load()
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
