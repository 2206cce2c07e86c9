package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// rejecting gives the numbers below n, and rejects those that are odd.
func rejecting(n int, ends *outcomes) sourceFunc {
	return func(ctx context.Context, out Emitter) error {
		for i := range n {
			it, err := NewItem(i, func(o Outcome) { ends.add(i, o) }), error(nil)
			if i%2 == 1 {
				err = Reject(ctx, out, it, fmt.Errorf("number %d: %w", i, errBroken))
			} else {
				err = out.Emit(ctx, it)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func TestWhatASourceRejectsIsForItsErrorPolicy(t *testing.T) {
	for _, c := range []struct {
		policy  OnError
		letters int
		stopped bool
	}{{"", 2, false}, {DeadLetter, 2, false}, {RetryFirst, 2, false}, {Skip, 0, false}, {Stop, 0, true}} {
		ends, store, sink := newOutcomes(), &letters{}, &collected{}
		b := build().add("source", rejecting(5, ends), Common{OnError: c.policy}).add("sink", sink).chain("source", "sink")
		report, err := b.g.Run(t.Context(), RunOptions{DeadLetters: store})
		if stopped := errors.Is(err, ErrStopped) && errors.Is(err, errBroken); stopped != c.stopped || !c.stopped && err != nil {
			t.Fatalf("%q: the run ended with %v", c.policy, err)
		}
		if c.stopped {
			continue
		}
		ends.mustEndOnce(t, 5)
		if o := ends.all[3][0]; o.Err != nil || !errors.Is(o.Failed, errBroken) {
			t.Errorf("%q: what was rejected ended with %+v", c.policy, o)
		}
		got := report.Stages["source"]
		if !slices.Equal(sink.values, []any{0, 2, 4}) || got.Out != 3 || got.Errors != 2 || got.Buried != int64(c.letters) {
			t.Errorf("%q: %v came, the report has %d out, %d errors, %d letters", c.policy, sink.values, got.Out, got.Errors, got.Buried)
		}
		if len(store.kept) != c.letters || c.letters > 0 && (string(store.kept[0].Value) != "1" || store.kept[0].Errors[0] != "number 1: broken") {
			t.Errorf("%q: letters %+v", c.policy, store.kept)
		}
	}
}

func TestWhatASourceRejectsGoesToThePortErrors(t *testing.T) {
	ends, failures, store, sink := newOutcomes(), &collected{}, &letters{}, &collected{}
	report := mustRun(t, build().add("source", rejecting(5, ends)).add("sink", sink).add("failures", failures).
		chain("source", "sink").edge("source", "errors", "failures"), RunOptions{DeadLetters: store})
	ends.mustEndOnce(t, 5)
	if len(failures.values) != 2 || len(store.kept) != 0 {
		t.Fatalf("failures %v, letters %v", failures.values, store.kept)
	}
	if f := failures.values[0].(*Failure); f.Stage != "source" || f.Value != 1 || f.Attempts != 1 || !errors.Is(f, errBroken) {
		t.Errorf("failure %+v", f)
	}
	if got := report.Stages["source"]; got.Out != 3 || got.Errors != 2 {
		t.Errorf("%d items and %d errors, want 3 and 2", got.Out, got.Errors)
	}
}

// A processor rejects one of many things in its item, and deals with the others.
func TestAProcessorRejectsPartOfItsItem(t *testing.T) {
	ends, store, sink := newOutcomes(), &letters{}, &collected{}
	several := process(func(ctx context.Context, it *Item, out Emitter) error {
		if err := Reject(ctx, out, it.With(-it.Value.(int)), errBroken); err != nil {
			return err
		}
		return out.Emit(ctx, it)
	})
	report := mustRun(t, build().add("numbers", count{100, ends.add}).add("several", several, Common{OnError: RetryFirst}).add("sink", sink).
		chain("numbers", "several", "sink"), RunOptions{DeadLetters: store})
	ends.mustEndOnce(t, 100)
	if len(sink.values) != 100 || len(store.kept) != 100 || string(store.kept[7].Value) != "-7" {
		t.Errorf("%d came, letters %v", len(sink.values), store.kept)
	}
	if got := report.Stages["several"]; got.Out != 100 || got.Errors != 100 {
		t.Errorf("%d items and %d errors", got.Out, got.Errors)
	}
}

func TestALetterOfASourceIsNotReplayed(t *testing.T) {
	store := &letters{replay: []DeadLetterRecord{{ID: "1", Stage: "source", Kind: "int", Value: []byte("1")}}}
	logged := &strings.Builder{}
	mustRun(t, build().add("source", count{n: 1}).add("sink", &collected{}).chain("source", "sink"), RunOptions{DeadLetters: store, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	if len(store.replayed) != 0 || !strings.Contains(logged.String(), "is a source") {
		t.Errorf("replayed %v, logged %s", store.replayed, logged)
	}
}
