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
// as long as its successors do nothing but die; meanwhile the others get all items.
type pool struct {
	mu      sync.Mutex
	slots   []*slot
	next    int       // the slot that is looked at first, so that equals take turns
	waiting []*waiter // items without a process, the oldest first
	closed  bool
}

// slot is where a process runs, and those that come after it. All but stage and place is the pool's, under its mu.
type slot struct {
	stage *stage
	place place

	process  *process // nil before the first; it may be lost
	launch   *launch  // under way
	pause    time.Duration
	failures int   // launches that have failed
	err      error // why the last of them has

	items    int
	alone    bool    // its item has the process for itself
	reserved *waiter // an item that is to have it for itself once it is free
}

type launch struct {
	done chan struct{}
	err  error
}

// waiter is an item that waits for a process.
type waiter struct {
	alone    bool // it is to have the process for itself
	reserved *slot
	failures []int // of each slot when it came
	given    chan grant
}

type grant struct {
	slot    *slot
	process *process
	err     error
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 30 * time.Second
)

var errClosed = errors.New("the stage is closed")

func (p *pool) fill(s *stage) {
	for range s.options.Processes {
		for _, at := range s.options.places() {
			p.slots = append(p.slots, &slot{stage: s, place: at})
		}
	}
}

// take returns a process that lives and has room, and its slot, which the caller gives back. If all are lost it waits
// until one has been replaced; the error says why none could be.
func (p *pool) take(ctx context.Context, alone bool) (*slot, *process, error) {
	w := &waiter{alone: alone, given: make(chan grant, 1)}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, nil, errClosed
	}
	for _, sl := range p.slots {
		w.failures = append(w.failures, sl.failures)
	}
	p.revive()
	p.waiting = append(p.waiting, w)
	p.assign()
	p.mu.Unlock()
	select {
	case g := <-w.given:
		return g.slot, g.process, g.err
	case <-ctx.Done():
		p.abandon(w)
		return nil, nil, ctx.Err()
	}
}

// give takes back what take has lent.
func (p *pool) give(sl *slot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sl.items--
	sl.alone = false
	p.assign()
}

// abandon forgets an item that waits no longer.
func (p *pool) abandon(w *waiter) {
	p.mu.Lock()
	p.waiting = slices.DeleteFunc(p.waiting, func(other *waiter) bool { return other == w })
	w.reserve(nil)
	p.mu.Unlock()
	select {
	case g := <-w.given: // meanwhile
		if g.slot != nil {
			p.give(g.slot)
		}
	default:
	}
}

// assign gives processes to the items that wait, as far as there are any. p.mu is held, as in all that follows.
func (p *pool) assign() {
	if len(p.waiting) == 0 {
		return
	}
	p.waiting = slices.DeleteFunc(p.waiting, p.serve)
	if len(p.waiting) > 0 {
		p.revive()
	}
}

// serve reports whether an item has been given a process, or an error.
func (p *pool) serve(w *waiter) bool {
	sl := p.freest(func(sl *slot) bool {
		free := sl.reserved == nil || sl.reserved == w
		return free && !sl.alone && sl.items < sl.stage.options.InFlight && !(w.alone && sl.items > 0)
	})
	if sl != nil {
		w.reserve(nil)
		sl.items++
		sl.alone = w.alone
		w.given <- grant{slot: sl, process: sl.process}
		return true
	}
	if w.alone && (w.reserved == nil || !w.reserved.lives()) {
		w.reserve(p.freest(func(sl *slot) bool { return sl.reserved == nil }))
	}
	if err := p.hopeless(w); err != nil {
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

// reserve makes the item the next that the slot is given to, instead of the one that it has waited for.
func (w *waiter) reserve(sl *slot) {
	if w.reserved != nil {
		w.reserved.reserved = nil
	}
	if w.reserved = sl; sl != nil {
		sl.reserved = w
	}
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
	sl.stage.tasks.Go(func() { p.start(sl, l) })
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
		sl.stage.countAt(sl.place, "restarts")
	}
	var started *process
	select {
	case <-time.After(pause):
		started, l.err = sl.stage.launch(sl.place)
	case <-sl.stage.ctx.Done():
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
		sl.stage.tasks.Go(started.stop)
	}
	p.assign()
}

// open starts the first processes: those of a place one after the other, all places at once. The errors are those of
// the places where one did not start.
func (p *pool) open(ctx context.Context) []error {
	places := p.slots[0].stage.options.places()
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
func (s *stage) Open(ctx context.Context) error {
	if s.options.MaxMemory > 0 {
		s.tasks.Go(s.watchMemory)
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
func (s *stage) Check(ctx context.Context) error { return joined(s.pool.open(ctx)) }

// joined returns the errors as one, or the only one as it is.
func joined(errs []error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
