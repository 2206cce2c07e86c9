package pipeline

import (
	"context"
	"testing"
	"time"
)

// A stage that ends its run does so gently, and the report has the reason that was given first.
func TestAStageEndsItsRunForAReason(t *testing.T) {
	ends := newOutcomes()
	b := build().add("numbers", count{1 << 30, ends.add}).add("enough", nil).chain("numbers", "enough")
	b.g.Stages[1].Make = func(env *Env) (any, error) {
		seen := 0
		return process(func(context.Context, *Item, Emitter) error {
			if seen++; seen >= 3 {
				env.Drain("three are enough")
				env.Drain("four are, too")
			}
			return nil
		}), nil
	}
	run, err := b.g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-run.Done():
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	report, err := run.Wait()
	if err != nil || report.Drained != "three are enough" {
		t.Errorf("it ended with %v, because %q", err, report.Drained)
	}
	for i, all := range ends.all {
		if len(all) != 1 {
			t.Errorf("lease %d ended with %+v, want once", i, all)
		}
	}
}

func TestARunThatIsToldToDrainHasNoReason(t *testing.T) {
	ends := newOutcomes()
	b := build().add("numbers", count{1 << 30, ends.add}).add("late", nil).chain("numbers", "late")
	var env *Env
	b.g.Stages[1].Make = func(e *Env) (any, error) {
		env = e
		return process(func(context.Context, *Item, Emitter) error { return nil }), nil
	}
	run, err := b.g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run.Drain()
	env.Drain("it drains already")
	if report, err := run.Wait(); err != nil || report.Drained != "" {
		t.Errorf("it ended with %v, because %q", err, report.Drained)
	}
	NewEnv("p", "outside a run", nil).Drain("there is none") // and nothing happens
}
