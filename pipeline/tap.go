package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// TapOptions says what to watch of a running pipeline.
type TapOptions struct {
	Stage string
	// Port is one of the stage's output ports, also one that leads nowhere; [TapInput] watches what enters
	// the stage. Empty is the default port; of a stage without one, all its ports, or else its input.
	Port string

	Where func(*Item) (bool, error) // what to show; nil shows everything. It is called by one goroutine at a time

	Limit   int // end after so many items; 0 has no limit
	Rate    int // the most items a second, 20 if 0
	MaxBody int // the most bytes of a body, 4096 if 0; -1 is none
}

// TapInput is where items enter a stage, to a [Tap]. It can be no port's name.
const TapInput = ":in"

const (
	defaultTapRate = 20
	defaultTapBody = 4096
	tapBuffer      = 64 // items shown and not yet read
)

// Reasons for a tap to end, besides its context and an error of [TapOptions.Where].
var (
	ErrTapRunEnded = errors.New("the pipeline has ended")
	ErrTapReplaced = errors.New("the stage was taken out or replaced")
	ErrTapLimit    = errors.New("as many items as wanted have been shown")
)

// Tap watches items pass a place in a running pipeline, see [Run.Tap].
type Tap struct {
	C <-chan Tapped // closed when the tap has ended

	pipeline string
	stage    string
	ports    []string
	options  TapOptions
	out      chan Tapped
	passed   atomic.Int64
	missed   atomic.Int64
	looking  atomic.Bool // whether the next item is looked at

	mu     sync.Mutex // held by who looks at an item; never waited for by one that has an item
	allow  allowance
	shown  int
	ended  bool
	err    error
	rested *time.Timer
	ending chan error
}

// Tap watches what passes a place in the pipeline until ctx ends, the run does, the stage is replaced, or
// the limit is reached; then Tap.C is closed and [Tap.Err] says which. Any number of taps may be open.
//
// A tap changes nothing and holds nothing back. Items pass it as they would without it; now and then, as
// often as the rate allows and as long as that takes less than a hundredth of a processor, one is looked
// at while it passes, and a copy of it is shown if it is wanted. Who reads too slowly misses some.
func (r *Run) Tap(ctx context.Context, o TapOptions) (*Tap, error) {
	r.layout.RLock()
	defer r.layout.RUnlock()
	n, ports, err := r.tapPoint(o.Stage, o.Port)
	if err != nil {
		return nil, err
	}
	rate := firstPositive(o.Rate, defaultTapRate)
	if o.MaxBody == 0 {
		o.MaxBody = defaultTapBody
	}
	t := &Tap{
		pipeline: r.graph.Name, stage: n.name, ports: ports, options: o,
		out: make(chan Tapped, tapBuffer), ending: make(chan error, 1), allow: newAllowance(rate, time.Now()),
	}
	t.C = t.out
	t.rested = time.AfterFunc(time.Hour, func() { t.looking.Store(true) })
	t.rested.Stop()
	t.looking.Store(true)
	n.taps.add(t)
	go func() {
		var reason error
		select {
		case <-ctx.Done():
			reason = context.Cause(ctx)
		case <-r.done:
			reason = ErrTapRunEnded
		case reason = <-t.ending:
		}
		n.taps.remove(t)
		t.close(reason)
	}()
	return t, nil
}

// Err returns why the tap has ended; nil while it has not.
func (t *Tap) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Passed returns how many items have passed since the tap was opened, and Missed how many of them were
// chosen to be shown when as many were still waiting to be read.
func (t *Tap) Passed() int64 { return t.passed.Load() }

// Missed is told of at [Tap.Passed].
func (t *Tap) Missed() int64 { return t.missed.Load() }

// end makes the tap end with a reason; the first one counts. It does not wait.
func (t *Tap) end(reason error) {
	select {
	case t.ending <- reason:
	default:
	}
}

func (t *Tap) close(reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rested.Stop()
	t.ended, t.err = true, reason
	close(t.out)
}

// taps are those on a stage. Where there are none they cost an item the load of a pointer.
type taps struct {
	mu  sync.Mutex
	all atomic.Pointer[[]*Tap]
}

// see shows an item that passes a port to whoever watches it.
func (s *taps) see(it *Item, port string) {
	if s.all.Load() != nil {
		s.show(it, port)
	}
}

func (s *taps) show(it *Item, port string) {
	all := s.all.Load()
	if all == nil {
		return
	}
	for _, t := range *all {
		if slices.Contains(t.ports, port) {
			t.see(it, port)
		}
	}
}

func (s *taps) add(t *Tap) {
	s.change(func(all []*Tap) []*Tap { return append(all, t) })
}

func (s *taps) remove(t *Tap) {
	s.change(func(all []*Tap) []*Tap { return slices.DeleteFunc(all, func(o *Tap) bool { return o == t }) })
}

// change replaces the list by a changed copy, because items pass meanwhile.
func (s *taps) change(f func([]*Tap) []*Tap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Tap
	if old := s.all.Load(); old != nil {
		all = slices.Clone(*old)
	}
	if all = f(all); len(all) == 0 {
		s.all.Store(nil)
		return
	}
	s.all.Store(&all)
}

// end ends all taps on a stage.
func (s *taps) end(reason error) {
	if all := s.all.Load(); all != nil {
		for _, t := range *all {
			t.end(reason)
		}
	}
}
