package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
)

// What another run has gives nothing here: the run ends with what else there is, and one that goes on is drained.
func TestASourceThatAnotherRunHasGivesNothing(t *testing.T) {
	text := Kinds(KindOf[string]())
	gives := func(name string) func(*Env) (any, error) {
		return func(*Env) (any, error) {
			return sourceFunc(func(ctx context.Context, out Emitter) error {
				return out.Emit(ctx, &Item{Value: name})
			}), nil
		}
	}
	graph := func() *Graph {
		g := NewGraph("p")
		out := []Port{{Kind: text[0]}}
		g.AddStage("shared", Spec{Type: "shared", Once: true, Out: out}, gives("shared"))
		g.AddStage("own", Spec{Type: "own", Out: out}, gives("own"))
		g.AddStage("sink", Spec{Type: "sink", In: text}, func(*Env) (any, error) {
			return Map(func(_ context.Context, s string) (string, error) { return s, nil }), nil
		})
		g.Wire("shared > sink", "own > sink")
		return g
	}
	for name, c := range map[string]struct {
		elsewhere  func(Spec) bool
		continuous bool
		shared     int64
	}{
		"here":                     {nil, false, 1},
		"another has others":       {func(s Spec) bool { return s.PerProcess }, false, 1},
		"elsewhere":                {func(s Spec) bool { return s.Once }, false, 0},
		"elsewhere, until a drain": {func(s Spec) bool { return s.Once }, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			run, err := graph().Start(t.Context(), RunOptions{Elsewhere: c.elsewhere, Continuous: c.continuous})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			select {
			case <-run.Done():
				if c.continuous {
					t.Errorf("%s: it ends before it is told to", name)
				}
			default:
				if !c.continuous {
					t.Errorf("%s: it does not end", name)
				}
			}
			run.Drain()
			report, err := run.Wait()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if shared, own := report.Stages["shared"].Out, report.Stages["own"].Out; shared != c.shared || own != 1 {
				t.Errorf("%s: the shared source gives %d, want %d; the other %d", name, shared, c.shared, own)
			}
		})
	}
}
