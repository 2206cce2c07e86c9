package gostreams_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/gostreams"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// options of all the stages here.
type options struct {
	Factor int `toml:"factor" doc:"what numbers are multiplied by, or that they must be a multiple of"`
}

var errOdd = errors.New("odd")

// number fails on negative numbers, and panics on -99.
func number(it *pipeline.Item) (int, error) {
	n, err := pipeline.ValueOf[int](it)
	switch {
	case n == -99:
		panic("boom")
	case n < 0:
		return n, errOdd
	}
	return n, err
}

const short = 5 * time.Millisecond

// made are the stages under test, by their types.
var made = map[string]func(options, *pipeline.Env) (any, error){
	"map": func(o options, env *pipeline.Env) (any, error) {
		return gostreams.Map(func(_ context.Context, it *pipeline.Item) (*pipeline.Item, error) {
			n, err := number(it)
			return it.With(n * o.Factor), err
		}, env.Workers), nil
	},
	"flat-map": func(o options, env *pipeline.Env) (any, error) {
		return gostreams.FlatMap(func(_ context.Context, it *pipeline.Item) (all []*pipeline.Item, err error) {
			n, err := number(it)
			for i := range n {
				all = append(all, it.With(i))
			}
			return all, err
		}, env.Workers), nil
	},
	"filter": func(o options, env *pipeline.Env) (any, error) {
		return gostreams.Filter(func(_ context.Context, it *pipeline.Item) (bool, error) {
			n, err := number(it)
			return n%o.Factor == 0, err
		}, env.Workers), nil
	},
	"reduce": func(options, *pipeline.Env) (any, error) {
		return gostreams.Reduce(func(_ context.Context, last any, it *pipeline.Item) (any, error) {
			n, err := number(it)
			return last.(int) + n, err
		}), nil
	},
	"batch":    func(o options, _ *pipeline.Env) (any, error) { return gostreams.Batch(o.Factor, time.Minute), nil },
	"throttle": func(o options, _ *pipeline.Env) (any, error) { return gostreams.Throttle(o.Factor, short), nil },
	"tumbling": func(options, *pipeline.Env) (any, error) { return gostreams.Tumbling(short), nil },
	"sliding":  func(options, *pipeline.Env) (any, error) { return gostreams.Sliding(3*short, short), nil },
	"session":  func(options, *pipeline.Env) (any, error) { return gostreams.Session(short), nil },
	"keyed": func(o options, _ *pipeline.Env) (any, error) {
		return gostreams.Items(func() streams.Flow {
			return flow.NewKeyed(func(it *pipeline.Item) int { return it.Value.(int) % o.Factor },
				func() streams.Flow { return flow.NewBatch[*pipeline.Item](o.Factor, short) })
		}), nil
	},
	"dropping": func(o options, _ *pipeline.Env) (any, error) {
		return gostreams.Items(func() streams.Flow {
			return flow.NewFilter(func(it *pipeline.Item) bool { return it.Value.(int)%o.Factor == 0 }, 1)
		}), nil
	},
	"values": func(o options, _ *pipeline.Env) (any, error) {
		return func() streams.Flow { return flow.NewMap(func(n int) int { return n * o.Factor }, 1) }, nil
	},
	"sink": func(options, *pipeline.Env) (any, error) {
		return func() (streams.Sink, error) { return ext.NewIgnoreSink(), nil }, nil
	},
}

var lists = []string{"batch", "tumbling", "sliding", "session", "keyed"}

// registry has all of them, and a source.
func registry() *pipeline.Registry {
	r := pipeline.NewRegistry()
	for name, mk := range made {
		spec := pipeline.Spec{Type: name, Summary: "is under test", In: pipeline.Kinds(pipeline.KindOf[int]())}
		switch {
		case slices.Contains(lists, name):
			spec.Out = []pipeline.Port{{Kind: pipeline.ListOfInput, Passes: true}}
		case name != "sink":
			spec.Out = []pipeline.Port{{Kind: pipeline.KindOf[int]()}}
		}
		gostreams.RegisterIn(r, spec, options{3}, mk)
	}
	gostreams.RegisterIn(r, pipeline.Spec{Type: "source", Summary: "is under test", Out: []pipeline.Port{{Kind: pipeline.KindOf[int]()}}},
		options{3}, func(o options, _ *pipeline.Env) (any, error) {
			return func() (streams.Source, error) {
				numbers := make(chan any, o.Factor)
				for i := range o.Factor {
					numbers <- i
				}
				close(numbers)
				return ext.NewChanSource(numbers), nil
			}, nil
		})
	return r
}

// TestStagesOfGoStreamsConform is not parallel, since goroutines of other tests would be taken for those of the stages.
func TestStagesOfGoStreamsConform(t *testing.T) {
	r := registry()
	for _, typ := range r.Types() {
		c := stagetest.Case{Type: typ, Registry: r, Inputs: stagetest.Numbers(10)}
		if typ == "source" {
			c.Inputs = nil
		}
		stagetest.Run(t, c)
	}
}

func TestWhatComesOut(t *testing.T) {
	t.Parallel()
	r := registry()
	list := func(of ...any) any { return of }
	for typ, want := range map[string][]any{
		"map": {0, 3, 6, 9, 12}, "flat-map": {0, 0, 1, 0, 1, 2, 0, 1, 2, 3}, "filter": {0, 3}, "reduce": {0, 1, 3, 6, 10},
		"batch": {list(0, 1, 2), list(3, 4)}, "throttle": {0, 1, 2, 3, 4}, "values": {0, 3, 6, 9, 12}, "dropping": {0, 3}, "sink": nil,
	} {
		got := stagetest.Try(t, stagetest.Case{Type: typ, Registry: r, Inputs: stagetest.Numbers(5)})
		if !reflect.DeepEqual(got.Out[""], want) {
			t.Errorf("%s: out came %v, want %v", typ, got.Out[""], want)
		}
	}
}

// TestAFailureHasItsPolicy has the function of an operator fail and panic: the item alone fails, and the rest goes on.
func TestAFailureHasItsPolicy(t *testing.T) {
	t.Parallel()
	r := registry()
	for typ, want := range map[string][]any{"map": {0, 3, 9}, "flat-map": {0, 0, 1, 2}, "filter": {0, 3}, "reduce": {0, 1, 4}} {
		got := stagetest.Try(t, stagetest.Case{Type: typ, Registry: r, Inputs: []any{0, -1, 1, -99, "text", 3}})
		if !reflect.DeepEqual(got.Out[""], want) || len(got.Failures) != 3 {
			t.Errorf("%s: out came %v, want %v; failures %v", typ, got.Out[""], want, got.Failures)
			continue
		}
		if !errors.Is(got.Failures[0].Err, errOdd) || !strings.Contains(got.Failures[1].Err.Error(), "panicked: boom") {
			t.Errorf("%s: failures %v", typ, got.Failures)
		}
	}
}

func TestAFailureIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		flaky := gostreams.Map(func(_ context.Context, it *pipeline.Item) (*pipeline.Item, error) {
			if tries++; tries < 3 {
				return nil, errOdd
			}
			return it, nil
		}, 1)
		var sink collected
		b := build().add("numbers", count{n: 1}).add("flaky", flaky).add("sink", &sink).chain("numbers", "flaky", "sink")
		b.g.Stages[1].Common.OnError = pipeline.RetryFirst
		mustRun(t, b, pipeline.RunOptions{})
		if tries != 3 || len(sink.values) != 1 {
			t.Errorf("tried %d times, out came %v", tries, sink.values)
		}
	})
}

// TestWhatIsHeldKeepsItsLease holds back what comes out of each operator, and looks which leases have ended meanwhile.
func TestWhatIsHeldKeepsItsLease(t *testing.T) {
	t.Parallel()
	for name, stage := range map[string]pipeline.Keeper{
		"batch": gostreams.Batch(2, time.Second), "throttle": gostreams.Throttle(2, time.Second), "tumbling": gostreams.Tumbling(time.Second),
		"sliding": gostreams.Sliding(3*time.Second, time.Second), "session": gostreams.Session(time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ends := newOutcomes()
				var let []func(error)
				keep := process(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
					let = append(let, it.Hold())
					return nil
				})
				run := build().add("numbers", count{4, ends.add}).add("operator", stage).add("keep", keep).chain("numbers", "operator", "keep").started(t)
				for range 10 { // seconds
					synctest.Wait()
					time.Sleep(time.Second)
				}
				if len(let) == 0 || len(ends.all) > 0 {
					t.Errorf("%d lists came, and %d leases have ended before these have been dealt with", len(let), len(ends.all))
				}
				for _, done := range let {
					done(nil)
				}
				if _, err := run.Wait(); err != nil {
					t.Error(err)
				}
				ends.mustEndOnce(t, 4)
			})
		})
	}
}

// TestASlidingWindowHasEachItemAsOftenAsItSlides gives an item each second to windows of three seconds, and then none.
func TestASlidingWindowHasEachItemAsOftenAsItSlides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sink collected
		ends := newOutcomes()
		source := sourceFunc(func(ctx context.Context, out pipeline.Emitter) error {
			time.Sleep(time.Second / 2)
			err := count{3, ends.add}.Run(ctx, out)
			time.Sleep(10 * time.Second)
			ends.mustEndOnce(t, 3) // while nothing comes
			return errors.Join(err, out.Emit(ctx, pipeline.NewItem(3, func(o pipeline.Outcome) { ends.add(3, o) })))
		})
		mustRun(t, build().add("source", source).add("sliding", gostreams.Sliding(3*time.Second, time.Second)).add("sink", &sink).
			chain("source", "sliding", "sink"), pipeline.RunOptions{})
		if got := fmt.Sprint(sink.values); got != "[[0 1 2] [0 1 2] [0 1 2] [3]]" {
			t.Errorf("windows %v", got)
		}
		ends.mustEndOnce(t, 4)
	})
}

func TestADrainGivesOutWhatIsHeldAndACancelGivesItBack(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"batch", "tumbling", "sliding", "session", "keyed", "throttle"} {
		for how, end := range map[string]func(*pipeline.Run){"drain": (*pipeline.Run).Drain, "cancel": (*pipeline.Run).Cancel} {
			synctest.Test(t, func(t *testing.T) {
				ends, waits := newOutcomes(), sourceFunc(func(ctx context.Context, _ pipeline.Emitter) error { <-ctx.Done(); return nil })
				var sink collected
				stage, err := long[typ](options{4}, nil)
				if err != nil {
					t.Fatal(err)
				}
				run := build().add("numbers", count{3, ends.add}).add("waits", waits).add("operator", stage).add("sink", &sink).
					chain("numbers", "operator", "sink").chain("waits", "operator").started(t)
				synctest.Wait()
				end(run)
				if _, err := run.Wait(); (err != nil) != (how == "cancel") {
					t.Errorf("%s, %s: the run ended with %v", typ, how, err)
				}
				time.Sleep(3 * time.Hour)
				ends.mustEndOnce(t, 3)
				for i, all := range ends.all {
					if typ != "throttle" && (all[0].Err != nil) != (how == "cancel") {
						t.Errorf("%s, %s: lease %d ended with %v", typ, how, i, all[0].Err)
					}
				}
				if n := strings.Count(fmt.Sprint(sink.values), "2"); how == "drain" && n == 0 {
					t.Errorf("%s: a drain gives out %v", typ, sink.values)
				}
			})
		}
	}
}

// long are those that hold items for an hour.
var long = map[string]func(options, *pipeline.Env) (any, error){
	"batch":    func(options, *pipeline.Env) (any, error) { return gostreams.Batch(4, time.Hour), nil },
	"tumbling": func(options, *pipeline.Env) (any, error) { return gostreams.Tumbling(time.Hour), nil },
	"sliding":  func(options, *pipeline.Env) (any, error) { return gostreams.Sliding(3*time.Hour, time.Hour), nil },
	"session":  func(options, *pipeline.Env) (any, error) { return gostreams.Session(time.Hour), nil },
	"keyed":    made["keyed"],
	"throttle": func(options, *pipeline.Env) (any, error) { return gostreams.Throttle(1, time.Hour), nil },
}

// TestAReloadChangesAnOperatorOverItems replaces operators while items flow, and none is lost.
func TestAReloadChangesAnOperatorOverItems(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"map", "filter", "batch", "tumbling", "sliding", "session", "throttle", "keyed"} {
		synctest.Test(t, func(t *testing.T) {
			var sink collected
			ends, given := newOutcomes(), 0
			source := sourceFunc(func(ctx context.Context, out pipeline.Emitter) error {
				for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
					i := given
					if err := out.Emit(ctx, pipeline.NewItem(i, func(o pipeline.Outcome) { ends.add(i, o) })); err != nil {
						return err
					}
					given++
				}
				return nil
			})
			graph := func(i int) graphOf {
				stage, err := made[typ](options{1}, &pipeline.Env{Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				return build().add("source", source).add("operator", stage).with(i).add("sink", &sink).chain("source", "operator", "sink")
			}
			run := graph(0).started(t)
			for i := range 20 {
				time.Sleep(10 * time.Millisecond)
				mustReload(t, run, graph(i+1))
			}
			mustEnd(t, run)
			ends.mustEndOnce(t, given)
			came := make(map[int]bool)
			for _, v := range sink.values {
				if n, single := v.(int); single {
					came[n] = true
				} else {
					for _, n := range v.(pipeline.List) {
						came[n.(int)] = true
					}
				}
			}
			if given < 100 || len(came) != given {
				t.Errorf("%s: of %d items came %d", typ, given, len(came))
			}
			time.Sleep(time.Minute) // what was thrown away ends
		})
	}
}

// TestWhatAQueueWaitsForIsGivenOutEarly has an operator hold all that a queue lends.
func TestWhatAQueueWaitsForIsGivenOutEarly(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"batch", "tumbling", "sliding", "session"} {
		synctest.Test(t, func(t *testing.T) {
			stage, _ := long[typ](options{}, nil)
			ends, source := newOutcomes(), sourceFunc(func(ctx context.Context, _ pipeline.Emitter) error { <-ctx.Done(); return nil })
			var sink collected
			run := build().add("numbers", count{2, ends.add}).add("source", source).add("operator", stage).add("sink", &sink).
				chain("numbers", "operator", "sink").chain("source", "operator").started(t)
			synctest.Wait()
			stage.(pipeline.EarlyReleaser).Hurry()
			synctest.Wait()
			ends.mustEndOnce(t, 2)
			stage.(pipeline.EarlyReleaser).Hurry() // it holds nothing
			mustEnd(t, run)
			if got := fmt.Sprint(sink.values); got != "[[0 1]]" {
				t.Errorf("%s: lists %v", typ, got)
			}
		})
	}
}

func TestAnOperatorThatGivesOutWhatItWasNotGivenEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*pipeline.Item) any{
		"a value":        func(it *pipeline.Item) any { return it.Value },
		"another item":   func(it *pipeline.Item) any { return it.With(1) },
		"in a list":      func(it *pipeline.Item) any { return []*pipeline.Item{it, it.With(1)} },
		"one item twice": func(it *pipeline.Item) any { return []*pipeline.Item{it, it} },
	} {
		wrong := gostreams.Items(func() streams.Flow { return flow.NewMap(f, 1) })
		ends := newOutcomes()
		_, err := build().add("numbers", count{3, ends.add}).add("wrong", wrong).add("sink", new(collected)).chain("numbers", "wrong", "sink").
			g.Run(t.Context(), pipeline.RunOptions{})
		if err == nil || !strings.Contains(err.Error(), "stage wrong: the go-streams operator gave out") {
			t.Errorf("%s: the run ended with %v", name, err)
		}
		for i, all := range ends.all {
			if len(all) != 1 || all[0].Err == nil {
				t.Errorf("%s: lease %d ended as %v", name, i, all)
			}
		}
	}
}

// TestAnErrorOfAnOperatorThatHurriesEndsTheRun has an operator give out what it was not given when it is to hurry: the
// error must not be forgotten when another operator takes its place, nor the lease end well.
func TestAnErrorOfAnOperatorThatHurriesEndsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wrong := gostreams.Items(func() streams.Flow {
			return gostreams.Chain(flow.NewBatch[*pipeline.Item](4, time.Hour), flow.NewMap(func([]*pipeline.Item) any { return "wrong" }, 1))
		})
		ends, source := newOutcomes(), sourceFunc(func(ctx context.Context, _ pipeline.Emitter) error { <-ctx.Done(); return nil })
		run := build().add("numbers", count{2, ends.add}).add("source", source).add("wrong", wrong).add("sink", new(collected)).
			chain("numbers", "wrong", "sink").chain("source", "wrong").started(t)
		synctest.Wait()
		wrong.(pipeline.EarlyReleaser).Hurry()
		if _, err := run.Wait(); err == nil || !strings.Contains(err.Error(), "stage wrong: the go-streams operator gave out string") {
			t.Errorf("the run ended with %v", err)
		}
		for i, all := range ends.all {
			if len(all) != 1 || all[0].Err == nil {
				t.Errorf("lease %d ended as %v", i, all)
			}
		}
		time.Sleep(2 * time.Hour) // what was thrown away ends
	})
}

func TestRegisterRefusesAnOperatorThatIsAtWorkAlready(t *testing.T) {
	t.Parallel()
	r := pipeline.NewRegistry()
	gostreams.RegisterIn(r, pipeline.Spec{Type: "once", Summary: "is made once", In: pipeline.Kinds(pipeline.KindOf[any]())}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) {
			return flow.NewReduce(func(a, _ any) any { return a }), nil
		})
	g := r.NewGraph("test")
	g.Add("once", nil)
	if _, err := g.Start(t.Context(), pipeline.RunOptions{}); err == nil || !strings.Contains(err.Error(), "is at work already: return the function that makes it") {
		t.Errorf("the run began with %v", err)
	}
}
