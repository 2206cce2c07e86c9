package stagetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// trial is one run of the stage between a source of its inputs and a taker on each of its ports.
type trial struct {
	s       *suite
	mu      sync.Mutex
	ends    []int // how often the lease of each input ended
	ended   int   // of how many it has
	wrong   []Violation
	letters pipeline.DeadLettersInMemory

	allEnded func() // called when the last of them has; may be nil
}

// checkRun runs the stage on its inputs to the end.
func (s *suite) checkRun() {
	t := s.newTrial()
	before := fingerprint(s.Inputs)
	run, err := t.start(context.Background(), s.feed)
	if err != nil {
		s.violated(Runs, err)
		return
	}
	if !s.isSource() || s.spec().Follows {
		s.mustEnd(run, Acknowledges, "with every input processed and let go")
	} else {
		run.Drain()
		s.mustEnd(run, ObeysContext, "when it is drained")
	}
	if s.stuck {
		return
	}
	if report, err := run.Wait(); err != nil {
		s.violated(Runs, err)
	} else if n := report.Stages["stage"].Errors; n > 0 {
		s.violated(Runs, fmt.Errorf("%d of its %d inputs failed: %s", n, len(s.Inputs), t.failure()))
	}
	for i, n := range t.ends {
		if n != 1 && !s.isSource() {
			s.violated(Acknowledges, fmt.Errorf("the lease of input %d ended %d times", i, n))
		}
	}
	if diff := difference(before, fingerprint(s.Inputs)); diff != "" {
		s.violated(KeepsInput, fmt.Errorf("it changed what it was given (-before +after):\n%s", diff))
	}
	t.report()
}

// checkCancelled cancels a run that would never end by itself, because its feeder goes on and on.
func (s *suite) checkCancelled() {
	t := s.newTrial()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	begun := make(chan struct{})
	run, err := t.start(ctx, s.feedForEver(begun))
	if err != nil {
		return // checkRun has said so
	}
	if !s.isSource() && len(s.Inputs) > 0 {
		<-begun
	}
	cancel()
	s.mustEnd(run, ObeysContext, "when it is cancelled")
}

// checkDrained drains a run in the middle.
func (s *suite) checkDrained() {
	t := s.newTrial()
	begun := make(chan struct{})
	run, err := t.start(context.Background(), s.feedForEver(begun))
	if err != nil {
		return
	}
	if !s.isSource() && len(s.Inputs) > 0 {
		<-begun
	}
	run.Drain()
	s.mustEnd(run, ObeysContext, "when it is drained")
	if s.stuck {
		return
	}
	t.report()
}

// checkOtherKinds gives the stage a value of a type that no stage declares.
func (s *suite) checkOtherKinds() {
	stage, err := s.newStage()
	if err != nil || s.takesAny() {
		return
	}
	ctx, end, ok := s.begin(stage)
	defer end()
	if !ok {
		return
	}
	type stranger struct{}
	it := &pipeline.Item{Value: stranger{}}
	err = guarded(func() error {
		switch impl := stage.(type) {
		case pipeline.Queue:
			return impl.Put(ctx, it)
		case pipeline.BatchProcessor:
			return impl.ProcessBatch(ctx, []*pipeline.Item{it}, nowhere{})
		case pipeline.Processor:
			return impl.Process(ctx, it, nowhere{})
		}
		return errors.New("a source takes no items")
	})
	if err == nil {
		s.violated(RefusesOthers, errors.New("it accepted a value of a type it does not declare"))
	} else if len(err.Error()) > 6 && err.Error()[:6] == "panic:" {
		s.violated(RefusesOthers, err)
	}
}

// begin opens a stage that is tried outside a run, with a context that ends in time, and reports whether it could; end
// closes it.
func (s *suite) begin(stage any) (ctx context.Context, end func(), ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
	end = func() {
		cancel()
		if closer, ok := stage.(pipeline.Closer); ok {
			closer.Close()
		}
	}
	if opener, ok := stage.(pipeline.Opener); ok {
		if err := opener.Open(ctx); err != nil {
			s.violated(Runs, fmt.Errorf("open it: %w", err))
			return ctx, end, false
		}
	}
	return ctx, end, true
}

type nowhere struct{}

func (nowhere) Emit(context.Context, *pipeline.Item) error           { return nil }
func (nowhere) EmitTo(context.Context, string, *pipeline.Item) error { return nil }

// spec is that of the type, as the options have it.
func (s *suite) spec() pipeline.Spec {
	return s.Registry.NewGraph("stagetest").AddType("stage", s.Type, s.Options).Spec
}

func (s *suite) isSource() bool { return len(s.spec().In) == 0 }

func (s *suite) takesAny() bool { return slices.ContainsFunc(s.spec().In, pipeline.Kind.IsAny) }

func (s *suite) newTrial() *trial { return &trial{s: s, ends: make([]int, len(s.Inputs))} }

// start runs feeder > stage > a taker on every port.
func (t *trial) start(ctx context.Context, feeder func(*trial) pipeline.Source) (*pipeline.Run, error) {
	g := t.s.Registry.NewGraph("stagetest")
	ports := []pipeline.Port{{Kind: pipeline.KindOf[any]()}}
	if !t.s.isSource() {
		g.AddStage("feeder", pipeline.Spec{Type: "feeder", Out: ports}, func(*pipeline.Env) (any, error) { return feeder(t), nil })
		g.Connect("feeder", "", "stage")
	}
	stage := g.AddType("stage", t.s.Type, t.s.Options)
	make := stage.Make
	stage.Make = func(env *pipeline.Env) (any, error) {
		impl, err := make(env)
		return watch(t, impl), err
	}
	if stage.Common.Workers == 0 && !stage.Spec.Queue {
		stage.Common.Workers = 4
	}
	for i, port := range stage.Ports() {
		name := fmt.Sprintf("taker%d", i)
		g.AddStage(name, takerOf(name), func(*pipeline.Env) (any, error) { return taker{t, port}, nil })
		g.Connect("stage", port.Name, name)
	}
	if err := g.Check(); err != nil {
		return nil, fmt.Errorf("build a pipeline with it: %w", err)
	}
	return g.Start(ctx, pipeline.RunOptions{Resources: t.s.Resources, DeadLetters: &t.letters})
}

// mustEnd waits for the run, as long as its patience lasts.
func (s *suite) mustEnd(run *pipeline.Run, rule Rule, when string) {
	patience := time.NewTimer(s.Patience)
	defer patience.Stop()
	select {
	case <-run.Done():
		return
	case <-patience.C:
	}
	s.violated(rule, fmt.Errorf("it does not end within %v %s; holding items: %v", s.Patience, when, run.Holding()))
	s.stuck = true
	run.Cancel()
}

// feed gives each input once, with the key that it has in every run.
func (s *suite) feed(t *trial) pipeline.Source {
	return feederFunc(func(ctx context.Context, out pipeline.Emitter) error {
		for i, v := range s.Inputs {
			it := pipeline.NewItem(v, func(pipeline.Outcome) {
				t.mu.Lock()
				defer t.mu.Unlock()
				if t.ends[i]++; t.ends[i] == 1 {
					t.ended++
				}
				if t.ended == len(s.Inputs) && t.allEnded != nil {
					t.allEnded()
				}
			})
			if err := out.Emit(ctx, it.From("stagetest", uint64(i))); err != nil {
				return err
			}
		}
		return nil
	})
}

// feedForEver gives the inputs over and over, and reports when the first round is over.
func (s *suite) feedForEver(begun chan struct{}) func(*trial) pipeline.Source {
	return func(*trial) pipeline.Source {
		return feederFunc(func(ctx context.Context, out pipeline.Emitter) error {
			for round := 0; ; round++ {
				for i, v := range s.Inputs {
					if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
						return err
					}
					if round == 0 && i == 0 {
						close(begun)
					}
				}
				if len(s.Inputs) == 0 {
					<-ctx.Done()
					return ctx.Err()
				}
			}
		})
	}
}

type feederFunc func(context.Context, pipeline.Emitter) error

func (f feederFunc) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

// taker takes what leaves a port and looks at its kind.
type taker struct {
	t    *trial
	port pipeline.Port
}

func (k taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	if !k.port.Kind.Holds(it.Value) {
		k.t.violated(DeclaresOutput, fmt.Errorf("port %q declares %s, and gave a %T", k.port.Name, k.port.Kind, it.Value))
	}
	return nil
}

func (t *trial) violated(rule Rule, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrong = append(t.wrong, Violation{rule, err})
}

// report hands the trial's findings to the suite.
func (t *trial) report() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.wrong {
		t.s.violated(v.Rule, v.Err)
	}
}

// failure returns why an input failed.
func (t *trial) failure() string {
	for _, letter := range t.letters.All() {
		return letter.Errors[0]
	}
	return "it was dropped"
}

// fingerprint is a deep copy of the inputs in a form that can be compared later: pointers followed, and
// functions and channels left out.
func fingerprint(values []any) []string {
	prints := make([]string, len(values))
	for i, v := range values {
		prints[i] = deepPrint(reflect.ValueOf(v))
	}
	return prints
}

// difference shows where texts begin to differ; it is empty if they do not.
func difference(before, after []string) string {
	var b strings.Builder
	for i, was := range before {
		is := after[i]
		at := 0
		for at < min(len(was), len(is)) && was[at] == is[at] {
			at++
		}
		if was != is {
			fmt.Fprintf(&b, "-%s\n+%s\n", around(was, at), around(is, at))
		}
	}
	return b.String()
}

// around returns what of a text stands around a place.
func around(text string, at int) string {
	const shown = 100
	from, to, begins, ends := max(0, at-shown), min(len(text), at+shown), "", ""
	if from > 0 {
		begins = "…"
	}
	if to < len(text) {
		ends = "…"
	}
	return begins + strings.ToValidUTF8(text[from:to], "") + ends
}
