package sample

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

var with = stagetest.Changed(defaults)

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	got := stagetest.Try(t, stagetest.Case{Type: "sample", Options: o, Inputs: inputs})
	if n := len(got.Out[""]) + len(got.Out["rest"]); n != len(inputs) {
		t.Errorf("%d of %d items came out", n, len(inputs))
	}
	return got
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "sample", Options: with(func(o *Options) { o.Every = 3 }), Inputs: stagetest.Numbers(10)})
	stagetest.Run(t, stagetest.Case{Type: "sample", Options: with(func(o *Options) { o.Share, o.Key = 0.5, "value" }), Inputs: stagetest.Numbers(10)})
}

func TestEveryNthPasses(t *testing.T) {
	got := try(t, with(func(o *Options) { o.Every = 3 }), stagetest.Numbers(8)...)
	if want := []any{0, 3, 6}; !reflect.DeepEqual(got.Out[""], want) {
		t.Errorf("got %v, want %v", got.Out[""], want)
	}
}

func TestAShareOfAllPassesTheSameOnesWithASeed(t *testing.T) {
	o := with(func(o *Options) { o.Share, o.Seed = 0.25, 7 })
	first, second := try(t, o, stagetest.Numbers(2000)...), try(t, o, stagetest.Numbers(2000)...)
	if n := len(first.Out[""]); n < 400 || n > 600 {
		t.Errorf("%d of 2000 pass, want about 500", n)
	}
	if !reflect.DeepEqual(first.Out, second.Out) {
		t.Error("with the same seed others pass")
	}
	o.Seed = 8
	if reflect.DeepEqual(try(t, o, stagetest.Numbers(2000)...).Out, first.Out) {
		t.Error("with another seed the same pass")
	}
}

func TestOfAKeyAllOrNothingPasses(t *testing.T) {
	o := with(func(o *Options) { o.Share, o.Key = 0.3, "value % 1000" })
	got := try(t, o, stagetest.Numbers(3000)...)
	times := make(map[int]int)
	for _, v := range got.Out[""] {
		times[v.(int)%1000]++
	}
	for key, n := range times {
		if n != 3 {
			t.Errorf("of key %d, %d of 3 pass", key, n)
		}
	}
	if len(times) < 230 || len(times) > 370 {
		t.Errorf("%d of 1000 keys pass, want about 300", len(times))
	}
	if again := try(t, o, stagetest.Numbers(3000)...); !reflect.DeepEqual(again.Out[""], got.Out[""]) {
		t.Error("in another run other keys pass")
	}
	all := try(t, with(func(o *Options) { o.Share, o.Key = 1, "value" }), stagetest.Numbers(100)...)
	if len(all.Out[""]) != 100 {
		t.Errorf("of a share of 1, %d of 100 pass", len(all.Out[""]))
	}
}

func TestTheFirstOfEachPeriodPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		impl, err := newStage(with(func(o *Options) { o.First = 2 }), pipeline.NewEnv("p", "s", nil))
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for range 8 {
			passes, err := impl.(*stage).passes(&pipeline.Item{Value: 1})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, passes)
			time.Sleep(250 * time.Millisecond)
		}
		if want := []bool{true, true, false, false, true, true, false, false}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestOptionsAreValidated(t *testing.T) {
	for _, c := range []struct {
		option string
		change func(*Options)
	}{
		{"every", func(o *Options) {}},
		{"every", func(o *Options) { o.Every = -1 }},
		{"every", func(o *Options) { o.Every, o.First = 1, 1 }},
		{"first", func(o *Options) { o.First = -1 }},
		{"share", func(o *Options) { o.Share = 1.5 }},
		{"share", func(o *Options) { o.Share = math.NaN() }},
		{"period", func(o *Options) { o.First, o.Period = 1, 0 }},
		{"key", func(o *Options) { o.Every, o.Key = 1, "url" }},
		{"key", func(o *Options) { o.Share, o.Key = 1, "url ==" }},
	} {
		var fault *pipeline.OptionError
		if err := with(c.change).Validate(); !errors.As(err, &fault) || fault.Option != c.option {
			t.Errorf("got %v, want a fault of %s", err, c.option)
		}
	}
}
