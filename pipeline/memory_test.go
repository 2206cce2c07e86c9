package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// needing adds a stage that takes memory for each item before it passes it on, and gives some of it back.
func (b graphOf) needing(name string, workers int, bytes func() int) graphOf {
	b.add(name, nil, Common{Workers: workers})
	b.g.Stages[len(b.g.Stages)-1].Make = func(env *Env) (any, error) {
		return process(func(ctx context.Context, it *Item, out Emitter) error {
			n := bytes()
			if err := env.Reserve(ctx, it, n); err != nil {
				return err
			}
			time.Sleep(time.Microsecond) // so that others ask while this one has it
			if err := env.Reserve(ctx, it, -n/3); err != nil {
				return err
			}
			return out.Emit(ctx, it)
		}), nil
	}
	return b
}

func TestNoLeaseWaitsForEverForMemory(t *testing.T) {
	t.Parallel()
	const items, budget = 300, 10_000
	for _, largest := range []int{100, budget / 2, 3 * budget} {
		ends := newOutcomes()
		var most atomic.Int64
		memory := NewMemory(budget)
		need := func() int {
			for used, m := memory.used.Load(), most.Load(); used > m && !most.CompareAndSwap(m, used); m = most.Load() {
			}
			return 1 + rand.IntN(largest)
		}
		var got collected
		mustRun(t, build().add("numbers", count{items, ends.add}).needing("a", 8, need).needing("b", 3, need).needing("c", 1, need).
			add("sink", &got).chain("numbers", "a", "b", "c", "sink"), RunOptions{Memory: memory})
		ends.mustEndOnce(t, items)
		if len(got.values) != items {
			t.Errorf("%d items of %d came through", len(got.values), items)
		}
		if s := memory.State(); s.Used != 0 || s.Waiting != 0 || len(memory.beyond) != 0 {
			t.Errorf("in the end %+v, and %d leases beyond it", s, len(memory.beyond))
		}
		if limit := int64(budget + 4*3*largest); most.Load() > limit { // one lease of each stage, with what it took at all three
			t.Errorf("needing up to %d, %d bytes were taken of %d", largest, most.Load(), budget)
		}
	}
}

func TestKeptItemsAreLetGoForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items, fit = 1000, 50
		for name, keeper := range map[string]any{"keeper": newHoard(items), "group": sizes{}} {
			if h, ok := keeper.(*hoard); ok {
				h.wake = make(chan struct{}, 1) // of the bubble
			}
			memory := NewMemory(fit * int64(weight(0)))
			ends := newOutcomes()
			var got collected
			began := time.Now()
			mustRun(t, build().add("numbers", count{items, ends.add}).add("keep", keeper, Common{Batch: Batch{Count: items, Period: Duration(time.Hour)}}).
				add("sink", &got).chain("numbers", "keep", "sink"), RunOptions{Memory: memory})
			ends.mustEndOnce(t, items)
			sum := 0
			for _, size := range got.values {
				if size.(int) > fit {
					t.Errorf("%s: %d items at once, where %d fit", name, size, fit)
				}
				sum += size.(int)
			}
			if took := time.Since(began); sum != items || took > time.Minute {
				t.Errorf("%s: %d items of %d after %v", name, sum, items, took)
			}
		}
	})
}

func TestWhoGivesUpWaitingTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(100)
		env := &Env{run: &Run{options: RunOptions{Memory: m}}}
		ctx, cancel := context.WithCancel(t.Context())
		first, second, third := NewItem(1, nil), NewItem(2, nil), NewItem(3, nil)
		if err := env.Reserve(ctx, first, 100); err != nil {
			t.Fatal(err)
		}
		gaveUp, served := make(chan error), make(chan error)
		go func() { gaveUp <- env.Reserve(ctx, second, 90) }()
		synctest.Wait()
		go func() { served <- env.Reserve(t.Context(), third, 20) }()
		synctest.Wait()
		if s := m.State(); s.Waiting != 2 || !m.stalled(0) || m.stalled(time.Second) {
			t.Errorf("%+v", s)
		}
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) || second.lease.memory.bytes.Load() != 0 {
			t.Errorf("%v, with %d bytes", err, second.lease.memory.bytes.Load())
		}
		synctest.Wait()
		if err := env.Reserve(t.Context(), first, -30); err != nil {
			t.Fatal(err)
		}
		if err := <-served; err != nil || third.lease.memory.bytes.Load() != 20 || m.State().Used != 90 {
			t.Errorf("%v, with %d bytes; %+v", err, third.lease.memory.bytes.Load(), m.State())
		}
		first.lease.done(nil)
		second.lease.done(nil)
		third.lease.done(nil)
		if s := m.State(); s.Used != 0 || s.Waiting != 0 {
			t.Errorf("in the end %+v", s)
		}
	})
}

func TestAnItemLargerThanTheBudgetPassesAlone(t *testing.T) {
	memory := NewMemory(1)
	var got collected
	mustRun(t, build().add("numbers", count{n: 20}).add("sink", &got).chain("numbers", "sink"), RunOptions{Memory: memory})
	if len(got.values) != 20 || memory.State().Used != 0 {
		t.Errorf("%d items; %+v", len(got.values), memory.State())
	}
}

func BenchmarkReserve(b *testing.B) {
	env := &Env{run: &Run{options: RunOptions{Memory: NewMemory(1 << 30)}}}
	b.RunParallel(func(pb *testing.PB) {
		it := NewItem(1, nil)
		for pb.Next() {
			_ = env.Reserve(b.Context(), it, 100)
			_ = env.Reserve(b.Context(), it, -100)
		}
	})
}
