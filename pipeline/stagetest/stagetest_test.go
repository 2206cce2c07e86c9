package stagetest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"go.uber.org/goleak"
)

// word is what the stages of these tests take: a pointer, so that it can be changed by mistake.
type word struct{ Text string }

func words() []any { return []any{&word{"a"}, &word{"b"}, &word{"c"}} }

type fine struct{}

func (fine) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if _, err := pipeline.ValueOf[*word](it); err != nil {
		return err
	}
	return out.Emit(ctx, it)
}

type function func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error

func (f function) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if err := (fine{}).Process(ctx, it, nowhere{}); err != nil {
		return err
	}
	return f(ctx, it, out)
}

// memory is a queue that conforms.
type memory struct {
	mu     sync.Mutex
	items  []*pipeline.Item
	out    int
	sealed bool
	wake   chan struct{}
}

func newMemory() *memory { return &memory{wake: make(chan struct{}, 1)} }

func (q *memory) change(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *memory) Put(_ context.Context, it *pipeline.Item) error {
	if _, err := pipeline.ValueOf[*word](it); err != nil {
		return err
	}
	q.change(func() { q.items = append(q.items, &pipeline.Item{Value: it.Value}) })
	return nil
}

func (q *memory) Seal() { q.change(func() { q.sealed = true }) }

func (q *memory) Take(ctx context.Context) (pipeline.Lease, error) {
	for {
		var it *pipeline.Item
		over := false
		q.mu.Lock()
		if len(q.items) > 0 {
			it, q.items = q.items[0], q.items[1:]
			q.out++
		}
		over = q.sealed && q.out == 0
		q.mu.Unlock()
		switch {
		case it != nil:
			return &loan{q, it}, nil
		case over:
			return nil, io.EOF
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type loan struct {
	q  *memory
	it *pipeline.Item
}

func (l *loan) Item() *pipeline.Item  { return l.it }
func (l *loan) Done(pipeline.Outcome) { l.q.change(func() { l.q.out-- }) }

// registered makes a registry with one type, "stage".
func registered(spec pipeline.Spec, mk func() any) *pipeline.Registry {
	r := pipeline.NewRegistry()
	spec.Type = "stage"
	pipeline.RegisterIn(r, spec, struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return mk(), nil })
	return r
}

func processorSpec() pipeline.Spec {
	return pipeline.Spec{
		Summary: "a stage of a test", In: pipeline.Kinds(pipeline.KindOf[*word]()),
		Out: []pipeline.Port{{Kind: pipeline.KindOf[*word]()}, {Name: "more", Kind: pipeline.KindOf[string](), Doc: "more"}},
	}
}

func sourceSpec() pipeline.Spec {
	spec := processorSpec()
	spec.In = nil
	return spec
}

func queueSpec() pipeline.Spec {
	spec := processorSpec()
	spec.Queue, spec.Out = true, spec.Out[:1]
	return spec
}

type source func(context.Context, pipeline.Emitter) error

func (f source) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

type grouped struct{}

func (grouped) ProcessBatch(ctx context.Context, its []*pipeline.Item, out pipeline.Emitter) error {
	for _, it := range its {
		if err := (fine{}).Process(ctx, it, out); err != nil {
			return err
		}
	}
	return nil
}

func TestConformingStagesPass(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	over := make(chan struct{})
	lend := sync.OnceFunc(func() { go func() { <-over }() }) // as a store that is opened when it is first asked for
	for name, c := range map[string]Case{
		"processor": {Registry: registered(processorSpec(), func() any { return fine{} })},
		"batch":     {Registry: registered(processorSpec(), func() any { return grouped{} })},
		"queue":     {Registry: registered(queueSpec(), func() any { return newMemory() })},
		"holder": {Registry: registered(processorSpec(), func() any {
			return function(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
				go it.Hold()(nil)
				return nil
			})
		})},
		"borrower": {Registry: registered(processorSpec(), func() any { lend(); return fine{} })},
		"source": {Registry: registered(sourceSpec(), func() any {
			return source(func(ctx context.Context, out pipeline.Emitter) error {
				for {
					if err := out.Emit(ctx, &pipeline.Item{Value: &word{"x"}}); err != nil {
						return err
					}
				}
			})
		})},
	} {
		t.Run(name, func(t *testing.T) {
			c.Type, c.Inputs = "stage", words()
			Run(t, c)
		})
	}
	close(over)
}

// closing is a processor with a Close.
type closing struct {
	fine
	close func() error
}

func (c *closing) Close() error { return c.close() }

// openOnly needs to have been opened before it can be closed.
type openOnly struct {
	fine
	file *sync.Mutex
}

func (s *openOnly) Open(context.Context) error { s.file = new(sync.Mutex); return nil }
func (s *openOnly) Close() error               { s.file.Lock(); defer s.file.Unlock(); return nil }

// waits is a queue whose Put waits until somebody takes.
type waits struct {
	*memory
	taken chan struct{}
}

func (q waits) Put(ctx context.Context, it *pipeline.Item) error {
	if err := q.memory.Put(ctx, it); err != nil {
		return err
	}
	select {
	case <-q.taken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q waits) Take(ctx context.Context) (pipeline.Lease, error) {
	lease, err := q.memory.Take(ctx)
	if err == nil {
		go func() { q.taken <- struct{}{} }()
	}
	return lease, err
}

// endless is a queue that goes on waiting when it is sealed.
type endless struct{ *memory }

func (endless) Seal() {}

// TestBrokenStagesFail breaks each rule in at least one way, and wants the suite to report which.
func TestBrokenStagesFail(t *testing.T) {
	calls.Store(0)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	var changing sync.Mutex // so that it is the suite that finds the change, not the race detector
	processor := func(f function) *pipeline.Registry { return registered(processorSpec(), func() any { return f }) }
	undocumented := processorSpec()
	undocumented.Out[1].Doc = ""
	for name, c := range map[string]struct {
		rule     Rule
		registry *pipeline.Registry
	}{
		"a port without a doc": {Described, registered(undocumented, func() any { return fine{} })},
		"fails on its inputs": {Runs, processor(func(context.Context, *pipeline.Item, pipeline.Emitter) error {
			return errors.New("no")
		})},
		"panics on its inputs": {Runs, processor(func(context.Context, *pipeline.Item, pipeline.Emitter) error {
			panic("no")
		})},
		"holds and never lets go": {Acknowledges, processor(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
			it.Hold()
			return nil
		})},
		"ignores its context": {ObeysContext, registered(sourceSpec(), func() any {
			return source(func(context.Context, pipeline.Emitter) error { <-stop; return nil })
		})},
		"waits for ever": {ObeysContext, processor(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
			if calls.Add(1) > int64(len(words())) {
				<-stop
			}
			return nil
		})},
		"emits to a port of its imagination": {DeclaresOutput, processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			return out.EmitTo(ctx, "mroe", it)
		})},
		"emits a value of another kind": {DeclaresOutput, processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			return out.EmitTo(ctx, "more", it.With(42))
		})},
		"emits after it has returned": {EmitsInTime, processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			done := it.Hold()
			go func() {
				defer done(nil)
				for !out.(*guardedEmitter).over.Load() { // the stage has not returned
					runtime.Gosched()
				}
				_ = out.Emit(ctx, it)
			}()
			return nil
		})},
		"changes its input": {KeepsInput, processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			changing.Lock()
			it.Value.(*word).Text += "!"
			changing.Unlock()
			return out.Emit(ctx, it)
		})},
		"accepts anything": {RefusesOthers, registered(processorSpec(), func() any {
			return broad(func(context.Context, *pipeline.Item, pipeline.Emitter) error { return nil })
		})},
		"panics on another kind": {RefusesOthers, registered(processorSpec(), func() any {
			return broad(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
				_ = it.Value.(*word)
				return out.Emit(ctx, it)
			})
		})},
		"cannot be closed twice": {Closes, registered(processorSpec(), func() any {
			c := make(chan struct{})
			return &closing{close: func() error { close(c); return nil }}
		})},
		"cannot be closed unopened": {Closes, registered(processorSpec(), func() any { return &openOnly{} })},
		"leaves a goroutine": {LeavesNoGoroutine, processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			go func() { <-stop }()
			return out.Emit(ctx, it)
		})},
		"a queue that waits for its taker": {PutsWithoutWaiting, registered(queueSpec(), func() any {
			return waits{newMemory(), make(chan struct{})}
		})},
		"a queue that does not end": {EndsWhenSealed, registered(queueSpec(), func() any { return endless{newMemory()} })},
	} {
		t.Run(name, func(t *testing.T) {
			violations := Check(Case{Type: "stage", Registry: c.registry, Inputs: words(), Patience: 300 * time.Millisecond})
			if !slices.ContainsFunc(violations, func(v Violation) bool { return v.Rule == c.rule }) {
				t.Errorf("the suite finds %v, want %q among it", violations, c.rule)
			}
		})
	}
}

// broad is a function that is given whatever comes.
type broad func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error

func (f broad) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return f(ctx, it, out)
}

var calls atomic.Int64 // of the stage that waits for ever, after it has processed its inputs once

func TestUnknownTypeIsSaidPlainly(t *testing.T) {
	violations := Check(Case{Type: "nothing", Registry: pipeline.NewRegistry()})
	if len(violations) != 1 || violations[0].Rule != Described {
		t.Errorf("%v", violations)
	}
}

func TestADifferenceIsShownWhereItBegins(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ before, after, want string }{
		{"a", "a", ""},
		{"a", "b", "-a\n+b\n"},
		{"", "b", "-\n+b\n"},
		{"ab", "a", "-ab\n+a\n"},
		{long + "x" + long, long + "y" + long, "-…" + long[:100] + "x" + long[:98] + "…\n+…" + long[:100] + "y" + long[:98] + "…\n"},
	} {
		if got := difference([]string{"same", c.before}, []string{"same", c.after}); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}
