package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// groups records the sizes of the groups it is given, and when.
type groups struct {
	mu    sync.Mutex
	sizes []int
	at    []time.Time
	err   error
	emit  bool
}

func (g *groups) ProcessBatch(ctx context.Context, its []*Item, out Emitter) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sizes = append(g.sizes, len(its))
	g.at = append(g.at, time.Now())
	if g.emit {
		return out.Emit(ctx, &Item{Value: len(its)})
	}
	return g.err
}

func TestGroupsAreFullButTheLast(t *testing.T) {
	ends, g := newOutcomes(), &groups{}
	mustRun(t, build().add("numbers", count{25, ends.add}).
		add("group", g, Common{Batch: Batch{Count: 10, Period: Duration(time.Hour)}}).chain("numbers", "group"), RunOptions{})
	if len(g.sizes) != 3 || g.sizes[0] != 10 || g.sizes[2] != 5 {
		t.Errorf("groups of %v", g.sizes)
	}
	ends.mustEndOnce(t, 25)
}

func TestGroupWaitsNoLongerThanItsPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, g := time.Now(), &groups{}
		trickle := sourceFunc(func(ctx context.Context, out Emitter) error {
			for range 4 {
				if err := out.Emit(ctx, &Item{Value: 1}); err != nil {
					return err
				}
				time.Sleep(400 * time.Millisecond)
			}
			return nil
		})
		_, err := build().add("trickle", trickle).
			add("group", g, Common{Batch: Batch{Count: 10, Period: Duration(time.Second)}}).chain("trickle", "group").
			g.Run(t.Context(), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// items at 0, 400, 800 | 1200: a timer of idleness would have put them all together
		if len(g.sizes) != 2 || g.sizes[0] != 3 || g.at[0].Sub(start) != time.Second {
			t.Errorf("groups of %v after %v", g.sizes, g.at[0].Sub(start))
		}
	})
}

func TestWhatAGroupEmitsHoldsAllItsLeases(t *testing.T) {
	ends, hold := newOutcomes(), make(chan func(error), 1)
	holder := process(func(_ context.Context, it *Item, _ Emitter) error {
		it.Learn("stored")
		hold <- it.Hold()
		return nil
	})
	run, err := build().add("numbers", count{3, ends.add}).
		add("group", &groups{emit: true}, Common{Batch: Batch{Count: 3, Period: Duration(time.Hour)}}).add("holder", holder).
		chain("numbers", "group", "holder").g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	release := <-hold
	_ = run.routines.wait(context.Background())
	ends.mu.Lock()
	if len(ends.all) != 0 {
		t.Error("a lease of the group ended before what came of it")
	}
	ends.mu.Unlock()
	release(nil)
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	ends.mustEndOnce(t, 3)
	for i := range 3 {
		if o := ends.all[i][0]; len(o.Learned) != 1 {
			t.Errorf("lease %d learned %v", i, o.Learned)
		}
	}
}

func TestFailedGroupIsDealtWithItemByItem(t *testing.T) {
	ends, store := newOutcomes(), &letters{}
	mustRun(t, build().add("numbers", count{3, ends.add}).add("group", &groups{err: errBroken}).chain("numbers", "group"),
		RunOptions{DeadLetters: store})
	ends.mustEndOnce(t, 3)
	if len(store.kept) != 3 {
		t.Errorf("%d dead letters, want 3", len(store.kept))
	}
}

func TestHostileValuesFillGroupsByTheirBytes(t *testing.T) {
	g := &groups{}
	sizes := []int{10, 10, 10, 100, 1, 1, 1000, 1000, 30}
	source := sourceFunc(func(ctx context.Context, out Emitter) error {
		for _, size := range sizes {
			if err := out.Emit(ctx, &Item{Value: make([]byte, size<<10)}); err != nil {
				return err
			}
		}
		return nil
	})
	mustRun(t, build().add("sizes", source).
		add("group", g, Common{Batch: Batch{Count: 10, Bytes: 30 << 10, Period: Duration(time.Hour)}}).chain("sizes", "group"), RunOptions{})
	if want := []int{3, 1, 3, 1, 1}; !slices.Equal(g.sizes, want) {
		t.Errorf("groups of %v, want %v", g.sizes, want)
	}
}

// someFail fails on the odd items of its group, as long as there are several of them or it is not to mend.
type someFail struct{ mends bool }

func (s someFail) ProcessBatch(_ context.Context, its []*Item, _ Emitter) error {
	if s.mends && len(its) == 1 {
		return nil
	}
	some := &GroupError{Errs: make([]error, len(its))}
	for i, it := range its {
		if n := it.Value.(int); n%2 == 1 {
			some.Errs[i] = fmt.Errorf("%d is odd", n)
		}
	}
	return some
}

// Of a group, only those items fail that the stage names, each by its own error; the others are done.
func TestAGroupMayFailItemByItem(t *testing.T) {
	for name, c := range map[string]struct {
		stage someFail
		on    OnError
		want  int64 // failures
	}{"dead-letter": {on: DeadLetter, want: 5}, "skip": {on: Skip, want: 5}, "retry": {on: RetryFirst, want: 5}, "retry that helps": {someFail{true}, RetryFirst, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ends, dead := newOutcomes(), &letters{}
				report := mustRun(t, build().add("numbers", count{10, ends.add}).
					add("group", c.stage, Common{OnError: c.on, Batch: Batch{Count: 10, Period: Duration(time.Hour)}}).chain("numbers", "group"), RunOptions{DeadLetters: dead})
				ends.mustEndOnce(t, 10)
				if got := report.Stages["group"].Errors; got != c.want {
					t.Errorf("%d failed, want %d", got, c.want)
				}
				for _, letter := range dead.kept {
					if want := string(letter.Value) + " is odd"; letter.Errors[0] != want {
						t.Errorf("a letter says %q, want %q", letter.Errors[0], want)
					}
				}
			})
		})
	}
}
