package gostreams_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/gostreams"
)

// letter borrows its text until its lease ends; its kind declares that.
type letter struct{ text []byte }

func init() {
	codec.Register(codec.Codec[*letter, struct{}]{
		Name: "test-letter", Doc: "a letter", Body: "its text",
		Encode: func(l *letter) (struct{}, []byte) { return struct{}{}, l.text },
		Decode: func(_ struct{}, body []byte) (*letter, error) { return &letter{body}, nil },
		Own:    func(l *letter) *letter { return &letter{append([]byte(nil), l.text...)} },
	})
}

// card does so too, and has no codec.
type card struct{ text []byte }

func (c card) Owned() any { return card{append([]byte(nil), c.text...)} }

func (l *letter) String() string { return string(l.text) }
func (c card) String() string    { return string(c.text) }

// lending emits values whose text is overwritten as soon as their lease has ended.
func lending(values ...func(text []byte) any) pipeline.Source {
	return sourceFunc(func(ctx context.Context, out pipeline.Emitter) error {
		for i, value := range values {
			text := fmt.Appendf(nil, "text %d", i)
			it := pipeline.NewItem(value(text), nil)
			it.OnEnd(func() { copy(text, "wrong!") })
			if err := out.Emit(ctx, it); err != nil {
				return err
			}
		}
		return nil
	})
}

var borrowed = []func(text []byte) any{
	func(text []byte) any { return &letter{text} },
	func(text []byte) any { return card{text} },
	func(text []byte) any { return pipeline.List{"one", &letter{text}} },
	func(text []byte) any { return pipeline.Record{"of": card{text}} },
	func(text []byte) any { return &pipeline.Failure{Value: &letter{text}, Err: context.Canceled} },
	func(text []byte) any { return text },
}

// textOf finds the borrowed text in a value.
func textOf(v any) string {
	switch v := v.(type) {
	case pipeline.List:
		return textOf(v[1])
	case pipeline.Record:
		return textOf(v["of"])
	case *pipeline.Failure:
		return textOf(v.Value)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

func mustBeWhole(t *testing.T, values []any) {
	t.Helper()
	if len(values) != len(borrowed) {
		t.Errorf("%d values came, want %d", len(values), len(borrowed))
	}
	for i, v := range values {
		if got, want := textOf(v), fmt.Sprint("text ", i); got != want {
			t.Errorf("%T says %q, want %q", v, got, want)
		}
	}
}

// TestWhatEntersGoStreamsIsItsOwn lets values wait in operators, sinks and programs of go-streams until their leases
// have ended, which is when what they borrow is used for something else.
func TestWhatEntersGoStreamsIsItsOwn(t *testing.T) {
	t.Parallel()
	t.Run("operator", func(t *testing.T) {
		var all []any
		gather := gostreams.FromFlow(func() streams.Flow { return flow.NewReduce(func(a, b any) any { return b }) })
		keep := gostreams.FromFlow(func() streams.Flow {
			return flow.NewMap(func(v any) any { all = append(all, v); return v }, 1)
		})
		mustRun(t, build().add("source", lending(borrowed...)).add("keep", keep).add("gather", gather).add("sink", &collected{}).
			chain("source", "keep", "gather", "sink"), pipeline.RunOptions{})
		mustBeWhole(t, all)
	})
	t.Run("sink", func(t *testing.T) {
		out := make(chan any, len(borrowed))
		mustRun(t, build().add("source", lending(borrowed...)).add("sink", gostreams.FromSink(ext.NewChanSink(out))).
			chain("source", "sink"), pipeline.RunOptions{})
		var all []any
		for v := range out {
			all = append(all, v)
		}
		mustBeWhole(t, all)
	})
	t.Run("program", func(t *testing.T) {
		pass := process(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error { return out.Emit(ctx, it) })
		g := build().add("source", lending(borrowed...)).add("pass", pass).chain("source", "pass").g
		f, run, err := gostreams.Flow(t.Context(), g, pipeline.RunOptions{}, "pass", "pass")
		if err != nil {
			t.Fatal(err)
		}
		close(f.In())
		var all []any
		for v := range f.Out() {
			all = append(all, v)
		}
		if _, err := run.Wait(); err != nil {
			t.Error(err)
		}
		mustBeWhole(t, all)
	})
}
