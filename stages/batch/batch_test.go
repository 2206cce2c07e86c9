package batch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

var with = stagetest.Changed(defaults)

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"by count":  with(func(o *Options) { o.Count = 3 }),
		"by period": with(func(o *Options) { o.Period = pipeline.Duration(time.Millisecond) }),
		"by key":    with(func(o *Options) { o.Key, o.MaxItems, o.Count = "value", 4, 4 }),
		"one":       with(func(o *Options) { o.Count, o.MaxItems, o.MaxKeys = 1, 1, 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "batch", Options: o, Inputs: stagetest.Numbers(10)})
		})
	}
}

func TestAListIsCompleteByCountOrBytesAndWhatIsLeftGoesOnAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		options  Options
		inputs   []any
		want     []any
		counters map[string]int64
	}{
		"count": {
			with(func(o *Options) { o.Count = 2 }), stagetest.Numbers(5),
			[]any{[]any{0, 1}, []any{2, 3}, []any{4}}, map[string]int64{"full": 2, "closed_at_end": 1},
		},
		"bytes": {
			with(func(o *Options) { o.Bytes = 100 }), []any{strings.Repeat("a", 40), strings.Repeat("b", 40), "c", strings.Repeat("d", 200), "e"},
			[]any{[]any{strings.Repeat("a", 40)}, []any{strings.Repeat("b", 40), "c"}, []any{strings.Repeat("d", 200)}, []any{"e"}},
			map[string]int64{"full": 3, "closed_at_end": 1},
		},
		"key": {
			with(func(o *Options) { o.Key, o.Count = "value % 2", 2 }), stagetest.Numbers(5),
			[]any{[]any{0, 2}, []any{1, 3}, []any{4}}, map[string]int64{"full": 2, "closed_at_end": 1},
		},
		"more keys than may be": {
			with(func(o *Options) { o.Key, o.MaxKeys = "value", 1 }), stagetest.Numbers(3),
			[]any{[]any{0}, []any{1}, []any{2}}, map[string]int64{"closed_early": 2, "closed_at_end": 1},
		},
		"nothing": {defaults, nil, nil, map[string]int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := stagetest.Try(t, stagetest.Case{Type: "batch", Options: c.options, Inputs: c.inputs})
			if !reflect.DeepEqual(got.Out[""], c.want) {
				t.Errorf("got %v, want %v", got.Out[""], c.want)
			}
			if !reflect.DeepEqual(got.Counters, c.counters) {
				t.Errorf("counters %v, want %v", got.Counters, c.counters)
			}
		})
	}
}

func TestMoreItemsThanAreKeptCloseTheOldestListEarly(t *testing.T) {
	o := with(func(o *Options) { o.Key, o.MaxItems, o.Period = "value % 3", 4, pipeline.Duration(time.Hour) })
	got := stagetest.Try(t, stagetest.Case{Type: "batch", Options: o, Inputs: stagetest.Numbers(30)})
	n := 0
	for _, l := range got.Out[""] {
		n += len(l.([]any))
	}
	if n != 30 || got.Counters["closed_early"] == 0 {
		t.Errorf("%d items came out, counters %v", n, got.Counters)
	}
}

func TestALeaseEndsWithTheListAndNotBefore(t *testing.T) {
	broken := errors.New("broken")
	for name, want := range map[string]error{"dealt with": nil, "failed": broken} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended, passed atomic.Int32
				let := make(chan struct{})
				o := with(func(o *Options) { o.Count = 2 })
				run := start(t, o, gives(2, func(pipeline.Outcome) { ended.Add(1) }), func(it *pipeline.Item) error {
					passed.Add(1)
					done := it.Hold()
					go func() { <-let; done(want) }()
					return nil
				})
				synctest.Wait()
				if passed.Load() != 1 || ended.Load() != 0 {
					t.Errorf("%d lists arrived and %d leases ended before the list was dealt with", passed.Load(), ended.Load())
				}
				close(let)
				if _, err := run.Wait(); !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("the run ended with %v", err)
				}
				synctest.Wait() // a run that fails does not wait for who holds something
				if ended.Load() != 2 {
					t.Errorf("%d leases ended", ended.Load())
				}
			})
		})
	}
}

// TestAPeriodIsCountedFromTheFirstItem holds what the idle timer of a stock operator does not: items that
// keep coming do not put off the list.
func TestAPeriodIsCountedFromTheFirstItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []string
		run := start(t, defaults, func(ctx context.Context, out pipeline.Emitter) error {
			for i := range 10 {
				if err := out.Emit(ctx, &pipeline.Item{Value: i}); err != nil {
					return err
				}
				time.Sleep(700 * time.Millisecond)
			}
			return nil
		}, func(it *pipeline.Item) error {
			at = append(at, fmt.Sprint(time.Since(began), it.Value))
			return nil
		})
		if _, err := run.Wait(); err != nil {
			t.Fatal(err)
		}
		want := []string{"1s [0 1]", "2.4s [2 3]", "3.8s [4 5]", "5.2s [6 7]", "6.6s [8 9]"}
		if !reflect.DeepEqual(at, want) {
			t.Errorf("lists at %q, want %q", at, want)
		}
	})
}

func TestADrainFlushesAndACancelGivesBack(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*pipeline.Run)
		want error
	}{"drain": {(*pipeline.Run).Drain, nil}, "cancel": {(*pipeline.Run).Cancel, context.Canceled}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outcomes := make(chan error, 3)
				give := gives(3, func(o pipeline.Outcome) { outcomes <- o.Err })
				var lists []any
				run := start(t, with(func(o *Options) { o.Period = pipeline.Duration(time.Hour) }), func(ctx context.Context, out pipeline.Emitter) error {
					err := give(ctx, out)
					<-ctx.Done()
					return err
				}, func(it *pipeline.Item) error { lists = append(lists, it.Value); return nil })
				synctest.Wait()
				c.end(run)
				if _, err := run.Wait(); !errors.Is(err, c.want) {
					t.Errorf("the run ended with %v", err)
				}
				synctest.Wait()
				for range 3 {
					if err := <-outcomes; !errors.Is(err, c.want) {
						t.Errorf("a lease ended with %v, want %v", err, c.want)
					}
				}
				if c.want == nil && !reflect.DeepEqual(lists, []any{[]any{0, 1, 2}}) {
					t.Errorf("lists %v", lists)
				}
			})
		})
	}
}

func TestTheKeyIsInTheMetaData(t *testing.T) {
	var keys []string
	run := start(t, with(func(o *Options) { o.Key, o.Count = `value > 1`, 2 }), gives(4, func(pipeline.Outcome) {}), func(it *pipeline.Item) error {
		keys = append(keys, it.Meta["key"])
		return nil
	})
	if _, err := run.Wait(); err != nil || !reflect.DeepEqual(keys, []string{"false", "true"}) {
		t.Errorf("keys %q, %v", keys, err)
	}
}

func TestAnItemWithoutAKeyFailsAlone(t *testing.T) {
	got := stagetest.Try(t, stagetest.Case{Type: "batch", Options: with(func(o *Options) { o.Key = "value + 1" }), Inputs: []any{1, []any{}, 1}})
	if len(got.Failures) != 1 || !reflect.DeepEqual(got.Out[""], []any{[]any{1, 1}}) {
		t.Errorf("failures %v, out %v", got.Failures, got.Out)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for option, o := range map[string]Options{
		"count":     with(func(o *Options) { o.Count = 0 }),
		"period":    with(func(o *Options) { o.Period = 0 }),
		"max_items": with(func(o *Options) { o.MaxItems = 0 }),
		"max_keys":  with(func(o *Options) { o.MaxKeys = -1 }),
		"key":       with(func(o *Options) { o.Key = "url ==" }),
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

// gives is a source of numbers.
func gives(n int, ended func(pipeline.Outcome)) func(context.Context, pipeline.Emitter) error {
	return func(ctx context.Context, out pipeline.Emitter) error {
		for i := range n {
			if err := out.Emit(ctx, pipeline.NewItem(i, ended)); err != nil {
				return err
			}
		}
		return nil
	}
}

func start(t *testing.T, o Options, give func(context.Context, pipeline.Emitter) error, take func(*pipeline.Item) error) *pipeline.Run {
	t.Helper()
	g, _ := stagetest.Between("batch", o, give, take)
	run, err := g.Start(context.Background(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestAllListsAreCompleteWhenAQueueStarves(t *testing.T) {
	env := pipeline.NewEnv("p", "batch", nil)
	impl, err := newStage(with(func(o *Options) { o.Key, o.Period = "value % 2", pipeline.Duration(time.Hour) }), env)
	if err != nil {
		t.Fatal(err)
	}
	s := impl.(*stage)
	for i := range 3 {
		if err := s.Process(t.Context(), &pipeline.Item{Value: i}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if ready, _ := s.Due(time.Now(), false); len(ready) > 0 {
		t.Errorf("%d lists are complete", len(ready))
	}
	s.Hurry()
	ready, next := s.Due(time.Now(), false)
	if len(ready) != 2 || !reflect.DeepEqual(ready[0].Value, pipeline.List{0, 2}) || !next.IsZero() || env.Counters()["closed_early"] != 2 {
		t.Errorf("lists %v, next at %v, counters %v", ready, next, env.Counters())
	}
}
