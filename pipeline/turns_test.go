package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// lastDigit is a key of numbers.
type lastDigit struct{ wrong int }

func (k lastDigit) Of(it *Item) (string, error) {
	n := it.Value.(int)
	if k.wrong > 0 && n%k.wrong == 0 {
		return "", errors.New("no key")
	}
	return fmt.Sprint(n % 10), nil
}
func (lastDigit) Parts() []Part           { return NoParts }
func (lastDigit) CheckNames([]Kind) error { return nil }

// keyed is a stage of several workers that notes whether it is called as it must be.
type keyed struct {
	mu    sync.Mutex
	last  map[int]int // by key
	busy  [10]atomic.Bool
	wrong atomic.Int32
}

func (k *keyed) Process(ctx context.Context, it *Item, out Emitter) error {
	n := it.Value.(int)
	if !k.busy[n%10].CompareAndSwap(false, true) {
		k.wrong.Add(1)
	}
	defer k.busy[n%10].Store(false)
	for range rand.IntN(20) {
		runtime.Gosched()
	}
	if rand.IntN(50) == 0 {
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond) // so that others might overtake it
	}
	k.mu.Lock()
	if before, some := k.last[n%10]; some && before >= n {
		k.wrong.Add(1)
	}
	k.last[n%10] = n
	k.mu.Unlock()
	return out.Emit(ctx, it)
}

func (b graphOf) key(name string, key WorkersKey) graphOf {
	b.g.stage(name).WorkersKey = key
	return b
}

// However many workers, and however long an item takes: those of a key are worked on one after the other, in their
// order, and leave in it.
func TestEqualKeysStayInOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []Common{{Workers: 2, Buffer: 1}, {Workers: 8, Buffer: 2}, {Workers: 8, Buffer: 64}, {Workers: 32}} {
		t.Run(fmt.Sprintf("%d workers, buffer %d", c.Workers, c.Buffer), func(t *testing.T) {
			t.Parallel()
			const n = 5000
			stage, ends, behind := &keyed{last: map[int]int{}}, newOutcomes(), &collected{}
			mustRun(t, build().add("numbers", count{n, ends.add}).add("keyed", stage, c).add("sink", behind).
				chain("numbers", "keyed", "sink").key("keyed", lastDigit{}), RunOptions{})
			ends.mustEndOnce(t, n)
			if stage.wrong.Load() > 0 || len(behind.values) != n {
				t.Errorf("%d calls out of order, %d of %d came out", stage.wrong.Load(), len(behind.values), n)
			}
			last := map[int]int{}
			for _, v := range behind.values {
				i := v.(int)
				if before, some := last[i%10]; some && before >= i {
					t.Fatalf("%d left behind %d", i, before)
				}
				last[i%10] = i
			}
		})
	}
}

// A key that takes long does not hold up others, as long as there is room for those that wait.
func TestOtherKeysOvertake(t *testing.T) {
	t.Parallel()
	others := make(chan struct{})
	var n atomic.Int32
	stage := process(func(_ context.Context, it *Item, _ Emitter) error {
		switch i := it.Value.(int); {
		case i == 0:
			<-others // ends when all other keys have been worked on
		case i%10 != 0 && n.Add(1) == 9:
			close(others)
		}
		return nil
	})
	mustRun(t, build().add("numbers", count{n: 12}).add("keyed", stage, Common{Workers: 2}).chain("numbers", "keyed").key("keyed", lastDigit{}), RunOptions{})
}

// An item without a key fails by itself, and those of a run that is cancelled all end.
func TestItemsWithoutAKeyFailAndACancelledRunEnds(t *testing.T) {
	t.Parallel()
	ends, store := newOutcomes(), &letters{}
	report := mustRun(t, build().add("numbers", count{100, ends.add}).add("keyed", &keyed{last: map[int]int{}}, Common{Workers: 4}).
		add("sink", &collected{}).chain("numbers", "keyed", "sink").key("keyed", lastDigit{wrong: 5}), RunOptions{DeadLetters: store})
	ends.mustEndOnce(t, 100)
	if report.Stages["keyed"].Errors != 20 || len(store.kept) != 20 || !strings.Contains(store.kept[0].Errors[0], "no key") {
		t.Errorf("%d failed: %v", report.Stages["keyed"].Errors, store.kept)
	}
	ends = newOutcomes()
	stuck := process(func(ctx context.Context, _ *Item, _ Emitter) error { <-ctx.Done(); return ctx.Err() })
	run, err := build().add("numbers", count{10, ends.add}).add("keyed", stuck, Common{Workers: 2, Buffer: 4}).
		chain("numbers", "keyed").key("keyed", sameKey{}).g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for run.Snapshot().Stages["keyed"].In == 0 {
		runtime.Gosched()
	}
	run.Cancel()
	<-run.Done()
}

type sameKey struct{ lastDigit }

func (sameKey) Of(*Item) (string, error) { return "", nil }

// Lint refuses a key where there is nothing to keep in order.
func TestAKeyWithoutWorkersIsRefused(t *testing.T) {
	t.Parallel()
	for workers, want := range map[int]string{1: "set workers", 2: ""} {
		g := NewGraph("test")
		g.AddStage("source", Spec{Type: "source", Out: []Port{{Kind: KindOf[int]()}}}, func(*Env) (any, error) { return count{n: 1}, nil })
		s := g.AddStage("keyed", Spec{Type: "keyed", In: Kinds(KindOf[int]())}, func(*Env) (any, error) { return &collected{}, nil })
		s.Common.Workers, s.WorkersKey = workers, lastDigit{}
		g.Connect("source", "", "keyed")
		if err := g.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}
