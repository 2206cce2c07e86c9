package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Runs of a pipeline that share its work in a process make as many calls of a stage as it has workers, if that is once
// for the process, and have a value in common that is closed once.
func TestRunsOfAProcessHaveWorkersAndValuesInCommon(t *testing.T) {
	for name, c := range map[string]struct {
		together   *Together
		perProcess bool
		most       int32
		made       int32
	}{
		"together":                {new(Together), true, 2, 1},
		"each has its workers":    {new(Together), false, 6, 1},
		"they know not of others": {nil, true, 6, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			text := Kinds(KindOf[string]())
			var now, most, made, closed atomic.Int32
			graph := func() *Graph {
				g := NewGraph("p")
				g.AddStage("source", Spec{Type: "source", Out: []Port{{Kind: text[0]}}}, func(*Env) (any, error) {
					return sourceFunc(func(ctx context.Context, out Emitter) error {
						for range 10 {
							if err := out.Emit(ctx, &Item{Value: "text"}); err != nil {
								return err
							}
						}
						return nil
					}), nil
				})
				g.AddStage("work", Spec{Type: "work", In: text, Workers: 2, PerProcess: c.perProcess}, func(e *Env) (any, error) {
					value, leave := Shared(e, "option", nil, func() *atomic.Int32 { made.Add(1); return &closed })
					return &slow{&now, &most, func() {
						if leave() {
							value.Add(1)
						}
					}}, nil
				})
				g.Wire("source > work")
				return g
			}
			var runs []*Run
			for range 3 {
				run, err := graph().Start(t.Context(), RunOptions{Together: c.together})
				if err != nil {
					t.Fatal(err)
				}
				runs = append(runs, run)
			}
			for _, run := range runs {
				if report, err := run.Wait(); err != nil || report.Stages["work"].In != 10 {
					t.Errorf("%s: %v, %+v", name, err, report.Stages["work"])
				}
			}
			if most.Load() != c.most || made.Load() != c.made || closed.Load() != c.made {
				t.Errorf("%s: %d calls at once, want %d; %d values made, want %d, and %d closed", name, most.Load(), c.most, made.Load(), c.made, closed.Load())
			}
		})
	}
}

// slow is a stage that takes a second for each item, and knows how many calls there are at most.
type slow struct {
	now, most *atomic.Int32
	leave     func()
}

func (s *slow) Process(context.Context, *Item, Emitter) error {
	n := s.now.Add(1)
	for was := s.most.Load(); n > was && !s.most.CompareAndSwap(was, n); was = s.most.Load() {
	}
	time.Sleep(time.Second) // of a clock that does not pass: others are at work meanwhile
	s.now.Add(-1)
	return nil
}

func (s *slow) Close() error { s.leave(); return nil }

// What was made with other options, or of something else, is another value.
func TestValuesAreSharedByThoseWithTheSameOptions(t *testing.T) {
	t.Parallel()
	together := new(Together)
	env := func(stage string) *Env {
		return &Env{Pipeline: "p", Stage: stage, run: &Run{options: RunOptions{Together: together}}}
	}
	made := 0
	get := func(stage string, options, of any) (int, func() bool) {
		return Shared(env(stage), options, of, func() int { made++; return made })
	}
	type options struct{ words []string }
	store, alike := new(int), new(int)
	first, leave := get("a", options{[]string{"x"}}, store)
	for _, c := range []struct {
		stage       string
		options, of any
		same        bool
	}{
		{"a", options{[]string{"x"}}, store, true}, {"a", options{[]string{"y"}}, store, false},
		{"b", options{[]string{"x"}}, store, false}, {"a", options{[]string{"x"}}, alike, false}, {"a", options{[]string{"x"}}, nil, false},
	} {
		v, leave := get(c.stage, c.options, c.of)
		if (v == first) != c.same || leave() == c.same || leave() == c.same {
			t.Errorf("%+v: value %d, the first is %d", c, v, first)
		}
	}
	if !leave() {
		t.Error("the last that has it is not told so")
	}
	if again, _ := get("a", options{[]string{"x"}}, store); again == first {
		t.Error("a value that was closed is given away")
	}
}
