package throttle

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

var with = stagetest.Changed(defaults)

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"fast":  with(func(o *Options) { o.Count = 100_000 }),
		"keyed": with(func(o *Options) { o.Count, o.Key, o.MaxKeys, o.Waiting = 100_000, "value", 2, 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "throttle", Options: o, Inputs: []any{1, 2, "three", 4}})
		})
	}
}

// passed runs the stage over values that are all there from the start, and returns when each came out.
func passed(t *testing.T, o Options, workers int, values ...any) (at []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		g := graph(o, workers, func(ctx context.Context, out pipeline.Emitter) error {
			for _, v := range values {
				if pause, ok := v.(time.Duration); ok {
					time.Sleep(pause)
				} else if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
					return err
				}
			}
			return nil
		}, func(v any) { at = append(at, fmt.Sprint(time.Since(began), " ", v)) })
		run, err := g.Start(t.Context(), pipeline.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(); err != nil {
			t.Error(err)
		}
	})
	return at
}

func TestItemsPassAtTheRateAndABurstAfterAPause(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		values  []any
		want    []string
	}{
		"rate":  {with(func(o *Options) { o.Count = 2 }), []any{1, 2, 3}, []string{"0s 1", "500ms 2", "1s 3"}},
		"burst": {with(func(o *Options) { o.Burst = 2 }), []any{1, 2, 3, 5 * time.Second, 4, 5, 6}, []string{"0s 1", "0s 2", "1s 3", "5s 4", "5s 5", "6s 6"}},
		"key": {
			with(func(o *Options) { o.Key = "value[0:1]" }), []any{"a1", "a2", "b1", "a3", "b2"},
			[]string{"0s a1", "0s b1", "1s a2", "1s b2", "2s a3"},
		},
		"keys that share": {
			with(func(o *Options) { o.Key, o.MaxKeys = "value[0:1]", 1 }), []any{"a1", "b1", "c1", "a2"},
			[]string{"0s a1", "0s b1", "1s a2", "1s c1"},
		},
		"fewer places than items": {with(func(o *Options) { o.Waiting = 1 }), []any{1, 2, 3, 4}, []string{"0s 1", "1s 2", "2s 3", "3s 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := passed(t, c.options, 1, c.values...)
			if !sameAtEachTime(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// sameAtEachTime compares without the order of what passes at the same time.
func sameAtEachTime(a, b []string) bool {
	count := make(map[string]int)
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// TestWorkersShareTheRate holds what a throttler that is bypassed by parallel branches does not.
func TestWorkersShareTheRate(t *testing.T) {
	got := passed(t, defaults, 8, 1, 1, 1, 1)
	if want := []string{"0s 1", "1s 1", "2s 1", "3s 1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKeysAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		impl, err := newStage(with(func(o *Options) { o.Key, o.Count, o.Waiting = "value", 1000, 100_000 }), pipeline.NewEnv("p", "s", nil))
		if err != nil {
			t.Fatal(err)
		}
		s := impl.(*stage)
		for i := range 1000 {
			if err := s.Process(t.Context(), &pipeline.Item{Value: i}, nil); err != nil {
				t.Fatal(err)
			}
		}
		for {
			if _, found, _ := s.next(time.Now()); !found {
				break
			}
		}
		if len(s.queues) != 1000 {
			t.Errorf("%d queues", len(s.queues))
		}
		time.Sleep(time.Second)
		s.next(time.Now())
		if len(s.queues) != 0 || len(s.idle) != 0 || len(s.due) != 0 {
			t.Errorf("%d queues, %d idle and %d due are left", len(s.queues), len(s.idle), len(s.due))
		}
	})
}

// The rate of a key outlives its items, for as long as a period: these must be gone by then.
func TestWhatHasPassedIsNotKept(t *testing.T) {
	t.Parallel()
	impl, err := newStage(with(func(o *Options) { o.Key, o.Period = "meta.key", pipeline.Duration(time.Hour) }), pipeline.NewEnv("p", "s", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := impl.(*stage)
	value := &[]byte{1}
	passed := weak.Make(value)
	if err := s.Process(t.Context(), &pipeline.Item{Value: value}, nil); err != nil {
		t.Fatal(err)
	}
	if _, found, _ := s.next(time.Now()); !found || len(s.queues) != 1 {
		t.Fatal("it does not pass, or its key is forgotten")
	}
	value = nil
	runtime.GC()
	if passed.Value() != nil {
		t.Error("an item that has passed is still in memory")
	}
	runtime.KeepAlive(s)
}

func TestADrainGivesBackWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var outcomes [3]error
		var out []any
		g := graph(with(func(o *Options) { o.Period = pipeline.Duration(time.Hour) }), 1, func(ctx context.Context, out pipeline.Emitter) error {
			for i := range 3 {
				if err := out.Emit(ctx, pipeline.NewItem(i, func(o pipeline.Outcome) { outcomes[i] = o.Err })); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return nil
		}, func(v any) { out = append(out, v) })
		run, err := g.Start(t.Context(), pipeline.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		run.Drain()
		report, err := run.Wait()
		if err != nil || time.Since(began) > 0 {
			t.Errorf("it ended after %v with %v", time.Since(began), err)
		}
		if !reflect.DeepEqual(out, []any{0}) || outcomes[0] != nil || !errors.Is(outcomes[1], context.Canceled) || !errors.Is(outcomes[2], context.Canceled) {
			t.Errorf("%v passed, the leases ended with %v", out, outcomes)
		}
		if got := report.Stages["throttle"].Counters["given_back"]; got != 2 {
			t.Errorf("given_back is %d", got)
		}
	})
}

func TestOptionsAreValidated(t *testing.T) {
	for option, o := range map[string]Options{
		"count":    with(func(o *Options) { o.Count = 0 }),
		"burst":    with(func(o *Options) { o.Burst = 0 }),
		"waiting":  with(func(o *Options) { o.Waiting = 0 }),
		"max_keys": with(func(o *Options) { o.MaxKeys = 0 }),
		"period":   with(func(o *Options) { o.Period = 0 }),
		"key":      with(func(o *Options) { o.Key = "(" }),
	} {
		var fault *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &fault) || fault.Option != option {
			t.Errorf("got %v, want a fault of %s", err, option)
		}
	}
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
}

func graph(o Options, workers int, give func(context.Context, pipeline.Emitter) error, take func(any)) *pipeline.Graph {
	g, stage := stagetest.Between("throttle", o, give, func(it *pipeline.Item) error { take(it.Value); return nil })
	stage.Common.Workers = workers
	return g
}
