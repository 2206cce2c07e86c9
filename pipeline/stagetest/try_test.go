package stagetest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

func TestTrySaysWhatAStageMadeOfItsInputs(t *testing.T) {
	broken := errors.New("broken")
	stage := broad(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
		w := it.Value.(*word)
		switch w.Text {
		case "b":
			return broken
		case "c":
			it.Learn("something")
		case "d":
			it.Hold()(broken) // which ends the run
			return nil
		}
		if err := out.EmitTo(ctx, "more", it.With(w.Text)); err != nil {
			return err
		}
		return out.Emit(ctx, it)
	})
	inputs := words()
	got := Try(t, Case{Type: "stage", Registry: registered(processorSpec(), func() any { return stage }), Inputs: inputs})
	if want := map[string][]any{"": {inputs[0], inputs[2]}, "more": {"a", "c"}}; !reflect.DeepEqual(got.Out, want) {
		t.Errorf("out %v, want %v", got.Out, want)
	}
	if len(got.Failures) != 1 || got.Failures[0].Value != inputs[1] || !errors.Is(got.Failures[0], broken) {
		t.Errorf("failures %v", got.Failures)
	}
	if o := got.Outcomes; o[0].Err != nil || o[1].Err != nil || o[2].Err != nil || !reflect.DeepEqual(o[2].Learned, []any{"something"}) {
		t.Errorf("outcomes %+v", o)
	}
	got = Try(t, Case{Type: "stage", Registry: registered(processorSpec(), func() any { return stage }), Inputs: []any{&word{"d"}}})
	if !errors.Is(got.Outcomes[0].Err, broken) {
		t.Errorf("an effect failed, and the outcome is %+v", got.Outcomes[0])
	}
}

func TestTryRunsASourceToItsEnd(t *testing.T) {
	stage := source(func(ctx context.Context, out pipeline.Emitter) error {
		return out.Emit(ctx, &pipeline.Item{Value: &word{"x"}})
	})
	got := Try(t, Case{Type: "stage", Registry: registered(sourceSpec(), func() any { return stage })})
	if len(got.Out[""]) != 1 || len(got.Outcomes) != 0 {
		t.Errorf("%+v", got)
	}
}
