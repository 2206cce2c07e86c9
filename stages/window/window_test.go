package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/recordjson"
	"github.com/webrace/webrace/pipeline/stagetest"
)

var with = stagetest.Changed(defaults)

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"time": with(func(o *Options) { o.Size = pipeline.Duration(time.Millisecond) }),
		"slides": with(func(o *Options) {
			o.Size, o.Slide = pipeline.Duration(10*time.Millisecond), pipeline.Duration(time.Millisecond)
		}),
		"count":   with(func(o *Options) { o.Count, o.Step, o.Key = 3, 2, "value % 2" }),
		"limited": with(func(o *Options) { o.Count, o.MaxItems, o.MaxKeys, o.Key = 3, 1, 1, "value" }),
		"no hold": with(func(o *Options) { o.Count, o.Hold = 3, false }),
	} {
		t.Run(name, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "window", Options: o, Inputs: stagetest.Numbers(10)})
		})
	}
}

// sums runs the stage over values, with pauses between them, and writes its records without their times.
func sums(t *testing.T, o Options, values ...any) (records []string) {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		report, err := graph(o, func(ctx context.Context, out pipeline.Emitter) error {
			for _, v := range values {
				if pause, ok := v.(time.Duration); ok {
					time.Sleep(pause)
				} else if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
					return err
				}
			}
			return nil
		}, func(v any) {
			r := v.(pipeline.Record)
			from, err := time.Parse(time.RFC3339, r["from"].(string))
			if err != nil {
				t.Error(err)
			}
			records = append(records, strings.TrimSpace(fmt.Sprintf("%v-%v %v %v %v", from.Sub(began), time.Since(began), r["closed"], r["all"], r["key"])))
		}).Run(t.Context(), pipeline.RunOptions{})
		if err != nil || report.Stages["window"].Errors > 0 {
			t.Errorf("%v, %+v", err, report.Stages["window"])
		}
	})
	return records
}

func TestEveryItemIsInTheRecordsOfItsWindows(t *testing.T) {
	const s = time.Second
	all := func(o *Options) { o.Aggregate = map[string]string{"all": "collect value"} }
	for name, c := range map[string]struct {
		change func(*Options)
		values []any
		want   []string
	}{
		"time": {
			func(o *Options) { o.Size = pipeline.Duration(10 * s) }, []any{1, 4 * s, 2, 7 * s, 3, 30 * s, 4},
			[]string{"0s-10s time [1 2]", "10s-20s time [3]", "40s-41s end [4]"},
		},
		"windows that overlap": {
			func(o *Options) { o.Size, o.Slide = pipeline.Duration(10*s), pipeline.Duration(5*s) }, []any{1, 6 * s, 2, 6 * s, 3},
			[]string{"-5s-5s time [1]", "0s-10s time [1 2]", "5s-12s end [2 3]", "10s-12s end [3]"},
		},
		"count":                {func(o *Options) { o.Count = 2 }, []any{1, 2, 3}, []string{"0s-0s count [1 2]", "0s-0s end [3]"}},
		"counts that overlap":  {func(o *Options) { o.Count, o.Step = 3, 2 }, []any{1, 2, 3, 4, 5}, []string{"0s-0s count [1 2 3]", "0s-0s count [3 4 5]", "0s-0s end [5]"}},
		"a count that waits":   {func(o *Options) { o.Count = 2 }, []any{1, 90 * s, 2}, []string{"0s-1m0s period [1]", "1m30s-1m30s end [2]"}},
		"keys":                 {func(o *Options) { o.Count, o.Key = 2, "value % 2" }, []any{1, 2, 3, 4, 5}, []string{"0s-0s count [1 3] 1", "0s-0s count [2 4] 0", "0s-0s end [5] 1"}},
		"more keys than room":  {func(o *Options) { o.Count, o.Key, o.MaxKeys = 2, "value", 1 }, []any{1, 2}, []string{"0s-0s limit [1] 1", "0s-0s end [2] 2"}},
		"more items than room": {func(o *Options) { o.Size, o.MaxItems = pipeline.Duration(time.Hour), 2 }, []any{1, 2, 3}, []string{"0s-0s limit [1 2]", "0s-0s end [3]"}},
		"overlaps without room": {
			func(o *Options) { o.Count, o.Step, o.MaxItems, o.Hold = 4, 1, 1, false }, []any{1, 2, 3},
			[]string{"0s-0s limit [1]", "0s-0s limit [2]", "0s-0s end [3]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := sums(t, with(func(o *Options) { all(o); c.change(o) }), c.values...)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestAggregates(t *testing.T) {
	o := with(func(o *Options) {
		o.Count = 10
		o.Aggregate = map[string]string{
			"n": "count", "big": "count v > 1", "sum": "sum v", "real": "sum v / 2", "mean": "mean v", "least": "min v", "most": "max name",
			"first": "first name", "last": "last name", "all": "collect v",
		}
	})
	var inputs []any
	for i, name := range []string{"b", "c", "a"} {
		inputs = append(inputs, pipeline.Record{"v": 3 - i, "name": name})
	}
	got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: inputs})
	r := got.Out[""][0].(pipeline.Record)
	for name, want := range map[string]any{
		"n": 3, "big": 2, "sum": 6, "real": 3.0, "mean": 2.0, "least": 1, "most": "c", "first": "b", "last": "a", "all": []any{3, 2, 1}, "closed": "end",
	} {
		if !reflect.DeepEqual(r[name], want) {
			t.Errorf("%s is %#v, want %#v", name, r[name], want)
		}
	}
}

// Whole numbers are summed exactly, numbers compared as what they stand for, and one that is kept stays as it came.
func TestAggregatesOfNumbers(t *testing.T) {
	o := with(func(o *Options) {
		o.Count, o.Key = 10, "k"
		o.Aggregate = map[string]string{"sum": "sum id", "most": "max id", "least": "min price", "prices": "sum price", "all": "collect price"}
	})
	var inputs []any
	for _, text := range []string{`{"k":1,"id":2882429806056571124,"price":1.10}`, `{"k":1.0,"id":2882429806056571125,"price":1.2}`, `{"k":1e0,"id":3,"price":1.100}`, `{"k":2,"id":9223372036854775807,"price":1}`, `{"k":2,"id":1,"price":1}`} {
		var r pipeline.Record
		if err := recordjson.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, r)
	}
	got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: inputs})
	var records []string
	for _, v := range got.Out[""] {
		r := v.(pipeline.Record)
		delete(r, "from")
		delete(r, "to")
		text, _ := json.Marshal(r)
		records = append(records, string(text))
	}
	want := []string{
		`{"all":[1,1],"closed":"end","key":2,"least":1,"most":9223372036854775807,"prices":2,"sum":9223372036854776000}`,
		`{"all":[1.10,1.2,1.100],"closed":"end","key":1,"least":1.10,"most":2882429806056571125,"prices":3.4,"sum":5764859612113142252}`,
	}
	if slices.Sort(records); !slices.Equal(records, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(records, "\n"), strings.Join(want, "\n"))
	}
}

func TestAnItemThatCannotBeSummedFailsAloneAndWhole(t *testing.T) {
	o := with(func(o *Options) {
		o.Count, o.Aggregate = 10, map[string]string{"a": "count", "b": "sum v", "c": "max w"}
	})
	got := stagetest.Try(t, stagetest.Case{Type: "window", Options: o, Inputs: []any{
		pipeline.Record{"v": 1, "w": 1}, pipeline.Record{"v": "x", "w": 9}, pipeline.Record{"v": 5, "w": []any{}}, pipeline.Record{"v": 2, "w": 2},
	}})
	r := got.Out[""][0].(pipeline.Record)
	if len(got.Failures) != 2 || r["a"] != 2 || r["b"] != 3 || r["c"] != 2 {
		t.Errorf("failures %v, record %v", got.Failures, r)
	}
}

// TestKeysAreFreed holds what a stock operator that is keyed does not.
func TestKeysAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		impl, err := newStage(with(func(o *Options) { o.Count, o.Key, o.MaxKeys = 2, "value", 1_000_000 }), pipeline.NewEnv("p", "s", nil))
		if err != nil {
			t.Fatal(err)
		}
		s := impl.(*stage)
		for i := range 10_000 {
			if err := s.Process(t.Context(), &pipeline.Item{Value: i}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.windows.lines) != 10_000 {
			t.Errorf("%d keys", len(s.windows.lines))
		}
		time.Sleep(time.Minute)
		ready, _ := s.windows.Due(time.Now(), false)
		if len(ready) != 10_000 || len(s.windows.lines) != 0 || len(s.windows.due) != 0 {
			t.Errorf("%d records, and %d keys are left", len(ready), len(s.windows.lines))
		}
	})
}

func TestLeasesEndWithTheLastRecordUnlessTheyAreNotHeld(t *testing.T) {
	for _, hold := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var ended time.Duration
			o := with(func(o *Options) {
				o.Size, o.Slide, o.Hold = pipeline.Duration(10*time.Second), pipeline.Duration(5*time.Second), hold
			})
			run, err := graph(o, func(ctx context.Context, out pipeline.Emitter) error {
				err := out.Emit(ctx, pipeline.NewItem(1, func(pipeline.Outcome) { ended = time.Since(began) }))
				time.Sleep(time.Minute)
				return err
			}, func(any) {}).Start(t.Context(), pipeline.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.Wait(); err != nil {
				t.Error(err)
			}
			if want := map[bool]time.Duration{true: 10 * time.Second, false: 0}[hold]; ended != want {
				t.Errorf("hold = %v: the lease ended after %v, want %v", hold, ended, want)
			}
		})
	}
}

func TestADrainLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []any
		run, err := graph(with(func(o *Options) { o.Size = pipeline.Duration(time.Hour) }), func(ctx context.Context, out pipeline.Emitter) error {
			for i := range 5 {
				if err := out.Emit(ctx, &pipeline.Item{Value: i}); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return nil
		}, func(v any) { got = append(got, v.(pipeline.Record)["count"]) }).Start(t.Context(), pipeline.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		run.Drain()
		if _, err := run.Wait(); err != nil || !reflect.DeepEqual(got, []any{5}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestOptionsAreValidated(t *testing.T) {
	second := pipeline.Duration(time.Second)
	for _, c := range []struct {
		option string
		change func(*Options)
	}{
		{"size", func(o *Options) {}},
		{"size", func(o *Options) { o.Size, o.Count = second, 1 }},
		{"count", func(o *Options) { o.Size, o.Step = second, -1 }},
		{"slide", func(o *Options) { o.Size, o.Slide = second, 2*second }},
		{"slide", func(o *Options) { o.Size, o.Slide = second, 1 }},
		{"slide", func(o *Options) { o.Size, o.Slide = second, -1 }},
		{"size", func(o *Options) { o.Count, o.Size = 1, -second }},
		{"step", func(o *Options) { o.Count, o.Step = 1, 2 }},
		{"step", func(o *Options) { o.Count, o.Step = 1_000_000, 1 }},
		{"period", func(o *Options) { o.Count, o.Period = 1, 0 }},
		{"max_items", func(o *Options) { o.Count, o.MaxItems = 1, 0 }},
		{"max_keys", func(o *Options) { o.Count, o.MaxKeys = 1, 0 }},
		{"aggregate", func(o *Options) { o.Count, o.Aggregate = 1, nil }},
		{"aggregate", func(o *Options) { o.Count, o.Aggregate = 1, map[string]string{"a": "summ v"} }},
		{"aggregate", func(o *Options) { o.Count, o.Aggregate = 1, map[string]string{"a": "sum"} }},
		{"aggregate", func(o *Options) { o.Count, o.Aggregate = 1, map[string]string{"a": "sum v +"} }},
		{"aggregate", func(o *Options) { o.Count, o.Aggregate = 1, map[string]string{"key": "count"} }},
		{"key", func(o *Options) { o.Count, o.Key = 1, "(" }},
	} {
		var fault *pipeline.OptionError
		if err := with(c.change).Validate(); !errors.As(err, &fault) || fault.Option != c.option {
			t.Errorf("got %v, want a fault of %s", err, c.option)
		}
	}
	if err := with(func(o *Options) { o.Count, o.Aggregate = 1, map[string]string{"a": "summ v"} }).Validate(); !strings.Contains(err.Error(), "did you mean sum?") {
		t.Error(err)
	}
}

func graph(o Options, give func(context.Context, pipeline.Emitter) error, take func(any)) *pipeline.Graph {
	g, _ := stagetest.Between("window", o, give, func(it *pipeline.Item) error { take(it.Value); return nil })
	return g
}

func TestWindowsThatHoldItemsAreClosedWhenAQueueStarves(t *testing.T) {
	for _, holds := range []bool{true, false} {
		o := with(func(o *Options) { o.Size, o.Key, o.Hold = pipeline.Duration(time.Hour), "value", holds })
		impl, err := newStage(o, pipeline.NewEnv("p", "window", nil))
		if err != nil {
			t.Fatal(err)
		}
		s := impl.(*stage)
		for i := range 2 {
			if err := s.Process(t.Context(), &pipeline.Item{Value: i}, nil); err != nil {
				t.Fatal(err)
			}
		}
		s.Hurry()
		ready, _ := s.windows.Due(time.Now(), false)
		if !holds {
			if len(ready) > 0 {
				t.Errorf("%d windows that hold nothing up are closed", len(ready))
			}
			continue
		}
		if len(ready) != 2 || ready[0].Value.(pipeline.Record)["closed"] != "limit" {
			t.Errorf("records %v", ready)
		}
	}
}
