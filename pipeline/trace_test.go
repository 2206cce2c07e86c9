package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// memory follows leases in memory; every other one.
type memory struct {
	mu     sync.Mutex
	begun  int
	traces []*remembered
}

type remembered struct {
	m     *memory
	calls []string
}

func (m *memory) Lease(name string) pipeline.Trace {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.begun++; m.begun%2 == 0 {
		return nil
	}
	r := &remembered{m: m, calls: []string{"begin " + name}}
	m.traces = append(m.traces, r)
	return r
}

func (r *remembered) say(what string) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	r.calls = append(r.calls, what)
}

func (r *remembered) Stage(stage string, it *pipeline.Item, began time.Time, took time.Duration) {
	if began.IsZero() || took < 0 {
		stage += " without a time"
	}
	r.say(stage + " " + it.Value.(string))
}
func (r *remembered) Failed(stage string, err error) { r.say(stage + " failed: " + err.Error()) }
func (r *remembered) End(o pipeline.Outcome) {
	if o.Err != nil {
		r.say("end: " + o.Err.Error())
		return
	}
	r.say("end")
}

type fewWords struct{ end func(pipeline.Outcome) }

func (s fewWords) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, w := range []string{"a", "b", "bad", "c"} {
		it := &pipeline.Item{Value: w}
		if w == "bad" {
			it = pipeline.NewItem(w, s.end)
		}
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

type picky struct{}

func (picky) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if it.Value == "bad" {
		return errors.New("it is bad")
	}
	return errors.Join(out.Emit(ctx, it.With(it.Value.(string)+"1")), out.Emit(ctx, it.With(it.Value.(string)+"2")))
}

type sink struct{}

func (sink) Process(context.Context, *pipeline.Item, pipeline.Emitter) error { return nil }

func TestATracerFollowsLeasesThroughTheStages(t *testing.T) {
	text := pipeline.KindOf[string]()
	out := []pipeline.Port{{Kind: text}}
	ended := false
	g := pipeline.NewGraph("p")
	g.AddStage("words", pipeline.Spec{Type: "words", Out: out}, func(*pipeline.Env) (any, error) {
		return fewWords{func(pipeline.Outcome) { ended = true }}, nil
	})
	g.AddStage("picky", pipeline.Spec{Type: "picky", In: pipeline.Kinds(text), Out: out}, func(*pipeline.Env) (any, error) { return picky{}, nil }).Common.OnError = pipeline.Skip
	g.AddStage("sink", pipeline.Spec{Type: "sink", In: pipeline.Kinds(text)}, func(*pipeline.Env) (any, error) { return sink{}, nil })
	g.Wire("words > picky > sink")
	m := new(memory)
	if _, err := g.Run(t.Context(), pipeline.RunOptions{Tracer: m}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range m.traces {
		slices.Sort(r.calls[1 : len(r.calls)-1]) // a stage may be done with an item before the one before it is
		got = append(got, strings.Join(r.calls, ", "))
	}
	want := []string{
		"begin p, picky a, sink a1, sink a2, end",
		"begin p, picky bad, picky failed: it is bad, end",
	}
	if !slices.Equal(got, want) || m.begun != 4 || !ended {
		t.Errorf("followed were %d leases:\n%s\nwant:\n%s", m.begun, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
