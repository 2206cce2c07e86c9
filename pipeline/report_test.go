package pipeline

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"
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

// A stage that waits for the next one is told from one that works, also where few calls are timed.
func TestTimeHeldUpIsToldFromTimeSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items, took = 400, 10 * time.Millisecond
		work := process(func(context.Context, *Item, Emitter) error { time.Sleep(took); return nil })
		pass := process(func(ctx context.Context, it *Item, out Emitter) error { return out.Emit(ctx, it) })
		report, err := build().add("numbers", count{n: items}).add("pass", pass).add("work", work).chain("numbers", "pass", "work").g.
			Run(t.Context(), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Stages["work"]; got.Spent != items*took || got.Held != 0 {
			t.Errorf("the stage that works: %v, of that held up %v; want %v", got.Spent, got.Held, items*took)
		}
		most := items * took
		if got := report.Stages["pass"]; got.Held != got.Spent || got.Held < most*8/10 || got.Held > most*12/10 {
			t.Errorf("the stage that waits: %v, of that held up %v; want about %v of both", got.Spent, got.Held, most)
		}
	})
}

// A follower that has caught up waits for as long as it likes: nothing is in work for that, and nothing waits for it
// but a drain.
func TestASourceThatWaitsHasNothingInWork(t *testing.T) {
	t.Parallel()
	runs, ends := make(chan struct{}), make(chan struct{})
	waits := sourceFunc(func(ctx context.Context, _ Emitter) error {
		close(runs)
		<-ctx.Done()
		<-ends
		return nil
	})
	nothing := process(func(context.Context, *Item, Emitter) error { return nil })
	run, err := build().add("follower", waits).add("work", nothing).chain("follower", "work").g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-runs
	for name, s := range run.Snapshot().Stages {
		if s.Busy != 0 || s.Waiting != 0 {
			t.Errorf("stage %s has %d items in work and %d in front of it", name, s.Busy, s.Waiting)
		}
	}
	if holding := run.Holding(); len(holding) > 0 {
		t.Errorf("holding %v", holding)
	}
	run.Drain()
	if holding := run.Holding(); !slices.Equal(holding, []string{"follower"}) {
		t.Errorf("the drain waits for %v, want the follower", holding)
	}
	close(ends)
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
}

// Two runs of a pipeline beside each other did what either did, in the time of the longer one.
func TestReportsOfRunsBesideEachOtherAddUp(t *testing.T) {
	t.Parallel()
	calls := func(durations ...time.Duration) *Latency {
		var h histogram
		for _, d := range durations {
			h.add(d)
		}
		return h.read()
	}
	one := &Report{Pipeline: "p", Duration: time.Minute, Lost: 1, Stages: map[string]StageReport{
		"both": {In: 3, Out: 2, Errors: 1, Workers: 4, Latency: calls(time.Millisecond), Counters: map[string]int64{"seen": 3, "left": 1}, Levels: map[string]bool{"left": true}},
	}}
	other := &Report{Pipeline: "p", Duration: time.Second, Lost: 2, Drained: "enough", Stages: map[string]StageReport{
		"both":  {In: 30, Out: 20, Workers: 4, Latency: calls(time.Second, time.Second), Counters: map[string]int64{"seen": 30}},
		"alone": {In: 5, Latency: calls()},
	}}
	for _, sum := range []*Report{one.Plus(other), other.Plus(one)} {
		both := sum.Stages["both"]
		if sum.Duration != time.Minute || sum.Lost != 3 || sum.Drained != "enough" || sum.Stages["alone"].In != 5 {
			t.Errorf("%+v", sum)
		}
		if both.In != 33 || both.Out != 22 || both.Errors != 1 || both.Workers != 8 || both.Latency.Count() != 3 || both.P50 < 800*time.Millisecond {
			t.Errorf("%+v", both)
		}
		if !maps.Equal(both.Counters, map[string]int64{"seen": 33, "left": 1}) || !maps.Equal(both.Levels, map[string]bool{"left": true}) {
			t.Errorf("counters %v, of these levels %v", both.Counters, both.Levels)
		}
	}
	if one.Stages["both"].In != 3 || one.Stages["both"].Counters["seen"] != 3 {
		t.Error("what was added up has changed")
	}
}
