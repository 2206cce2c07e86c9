package exec

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// pool has the processes, and lends them to items: the one that has the fewest items gets the next, so that one that is
// slow keeps no item waiting that another has room for. A process that is lost is replaced, after a pause that doubles
// as long as its successors do nothing but die; meanwhile the others get all items. What it had is repeated where it
// was lost, one item at a time, so that the one at fault, or one that is slow, takes no other process with it or holds
// it up.
type pool struct {
	mu      sync.Mutex
	slots   []*slot
	next    int       // the slot that is looked at first, so that equals take turns
	waiting []*waiter // items without a process, in the order in which they are given one
	closed  bool
}

// slot is where a process runs, and those that come after it. All but the first fields is the pool's, under its mu.
type slot struct {
	programs *programs
	place    place
	number   int // among the slots

	process  *process // nil before the first; it may be lost
	launch   *launch  // under way
	pause    time.Duration
	failures int   // launches that have failed
	err      error // why the last of them has

	items    int
	alone    bool // its item has the process for itself
	expected int  // items that wait to have it for themselves: it gets no others
}

type launch struct {
	done chan struct{}
	err  error
}

// waiter is an item that wants a process. All but given is the pool's, under its mu.
type waiter struct {
	slot      *slot // whose process it has; nil while it has none
	home      *slot // that it waits to have for itself, after it was lost there; nil: it waits for any
	suspected bool  // it has been lost without others beside it
	failures  []int // of each slot when it began to wait
	given     chan grant
}

type grant struct {
	process *process
	err     error
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 30 * time.Second
)

var errClosed = errors.New("the stage is closed")

func newWaiter() *waiter { return &waiter{given: make(chan grant, 1)} }

func (p *pool) fill(s *programs) {
	for range s.options.Processes {
		for _, at := range s.options.places() {
			p.slots = append(p.slots, &slot{programs: s, place: at, number: len(p.slots)})
		}
	}
}

// take returns a process that lives and has room, which the caller gives back: for an item that still has one, which
// was lost, the process that comes after that, for itself. If all are lost it waits until one has been replaced; the
// error tells why none could be.
func (p *pool) take(ctx context.Context, w *waiter) (*process, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	p.enqueue(w)
	p.revive()
	p.assign()
	p.mu.Unlock()
	select {
	case g := <-w.given:
		return g.process, g.err
	case <-ctx.Done():
		p.abandon(w)
		return nil, ctx.Err()
	}
}

// give takes back what take has lent.
func (p *pool) give(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.slot != nil {
		w.free()
		p.assign()
	}
}

// abandon forgets an item that waits no longer.
func (p *pool) abandon(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(other *waiter) bool { return other == w })
	w.await(nil)
	if w.slot != nil { // it was given one meanwhile
		w.free()
	}
	p.assign()
}

// enqueue has an item wait. One that is suspected is the first that the process is given which comes after the one that
// it was lost with: if that is lost too, nothing that was before it can be the reason. p.mu is held, as in all that
// follows.
func (p *pool) enqueue(w *waiter) {
	w.failures = w.failures[:0]
	for _, sl := range p.slots {
		w.failures = append(w.failures, sl.failures)
	}
	if lost := w.slot; lost != nil {
		w.free()
		w.await(lost)
	}
	if w.suspected {
		p.waiting = slices.Insert(p.waiting, 0, w)
	} else {
		p.waiting = append(p.waiting, w)
	}
}

// free gives back the slot that the item has.
func (w *waiter) free() {
	w.slot.items--
	w.slot.alone = false
	w.slot = nil
}

// await has the item wait for a slot that it is to have for itself, or, with nil, for any.
func (w *waiter) await(sl *slot) {
	if w.home != nil {
		w.home.expected--
	}
	if w.home = sl; sl != nil {
		sl.expected++
	}
}

// assign gives processes to the items that wait, as far as there are any.
func (p *pool) assign() {
	if len(p.waiting) == 0 {
		return
	}
	p.waiting = slices.DeleteFunc(p.waiting, p.serve)
	if len(p.waiting) > 0 {
		p.revive()
	}
}

// serve reports whether an item has been given a process, or an error. One that waits for a process that could not be
// started again waits for another.
func (p *pool) serve(w *waiter) bool {
	if w.home != nil && !w.home.lives() && w.home.failures > w.failures[w.home.number] {
		if other := p.freest(func(*slot) bool { return true }); other != nil {
			w.await(other)
		}
	}
	sl := p.freest(func(sl *slot) bool {
		if w.home != nil {
			return sl == w.home && sl.items == 0
		}
		return sl.expected == 0 && !sl.alone && sl.items < sl.programs.options.InFlight
	})
	if sl != nil {
		sl.items++
		sl.alone = w.home != nil
		w.await(nil)
		w.slot = sl
		w.given <- grant{process: sl.process}
		return true
	}
	if err := p.hopeless(w); err != nil {
		w.await(nil)
		w.given <- grant{err: err}
		return true
	}
	return false
}

// freest returns the slot that has the fewest items of those whose process lives and that will do; nil if there is
// none.
func (p *pool) freest(willDo func(*slot) bool) (found *slot) {
	for i := range p.slots {
		sl := p.slots[(p.next+i)%len(p.slots)]
		if willDo(sl) && (found == nil || sl.items < found.items) && sl.lives() {
			found = sl
		}
	}
	p.next = (p.next + 1) % len(p.slots)
	return found
}

// hopeless returns why no process could be started since the item came, at any place; nil if one lives, or is still
// waited for.
func (p *pool) hopeless(w *waiter) error {
	var why []error
	var places []place
	for i, sl := range p.slots {
		if sl.lives() || sl.failures == w.failures[i] {
			return nil
		}
		if !slices.ContainsFunc(places, func(at place) bool { return at.prefix == sl.place.prefix }) {
			places, why = append(places, sl.place), append(why, sl.err)
		}
	}
	return joined(why)
}

func (sl *slot) lives() bool { return sl.process != nil && sl.process.alive() }

// revive sees to it that a process is started in each slot that has none.
func (p *pool) revive() {
	for _, sl := range p.slots {
		if !sl.lives() && sl.launch == nil && !p.closed {
			p.launch(sl)
		}
	}
}

func (p *pool) launch(sl *slot) *launch {
	l := &launch{done: make(chan struct{})}
	sl.launch = l
	sl.programs.tasks.Go(func() { p.start(sl, l) })
	return l
}

// start starts a process, after a pause that doubles as long as processes do nothing but die. It takes p.mu itself.
func (p *pool) start(sl *slot, l *launch) {
	defer close(l.done)
	p.mu.Lock()
	last := sl.process
	again := last != nil || sl.pause > 0
	switch {
	case last != nil && last.answered.Load():
		sl.pause = firstPause
	case again:
		sl.pause = min(max(firstPause, 2*sl.pause), longestPause)
	}
	pause := sl.pause
	p.mu.Unlock()
	if again {
		sl.programs.countAt(sl.place, "restarts")
	}
	var started *process
	select {
	case <-time.After(pause):
		started, l.err = sl.programs.launch(sl.place)
	case <-sl.programs.ctx.Done():
		l.err = errClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	sl.launch = nil
	if l.err != nil {
		sl.process = nil // what the last one did is no reason to try again as soon
		sl.pause, sl.err = max(firstPause, sl.pause), l.err
		sl.failures++
	} else if sl.process = started; p.closed {
		sl.programs.tasks.Go(started.stop)
	}
	p.assign()
}

// open starts the first processes: those of a place one after the other, all places at once. The errors are those of
// the places where one did not start.
func (p *pool) open(ctx context.Context) []error {
	places := p.slots[0].programs.options.places()
	errs := make([]error, len(places))
	var opening sync.WaitGroup
	for i := range places {
		opening.Go(func() {
			for at := i; at < len(p.slots) && errs[i] == nil; at += len(places) { // in the order of fill
				errs[i] = p.openOne(ctx, p.slots[at])
			}
		})
	}
	opening.Wait()
	return errs
}

func (p *pool) openOne(ctx context.Context, sl *slot) error {
	p.mu.Lock()
	l := sl.launch
	switch {
	case p.closed:
		p.mu.Unlock()
		return errClosed
	case sl.lives():
		p.mu.Unlock()
		return nil
	case l == nil:
		l = p.launch(sl)
	}
	p.mu.Unlock()
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// running returns the processes that live.
func (p *pool) running() (all []*process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sl := range p.slots {
		if sl.lives() {
			all = append(all, sl.process)
		}
	}
	return all
}

// close lets no process be started any more, refuses the items that wait, and returns the processes there are.
func (p *pool) close() (all []*process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.waiting {
		w.given <- grant{err: errClosed}
	}
	p.waiting = nil
	for _, sl := range p.slots {
		if sl.process != nil {
			all = append(all, sl.process)
		}
	}
	return all
}

// Open starts the processes, so that a program that cannot work is found out before anything flows. Of several places
// one that cannot be reached is tried again later, as one is that is lost.
func (s *programs) Open(ctx context.Context) error {
	if s.options.MaxMemory > 0 {
		s.watching.Do(func() { s.tasks.Go(s.watchMemory) })
	}
	errs := s.pool.open(ctx)
	failed := errors.Join(errs...)
	var fault *pipeline.OptionError
	if ctx.Err() != nil || errors.As(failed, &fault) || !slices.Contains(errs, nil) {
		return joined(errs)
	}
	for i, err := range errs {
		if err != nil {
			s.env.Logger.Warn("place not ready", "place", s.options.places()[i].title(), "error", err)
		}
	}
	return nil
}

// Check is Open for one who asks whether the stage would run: at each place.
func (s *programs) Check(ctx context.Context) error { return joined(s.pool.open(ctx)) }

// joined returns the errors as one, or the only one as it is.
func joined(errs []error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
