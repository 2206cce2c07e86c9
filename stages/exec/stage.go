package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/pipeline"
)

type stage struct {
	options Options
	env     *pipeline.Env
	takes   []pipeline.Kind
	slots   []*slot
	turn    atomic.Uint64            // whose the next item is
	said    atomic.Pointer[progSpec] // by the program of itself; nil before it is ready, and if it says nothing

	ctx    context.Context // ends when the stage is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup // all that has been started

	mu      sync.Mutex
	broken  error           // how a process broke the protocol first
	counted map[string]bool // the counters that programs have named
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Opener    = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
	_ pipeline.Needer    = (*stage)(nil)
	_ pipeline.Needer    = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	s := &stage{options: o, env: env, takes: o.InputKinds(), counted: make(map[string]bool)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for range o.Processes {
		s.slots = append(s.slots, &slot{stage: s, room: make(chan struct{}, o.InFlight)})
	}
	return s, nil
}

// Open starts the processes, so that a program that cannot work is found out before anything flows.
func (s *stage) Open(ctx context.Context) error {
	for _, sl := range s.slots {
		if _, err := sl.running(ctx); err != nil {
			return err
		}
	}
	return nil
}

// NeededParts returns what the program needs of an item: what the options say, or else what it says itself; nil if
// it does not say, and is given all that there is.
func (s *stage) NeededParts() []pipeline.Part {
	said := s.said.Load()
	switch {
	case s.options.Needs != nil || said == nil:
		return s.options.Needs
	case said.Needs != nil:
		return said.Needs
	case len(said.Fields) == 0:
		return nil
	}
	parts, byCase := pipeline.PartsOfFields(said.Fields...)
	if byCase { // it is told in which case an item is, and decides by itself
		return pipeline.NoParts
	}
	return parts
}

// Process gives an item to a program, and emits what the item yielded once the program is done with it.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if !slices.ContainsFunc(s.takes, func(k pipeline.Kind) bool { return k.Holds(it.Value) }) {
		return fmt.Errorf("takes %s, got %T", strings.Join(s.options.Takes, " or "), it.Value)
	}
	sl := s.slots[s.turn.Add(1)%uint64(len(s.slots))]
	answer, err := sl.do(ctx, it.Value)
	if err != nil {
		return err
	}
	for name, n := range answer.count {
		s.count(name, n)
	}
	if answer.err != nil {
		return answer.err
	}
	return s.emit(ctx, it, out, answer.outputs)
}

// emit passes on what an item yielded: everything, or nothing if any of it is not what was declared.
func (s *stage) emit(ctx context.Context, it *pipeline.Item, out pipeline.Emitter, outputs []output) error {
	values := make([]any, len(outputs))
	for i, o := range outputs {
		value, err := s.value(it.Value, o)
		if err != nil {
			return fmt.Errorf("what the program gave: %s", cut(err.Error(), longestError)) // it may quote the program
		}
		values[i] = value
	}
	for i, o := range outputs {
		next := it
		if !o.untouched() {
			next = it.With(values[i])
		}
		if o.Port == "" {
			if err := out.Emit(ctx, next); err != nil {
				return err
			}
		} else if err := out.EmitTo(ctx, o.Port, next); err != nil {
			return err
		}
	}
	return nil
}

// value makes a value of what the program said, and checks that it is one that the port is declared to give.
func (s *stage) value(input any, o output) (any, error) {
	port, ok := s.options.port(o.Port)
	if !ok {
		return nil, fmt.Errorf("there is no port %q: gives does not have it", o.Port)
	}
	value := input
	var err error
	switch {
	case !o.Keep:
		kind := o.Kind
		if kind == "" {
			kind = port.Kind
		}
		value, err = pipeline.DecodeValue(kind, o.Value, o.body)
	case len(o.Set) > 0:
		value, err = pipeline.SetFields(input, o.Set)
	}
	if err == nil && o.Keep && o.Body {
		value, err = pipeline.SetBody(value, o.body)
	}
	if err != nil {
		return nil, err
	}
	if !kindNamed(port.Kind).Holds(value) {
		return nil, fmt.Errorf("port %q gives %s, and this is a %T", o.Port, port.Kind, value)
	}
	return value, nil
}

// Close ends the processes: it closes their input, waits, and then makes them end.
func (s *stage) Close() error {
	s.cancel()
	var stopping sync.WaitGroup
	for _, sl := range s.slots {
		if p := sl.close(); p != nil {
			stopping.Go(p.stop)
		}
	}
	stopping.Wait()
	s.tasks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// named puts the program in front of an error.
func (s *stage) named(err error) error {
	return fmt.Errorf("%s: %w", strings.Join(s.options.Command, " "), err)
}

// noteBroken keeps the first way in which the protocol was broken: it is a mistake in the program, which
// the run must not pass over because all items came through in the end.
func (s *stage) noteBroken(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
}

// slot is a place for a process, and for those that come after it.
type slot struct {
	stage *stage
	room  chan struct{} // one for each item in flight
	alone sync.RWMutex  // held for writing by an item that has the process for itself

	mu      sync.Mutex
	process *process
	launch  *launch // under way
	pause   time.Duration
	closed  bool
}

type launch struct {
	done    chan struct{}
	process *process
	err     error
}

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 30 * time.Second
)

var errClosed = errors.New("the stage is closed")

// do has an item processed. One that was in flight when the process was lost gets one more chance, with the
// process for itself: if that is lost again, it is known why.
func (sl *slot) do(ctx context.Context, value any) (*call, error) {
	select {
	case sl.room <- struct{}{}:
		defer func() { <-sl.room }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	sl.alone.RLock()
	answer, err := sl.once(ctx, value)
	sl.alone.RUnlock()
	if lost, ok := errors.AsType[*lostError](err); !ok || lost.culprit {
		return answer, err
	}
	sl.stage.env.Counter("repeated").Add(1)
	sl.alone.Lock()
	defer sl.alone.Unlock()
	return sl.once(ctx, value)
}

func (sl *slot) once(ctx context.Context, value any) (*call, error) {
	p, err := sl.running(ctx)
	if err != nil {
		return nil, err
	}
	c, err := p.send(value)
	if err != nil {
		return nil, err
	}
	select {
	case <-c.done:
		return c, c.lost
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// running returns the slot's process. One that has been lost is replaced, for all who wait.
func (sl *slot) running(ctx context.Context) (*process, error) {
	sl.mu.Lock()
	if sl.closed {
		sl.mu.Unlock()
		return nil, errClosed
	}
	if p := sl.process; p != nil && p.alive() {
		sl.mu.Unlock()
		return p, nil
	}
	if sl.launch == nil {
		l := &launch{done: make(chan struct{})}
		sl.launch = l
		sl.stage.tasks.Go(func() { sl.start(l) })
	}
	l := sl.launch
	sl.mu.Unlock()
	select {
	case <-l.done:
		return l.process, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start starts a process, after a pause that doubles as long as processes do nothing but die.
func (sl *slot) start(l *launch) {
	defer close(l.done)
	sl.mu.Lock()
	last := sl.process
	switch {
	case last != nil && last.answered.Load():
		sl.pause = firstPause
	case last != nil || sl.pause > 0:
		sl.pause = min(max(firstPause, 2*sl.pause), longestPause)
	}
	pause := sl.pause
	sl.mu.Unlock()
	if last != nil {
		sl.stage.env.Counter("restarts").Add(1)
	}
	select {
	case <-time.After(pause):
		l.process, l.err = sl.stage.launch()
	case <-sl.stage.ctx.Done():
		l.err = errClosed
	}
	sl.mu.Lock()
	defer sl.mu.Unlock()
	sl.launch = nil
	if l.err != nil {
		sl.pause = max(firstPause, sl.pause)
		return
	}
	sl.process = l.process
	if sl.closed {
		sl.stage.tasks.Go(l.process.stop)
	}
}

// close lets no process be started any more, and returns the one there is.
func (sl *slot) close() *process {
	sl.mu.Lock()
	defer sl.mu.Unlock()
	sl.closed = true
	return sl.process
}
