package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// fragile is a stage that panics where it is told to.
type fragile struct {
	at  string
	env *Env
}

func (f *fragile) panics(at string) {
	if f.at == at {
		panic("boom")
	}
}

func (f *fragile) Open(context.Context) error { f.panics("open"); return nil }
func (f *fragile) Close() error               { f.panics("close"); return nil }
func (f *fragile) NeededParts() []Part        { f.panics("needs"); return nil }

func (f *fragile) Process(ctx context.Context, it *Item, out Emitter) error {
	f.panics("process")
	switch f.at {
	case "end of a lease":
		it.OnEnd(func() { panic("boom") })
	case "outcome of a lease":
		it.OnOutcome(func(Outcome) { panic("boom") })
	case "goroutine":
		go f.env.Guard(func() { panic("boom") })()
		<-ctx.Done()
		return ctx.Err()
	case "timer":
		time.AfterFunc(0, f.env.Guard(func() { panic("boom") }))
		<-ctx.Done()
		return ctx.Err()
	}
	return out.Emit(ctx, it)
}

type hostileValue struct{}

func (hostileValue) MarshalJSON() ([]byte, error) { panic("boom") }

// fragileQueue is a queue that panics where it is told to.
type fragileQueue struct {
	*tree
	*fragile
}

func (q fragileQueue) Put(ctx context.Context, it *Item) error {
	q.panics("put")
	return q.tree.Put(ctx, it)
}

func (q fragileQueue) Take(ctx context.Context) (Lease, error) {
	q.panics("take")
	lease, err := q.tree.Take(ctx)
	return fragileLease{lease, q.fragile}, err
}

func (q fragileQueue) Seal() {
	q.tree.Seal()
	q.panics("seal")
}

// Process is none of a queue's: the fragile one's is hidden.
func (q fragileQueue) Process() {}

type fragileLease struct {
	Lease
	*fragile
}

func (l fragileLease) Item() *Item      { l.panics("item"); return l.Lease.Item() }
func (l fragileLease) Done(o Outcome)   { l.Lease.Done(o); l.panics("done") }
func (l fragileLease) Release(note any) { l.panics("release") }
func (l fragileLease) Process()         {}

type fragileSource struct{ at string }

func (s fragileSource) Run(ctx context.Context, out Emitter) error {
	if s.at == "run" {
		panic("boom")
	}
	return out.Emit(ctx, NewItem(1, func(Outcome) { panic("boom") }))
}

type fragileKeeper struct{ process }

func (fragileKeeper) Release(context.Context, <-chan struct{}, Emitter) error { panic("boom") }

type fragileOption struct {
	Text fragileText `toml:"text" doc:"a text"`
	At   string      `toml:"at" doc:"where"`
}

func (o fragileOption) panics(at string) {
	if o.At == at {
		panic("boom")
	}
}

func (o fragileOption) Validate() error         { o.panics("validate"); return nil }
func (o fragileOption) Ports() []Port           { o.panics("ports"); return []Port{{Kind: KindOf[int]()}} }
func (o fragileOption) InputKinds() []Kind      { o.panics("kinds"); return nil }
func (o fragileOption) NeededParts() []Part     { o.panics("parts"); return nil }
func (o fragileOption) Holds() Holding          { o.panics("holds"); return Holding{} }
func (o fragileOption) Answers() Answering      { o.panics("answers"); return Answering{} }
func (o fragileOption) CheckNames([]Kind) error { o.panics("names"); return nil }

type fragileText string

func (t *fragileText) UnmarshalText(text []byte) error { panic("boom") }
func (t fragileText) MarshalText() ([]byte, error)     { return []byte(t), nil }

// TestHostilePanics has each function of a stage that the runtime calls, and each that the stage runs beside by
// [Env.Guard], panic. The run ends with an error that names the stage; the process, which is this one, goes on.
func TestHostilePanics(t *testing.T) {
	release := process(func(ctx context.Context, it *Item, out Emitter) error {
		it.Release(1)
		return out.Emit(ctx, it)
	})
	pass := process(func(ctx context.Context, it *Item, out Emitter) error { return out.Emit(ctx, it) })
	one := count{n: 1}
	graphs := map[string]graphOf{
		"make": {&Graph{Name: "test", Stages: []*Stage{{Name: "hostile", Make: func(*Env) (any, error) { panic("boom") }}}}},
	}
	for _, at := range []string{"process", "open", "close", "needs", "end of a lease", "outcome of a lease", "goroutine", "timer"} {
		f := &fragile{at: at}
		b := build().add("numbers", one).add("hostile", f).add("sink", pass).chain("numbers", "hostile", "sink")
		b.g.Stages[1].Make = func(env *Env) (any, error) { f.env = env; return f, nil }
		graphs[at] = b
	}
	for _, at := range []string{"put", "take", "seal", "item", "done", "release"} {
		graphs["queue, "+at] = build().add("numbers", one).add("hostile", fragileQueue{newTree(), &fragile{at: at}}).add("pass", release).
			chain("numbers", "hostile", "pass")
	}
	for _, at := range []string{"run", "end"} {
		graphs["source, "+at] = build().add("hostile", fragileSource{at}).add("sink", pass).chain("hostile", "sink")
	}
	graphs["keeper"] = build().add("numbers", one).add("hostile", fragileKeeper{pass}).add("sink", pass).chain("numbers", "hostile", "sink")
	for name, b := range graphs {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			_, err := b.g.Run(ctx, RunOptions{})
			var p *panicError
			if !errors.As(err, &p) || p.Stage != "hostile" || p.Value != "boom" {
				t.Errorf("the run ended with %v", err)
			}
		})
	}
}

func TestHostilePanicsOfValuesThatAreWritten(t *testing.T) {
	fails := process(func(context.Context, *Item, Emitter) error { return errBroken })
	values := sourceFunc(func(ctx context.Context, out Emitter) error { return out.Emit(ctx, &Item{Value: hostileValue{}}) })
	_, err := build().add("values", values).add("hostile", fails).chain("values", "hostile").g.Run(t.Context(), RunOptions{DeadLetters: &letters{}})
	if err == nil || !strings.Contains(err.Error(), "stage hostile panicked: boom") {
		t.Errorf("the run ended with %v", err)
	}
}

// TestHostileOptions has what the options of a stage are asked panic, as a plugin of another module may.
func TestHostileOptions(t *testing.T) {
	r := NewRegistry()
	RegisterIn(r, Spec{Type: "numbers", Summary: "gives numbers", Out: []Port{{Kind: KindOf[int]()}}}, struct{}{},
		func(struct{}, *Env) (any, error) { return count{n: 1}, nil })
	RegisterIn(r, Spec{Type: "hostile", Summary: "is hostile", In: Kinds(KindOf[int]())}, fragileOption{},
		func(fragileOption, *Env) (any, error) { return &fragile{}, nil })
	for _, setting := range []string{`at = "validate"`, `at = "ports"`, `at = "kinds"`, `at = "parts"`, `at = "holds"`, `at = "answers"`, `at = "names"`, `text = "x"`} {
		text := "version = 1\n[pipeline.p]\nflow = [\"numbers > hostile\"]\n[pipeline.p.stage.hostile]\n" + setting + "\n"
		_, err := parsed(r, text)
		if err == nil || !strings.Contains(err.Error(), "stage hostile panicked: boom") {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

func TestOutsideOfARunNothingIsGuardedButWhatIsTried(t *testing.T) {
	env := NewEnv("p", "s", nil)
	if err := env.Try(func() error { panic("boom") }); err == nil || err.Error() != "stage s panicked: boom" {
		t.Errorf("tried: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic that no run could be told of was passed over")
		}
	}()
	env.Guard(func() { panic("boom") })()
}
