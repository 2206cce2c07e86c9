package pipeline

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// What has to have all that comes stands where one run has all: behind sources that are there once.
func TestAStageThatHasToHaveAllIsFoundWhereEachRunHasAPart(t *testing.T) {
	t.Parallel()
	text := Kinds(KindOf[string]())
	out := []Port{{Kind: text[0]}}
	specs := map[string]Spec{
		"shared":   {Once: true, Out: out},
		"local":    {Out: out},
		"listener": {PerProcess: true, Out: out},
		"frontier": {In: text, Queue: true, Out: out},
		"shelf":    {In: text, Queue: true, Whole: "it would be many", Out: out},
		"sum":      {In: text, Whole: "it would be a part", Out: out},
		"sink":     {In: text},
	}
	for flow, want := range map[string]string{
		"shared > sum > sink":                    "",
		"shared > shelf > sum > sink":            "",
		"local > sink":                           "",
		"shared > frontier > sum > sink":         "sum",
		"local > sum > sink":                     "sum",
		"listener > sum > sink":                  "sum",
		"shelf > sum > sink":                     "shelf sum",
		"shared > sum > sink, local > sum":       "sum",
		"shared > shelf > sink, listener > sink": "shelf",
	} {
		g := NewGraph("p")
		for name, spec := range specs {
			if spec.Type = name; strings.Contains(flow, name) {
				g.AddStage(name, spec, nil)
			}
		}
		g.Wire(strings.Split(flow, ", ")...)
		var got []string
		for _, f := range g.Undivided() {
			got = append(got, strings.TrimPrefix(f.Path, "pipeline.p.stage."))
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s: found are %q, want %s", flow, got, want)
		}
	}
}

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
