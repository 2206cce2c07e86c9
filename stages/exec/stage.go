package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/recordjson"
)

type stage struct {
	*programs
	leave func() (last bool)
	env   *pipeline.Env
	takes []pipeline.Kind

	mu      sync.Mutex
	counted map[string]bool // the counters that programs have named
}

// programs are the processes of a stage, and of those that share its work within this process.
type programs struct {
	options  Options
	env      *pipeline.Env // of the first of them
	pool     pool
	said     atomic.Pointer[progSpec] // by the program of itself; nil before it is ready, and if it declares nothing
	watching sync.Once                // its memory

	ctx    context.Context // ends when the last stage is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup // all that has been started

	mu     sync.Mutex
	broken error // how a process broke the protocol first
}

var (
	_ pipeline.Processor           = (*stage)(nil)
	_ pipeline.Opener              = (*stage)(nil)
	_ pipeline.Closer              = (*stage)(nil)
	_ pipeline.NeededPartsProvider = (*stage)(nil)
	_ pipeline.NeededPartsProvider = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	s := &stage{env: env, takes: o.InputKinds(), counted: make(map[string]bool)}
	s.programs, s.leave = pipeline.Shared(env, o, nil, func() *programs { return newPrograms(o, env) })
	return s, nil
}

func newPrograms(o Options, env *pipeline.Env) *programs {
	s := &programs{options: o, env: env}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.pool.fill(s)
	return s
}

// NeededParts returns what the program needs of an item: what the options set, or else what it declares itself; nil if
// it declares none, and is given all that there is.
func (s *programs) NeededParts() []pipeline.Part {
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
	answer, err := s.do(ctx, it)
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

// do has an item processed. One that was lost with its process is repeated, with a process for itself. That costs it
// none of its tries if others were beside it; it fails once it has been lost by itself, and then again with a process
// that had done nothing else.
func (s *stage) do(ctx context.Context, it *pipeline.Item) (*call, error) {
	w := newWaiter()
	defer s.pool.give(w)
	for {
		p, err := s.pool.take(ctx, w)
		if err != nil {
			return nil, err
		}
		c, err := p.send(it)
		if err != nil {
			return nil, err
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		lost := c.lost
		switch {
		case lost == nil:
			return c, nil
		case lost.culprit, lost.first && w.suspected:
			return nil, lost
		}
		w.suspected = w.suspected || lost.alone
		s.env.Counter("repeated").Add(1)
	}
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
		for name, text := range o.Meta {
			next = next.WithMeta(name, text)
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
	if recordjson.IsInvalidText(o.Value) || slices.ContainsFunc(slices.Collect(maps.Values(o.Set)), isInvalid) {
		s.env.Counter("invalid_text").Add(1)
	}
	value := input
	var err error
	switch {
	case !o.Keep:
		kind := o.Kind
		if kind == "" {
			kind = port.Kind
		}
		value, err = codec.Decode(kind, o.Value, o.body)
	case len(o.Set) > 0:
		value, err = codec.SetFields(input, o.Set)
	}
	if err == nil && o.Keep && o.Body {
		value, err = codec.SetBody(value, o.body)
	}
	if err != nil {
		return nil, err
	}
	if !kindNamed(port.Kind).Holds(value) {
		return nil, fmt.Errorf("port %q gives %s, and this is a %T", o.Port, port.Kind, value)
	}
	return value, nil
}

func isInvalid(field json.RawMessage) bool { return recordjson.IsInvalidText(field) }

// Close ends the processes, if nobody else has them: it closes their input, waits, and then makes them end.
func (s *stage) Close() error {
	if !s.leave() {
		return nil
	}
	return s.programs.close()
}

func (s *programs) close() error {
	s.cancel()
	var stopping sync.WaitGroup
	for _, p := range s.pool.close() {
		stopping.Go(p.stop)
	}
	stopping.Wait()
	s.tasks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// noteBroken keeps the first way in which the protocol was broken: it is a mistake in the program, which
// the run must not pass over because all items came through in the end.
func (s *programs) noteBroken(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
}
