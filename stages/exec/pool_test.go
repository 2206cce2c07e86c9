package exec

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// opened returns a stage at work, outside a run.
func opened(t *testing.T, o Options) *stage {
	t.Helper()
	impl, err := newStage(o, pipeline.NewEnv("p", "shout", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := impl.(*stage)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// gathered keeps the texts that a stage emits.
type gathered struct{ texts chan string }

func (g gathered) Emit(_ context.Context, it *pipeline.Item) error {
	g.texts <- it.Value.(string)
	return nil
}
func (g gathered) EmitTo(ctx context.Context, _ string, it *pipeline.Item) error {
	return g.Emit(ctx, it)
}

// TestNoItemWaitsForOneThatIsSlow has a process hold an item until all the others have come through: none of them may
// have been given to that process.
func TestNoItemWaitsForOneThatIsSlow(t *testing.T) {
	t.Parallel()
	const others = 60
	s := opened(t, options("work", func(o *Options) { o.Processes, o.InFlight = 3, 1 }))
	told := filepath.Join(t.TempDir(), "told")
	work, out := make(chan string), gathered{make(chan string, others+1)}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for text := range work {
				if err := s.Process(t.Context(), &pipeline.Item{Value: text}, out); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work <- "hold " + told
	for i := range others {
		work <- fmt.Sprint(i)
	}
	for range others {
		if text := <-out.texts; strings.HasPrefix(text, "hold") {
			t.Fatalf("%q came through before it was told to, or has failed", text)
		}
	}
	if err := os.WriteFile(told, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	close(work)
	workers.Wait()
	if text := <-out.texts; text != "hold "+told {
		t.Errorf("%q came last", text)
	}
}

// A program that has worked, and cannot be started any more, is tried less and less often.
func TestThePauseDoublesAlsoAfterAProgramThatHasWorked(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Skip(err)
	}
	s := opened(t, options("work", func(o *Options) { o.Command = []string{program} }))
	process := func(text string) error {
		return s.Process(t.Context(), &pipeline.Item{Value: text}, gathered{make(chan string, 1)})
	}
	if err := process("a"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := process("crash"); err == nil || !strings.Contains(err.Error(), "no such file") {
			t.Errorf("without a program item %d ends with %v", i, err)
		}
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if sl := s.pool.slots[0]; sl.pause < 4*firstPause {
		t.Errorf("after %d failures the pause is %v", sl.failures, sl.pause)
	}
}

// TestTheProcessWithTheFewestItemsGetsTheNext counts what a pool lends.
func TestTheProcessWithTheFewestItemsGetsTheNext(t *testing.T) {
	t.Parallel()
	s := opened(t, options("work", func(o *Options) { o.Processes, o.InFlight = 3, 4 }))
	var lent []*waiter
	take := func() *slot {
		w := newWaiter()
		if _, err := s.pool.take(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		lent = append(lent, w)
		return w.slot
	}
	of := make(map[*slot]int)
	for range 12 {
		of[take()]++
	}
	for _, n := range of {
		if n != 4 {
			t.Errorf("12 items are shared as %v", of)
		}
	}
	freed := lent[5].slot
	for i, of := 0, 2; of > 0; i++ {
		if lent[i].slot == freed {
			s.pool.give(lent[i])
			of--
		}
	}
	if sl := take(); sl != freed {
		t.Error("another than the one that had room was lent")
	}
	for _, w := range lent {
		s.pool.give(w) // for those that were given back it does nothing
	}
}

// TestAnItemHasItsProcessForItself holds that an item that is repeated comes to a process that has no other, and that
// none comes to it then, however many want one.
func TestAnItemHasItsProcessForItself(t *testing.T) {
	t.Parallel()
	s := opened(t, options("work", func(o *Options) { o.Processes, o.InFlight = 2, 4 }))
	var items sync.WaitGroup
	var mu sync.Mutex
	has := make(map[*slot]int)
	for i := range 400 {
		items.Go(func() {
			alone := i%5 == 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%7 == 0 { // it may give up at any moment
				go cancel()
			}
			w := newWaiter()
			defer s.pool.give(w)
			if _, err := s.pool.take(ctx, w); err != nil {
				return
			}
			if alone { // it was lost there
				lost := w.slot
				w.suspected = i%2 == 0
				if _, err := s.pool.take(ctx, w); err != nil {
					return
				}
				if w.slot != lost {
					t.Error("an item that was lost is repeated in another process, which lives, than the one in the place of its own")
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if has[w.slot]++; alone && has[w.slot] > 1 {
				t.Errorf("an item that is to be alone has %d others beside it", has[w.slot]-1)
			}
			if has[w.slot] > 4 {
				t.Errorf("%d items in flight", has[w.slot])
			}
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			has[w.slot]--
			s.pool.give(w)
		})
	}
	items.Wait()
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	for _, sl := range s.pool.slots {
		if sl.items != 0 || sl.alone || sl.expected != 0 || len(s.pool.waiting) > 0 {
			t.Errorf("when all is done, a slot is left with %d items, alone %t, expected by %d", sl.items, sl.alone, sl.expected)
		}
	}
}

func TestAnItemThatIsFatalFailsAloneAmongSeveralProcesses(t *testing.T) {
	t.Parallel()
	got, failures, err := together(t, options("work", func(o *Options) { o.Processes, o.InFlight = 3, 4 }), "crash")
	if len(got) != 20 || len(failures) != 1 || err != nil {
		t.Errorf("of 20 others %d came through; failures %q, %v", len(got), failures, err)
	}
}

// TestRunsOfAProcessShareAProgram has three runs of a pipeline in one process, as a node of a cluster has them: the
// program is started once, works for all, and ends with the last.
func TestRunsOfAProcessShareAProgram(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	o := options("work", func(o *Options) { o.On = []string{script(t, "noted", `echo started >>`+starts+`; exec "$@"`)} })
	together, begun := new(pipeline.Together), make(chan struct{})
	var runs []*pipeline.Run
	for n := range 3 {
		g := pipeline.NewGraph("p")
		g.AddStage("texts", pipeline.Spec{Type: "texts", Out: []pipeline.Port{{Kind: pipeline.KindOf[string]()}}}, func(*pipeline.Env) (any, error) {
			return many{10 * (n + 1), begun}, nil
		})
		g.AddType("work", "exec", o)
		g.Wire("texts > work")
		run, err := g.Start(t.Context(), pipeline.RunOptions{Together: together})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	close(begun)
	for n, run := range runs {
		report, err := run.Wait()
		if err != nil || report.Stages["work"].In != int64(10*(n+1)) {
			t.Errorf("run %d: %v, %+v", n, err, report.Stages["work"])
		}
	}
	if started, err := os.ReadFile(starts); err != nil || string(started) != "started\n" {
		t.Errorf("the program was %q, %v", started, err)
	}
}

// many is a source of so many texts, once all runs have begun: none ends before.
type many struct {
	texts int
	begun <-chan struct{}
}

func (m many) Run(ctx context.Context, out pipeline.Emitter) error {
	<-m.begun
	for range m.texts {
		if err := out.Emit(ctx, &pipeline.Item{Value: "say place"}); err != nil {
			return err
		}
	}
	return nil
}
