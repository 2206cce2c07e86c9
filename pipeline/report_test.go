package pipeline

import (
	"context"
	"maps"
	"testing"
)

func TestAReportTellsLevelsFromCountersAndHowMuchFits(t *testing.T) {
	t.Parallel()
	g := NewGraph("levels")
	numbers := KindOf[int]()
	g.AddStage("numbers", Spec{Type: "numbers", Out: []Port{{Kind: numbers}}}, func(*Env) (any, error) { return count{n: 3}, nil })
	s := g.AddStage("counts", Spec{Type: "counts", In: Kinds(numbers), Workers: 2}, func(env *Env) (any, error) {
		return process(func(context.Context, *Item, Emitter) error {
			env.Counter("seen").Add(1)
			env.Level("left").Store(5)
			return nil
		}), nil
	})
	s.Common.Buffer = 7
	g.Wire("numbers > counts")
	report, err := g.Run(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := report.Stages["counts"]
	if !maps.Equal(got.Counters, map[string]int64{"seen": 3, "left": 5}) || !maps.Equal(got.Levels, map[string]bool{"left": true}) {
		t.Errorf("counters %v, of these levels %v", got.Counters, got.Levels)
	}
	if got.Workers != 2 || got.Capacity != 7 || got.Latency.Count() == 0 {
		t.Errorf("%d workers, %d fit in front, %d calls", got.Workers, got.Capacity, got.Latency.Count())
	}
	if report.Stages["numbers"].Levels != nil {
		t.Error("a stage without levels has some")
	}
}
