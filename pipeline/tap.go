package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// TapOptions determines what to watch of a running pipeline.
type TapOptions struct {
	Stage string
	// Port is one of the stage's output ports, also one that leads nowhere; [TapInput] watches what enters
	// the stage. Empty is the default port; of a stage without one, all its ports, or else its input.
	Port string

	// Where decides what to show; nil shows everything. It is called by one goroutine at a time, with a copy of the
	// item. It may give up on an item with [ErrTapTooLong], which is then missed; any other error ends the tap.
	Where func(*Item) (bool, error)

	Limit   int // end after so many items; 0 has no limit
	Rate    int // the most items a second, 20 if 0
	MaxBody int // the most bytes of a body, 4096 if 0; -1 is none
}

// TapInput is where items enter a stage, to a [Tap]. It can be no port's name.
const TapInput = ":in"

const (
	defaultTapRate = 20
	defaultTapBody = 4096
	tapQueue       = 32      // copies of items that wait to be looked at
	tapBuffer      = 64      // items shown and not yet read, at most
	tapKept        = 4 << 20 // bytes of them, about
)

// Errors of taps. The first three are reasons to end, besides the context and an error of [TapOptions.Where].
var (
	ErrTapRunEnded = errors.New("the pipeline has ended")
	ErrTapReplaced = errors.New("the stage was taken out or replaced")
	ErrTapLimit    = errors.New("as many items as wanted have been shown")
	// ErrTapTooLong means that a condition has taken too long on an item, see [TapOptions].
	ErrTapTooLong = errors.New("the condition takes too long")
	// ErrTapsFull is the error of a tap beyond the most that a process has at once.
	ErrTapsFull = fmt.Errorf("%d taps are open, which is the most at once: end one first", mostTaps)
)

// Tap watches items pass a place in a running pipeline, see [Run.Tap].
type Tap struct {
	C <-chan Tapped // closed when the tap has ended

	pipeline string
	stage    string
	options  TapOptions
	budget   *tapBudget
	counts   []*atomic.Int64 // of the places that it watches: what has passed them
	before   int64           // the sum of these when it was opened
	missed   atomic.Int64

	credit atomic.Int32 // so many more items may be queued
	queue  chan passing // copies that wait to be looked at
	out    chan Tapped
	cancel context.CancelCauseFunc

	allow allowance // this and shown are of the tap's own goroutine
	shown int

	mu     sync.Mutex // held to queue an item; never waited for by a stage
	ended  bool
	err    error
	passed int64 // when it ended
}

// Tap watches what passes a place in the pipeline until ctx ends, the run does, the stage is replaced, or
// the limit is reached; then Tap.C is closed and [Tap.Err] tells which. A process has so many taps at once, and
// [ErrTapsFull] beyond.
//
// A tap changes nothing and holds nothing back. Items pass it as they would without it; now and then one is
// copied, as often as the rate allows and as long as all taps of the process together take less than a tenth of a
// processor, and each less than a hundredth. The tap's own goroutine looks at the copy, and shows it if it is
// wanted. What is copied and not looked at, or a reader that is too slow, misses some: [Tap.Missed] counts them.
func (r *Run) Tap(ctx context.Context, o TapOptions) (*Tap, error) {
	r.layout.RLock()
	defer r.layout.RUnlock()
	n, ports, err := r.tapPoint(o.Stage, o.Port)
	if err != nil {
		return nil, err
	}
	o.MaxBody = cmp.Or(o.MaxBody, defaultTapBody)
	budget := &r.options.Resources.taps
	if !budget.enter() {
		return nil, ErrTapsFull
	}
	t := &Tap{
		pipeline: r.graph.Name, stage: n.name, options: o, budget: budget,
		queue: make(chan passing, tapQueue), out: make(chan Tapped, max(1, min(tapBuffer, tapKept/(max(o.MaxBody, 0)+longValue)))),
		allow: newAllowance(firstPositive(o.Rate, defaultTapRate), mostWork, time.Now()),
	}
	t.C = t.out
	ctx, t.cancel = context.WithCancelCause(ctx)
	t.credit.Store(t.wants())
	n.taps.add(t, ports)
	go func() {
		reason := t.watch(ctx, r.done)
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

// Passed returns how many items have passed since the tap was opened, and Missed how many of them were chosen to be
// shown, and were not: as many were waiting to be read, or the condition took too long.
func (t *Tap) Passed() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return t.passed
	}
	return t.number()
}

func (t *Tap) number() int64 {
	passed := -t.before
	for _, n := range t.counts {
		passed += n.Load()
	}
	return passed
}

// Missed is told of at [Tap.Passed].
func (t *Tap) Missed() int64 { return t.missed.Load() }

// Work calls f, which does something with what the tap has shown, as a part of what taps may take of a processor: it
// waits until they may, or until ctx ends, which it reports; then f may not have been called.
func (t *Tap) Work(ctx context.Context, f func()) error {
	t.budget.look(ctx, f)
	return ctx.Err()
}

// close ends the tap, of which no stage knows any more, but for calls under way.
func (t *Tap) close(reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed, t.ended, t.err = t.number(), true, reason
	t.forget()
	t.cancel(nil)
	t.budget.leave()
	close(t.out)
}

// taps are those on a stage. Where there are none they cost an item the load of a pointer.
type taps struct {
	mu  sync.Mutex
	all pointer.Atomic[[]tapPlace] // of which nothing is ever changed
}

// tapPlace is a port that is watched.
type tapPlace struct {
	port   string
	passed *atomic.Int64
	taps   []*Tap
}

// see shows an item that passes a port to the taps that watch it.
func (s *taps) see(it *Item, port string) {
	if pointer.Load(&s.all) != nil {
		s.show(it, port)
	}
}

func (s *taps) show(it *Item, port string) {
	places := pointer.Load(&s.all)
	if places == nil {
		return
	}
	for i := range *places {
		p := &(*places)[i]
		if p.port != port {
			continue
		}
		p.passed.Add(1)
		for _, t := range p.taps {
			if t.credit.Load() > 0 {
				t.take(it, port)
			}
		}
	}
}

func (s *taps) add(t *Tap, ports []string) {
	s.change(func(places []tapPlace) []tapPlace {
		for _, port := range ports {
			i := slices.IndexFunc(places, func(p tapPlace) bool { return p.port == port })
			if i < 0 {
				i, places = len(places), append(places, tapPlace{port: port, passed: new(atomic.Int64)})
			}
			places[i].taps = append(slices.Clone(places[i].taps), t)
			t.counts = append(t.counts, places[i].passed)
		}
		t.before = t.number()
		return places
	})
}

func (s *taps) remove(t *Tap) {
	s.change(func(places []tapPlace) []tapPlace {
		for i := range places {
			places[i].taps = slices.DeleteFunc(slices.Clone(places[i].taps), func(o *Tap) bool { return o == t })
		}
		return slices.DeleteFunc(places, func(p tapPlace) bool { return len(p.taps) == 0 })
	})
}

// change replaces the list by a changed copy, because items pass meanwhile.
func (s *taps) change(f func([]tapPlace) []tapPlace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var places []tapPlace
	if old := pointer.Load(&s.all); old != nil {
		places = slices.Clone(*old)
	}
	if places = f(places); len(places) == 0 {
		pointer.Store(&s.all, nil)
		return
	}
	pointer.Store(&s.all, &places)
}

// end ends all taps on a stage.
func (s *taps) end(reason error) {
	if places := pointer.Load(&s.all); places != nil {
		for _, p := range *places {
			for _, t := range p.taps {
				t.cancel(reason)
			}
		}
	}
}
