package loadingcache

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestACacheStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New[int](10).(*cache[int])
		load := func(n, cost int, keep time.Duration) func(context.Context) (Loaded[int], error) {
			return func(context.Context) (Loaded[int], error) {
				return Loaded[int]{n, keep, cost}, nil
			}
		}
		for i := range 100 {
			cost := i%4 + 1
			if got, err := c.Get(t.Context(), fmt.Sprint(i), load(i, cost, time.Hour)); got != i || err != nil {
				t.Fatalf("got %d, %v", got, err)
			}
			spent := 0
			for _, key := range c.kept.Keys() {
				e, _ := c.kept.Peek(key)
				spent += e.loaded.Cost
			}
			if c.spent > c.budget || c.spent != spent {
				t.Fatalf("spent %d, counted as %d", spent, c.spent)
			}
			if _, kept := c.kept.Peek(fmt.Sprint(i)); !kept {
				t.Fatalf("%d was not remembered", i)
			}
		}
		for _, key := range []string{"x", "y", "x", "z"} { // what was asked for longest ago goes first
			if _, err := c.Get(t.Context(), key, load(1, 5, time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if keys := c.kept.Keys(); fmt.Sprint(keys) != "[x z]" || c.spent != 10 {
			t.Errorf("%v are remembered, spent %d", keys, c.spent)
		}
		time.Sleep(2 * time.Hour)
		if got, err := c.Get(t.Context(), "x", load(2, 7, time.Hour)); got != 2 || err != nil || c.spent != 7 {
			t.Errorf("what has run out is loaded again: got %d, %v, spent %d", got, err, c.spent)
		}
	})
}

// TestACacheTakesNoMoreTimeOnceItIsFull counts what is looked at: an insertion into a full cache takes out one entry.
func TestACacheTakesNoMoreTimeOnceItIsFull(t *testing.T) {
	t.Parallel()
	const budget = 1000
	c := New[int](budget).(*cache[int])
	for i := range 3 * budget {
		before := c.kept.Len()
		if _, err := c.Get(t.Context(), fmt.Sprint(i), func(context.Context) (Loaded[int], error) {
			return Loaded[int]{i, time.Hour, 1}, nil
		}); err != nil {
			t.Fatal(err)
		}
		_, oldest := c.kept.Peek(fmt.Sprint(i - budget))
		if want := min(before+1, budget); c.kept.Len() != want || oldest {
			t.Fatalf("%d entries after %d insertions, want %d; the oldest is kept: %t", c.kept.Len(), i+1, want, oldest)
		}
	}
}

// BenchmarkCache asks for ever other keys: 100,000 beyond those that there is room for cost as much each as the first.
func BenchmarkCache(b *testing.B) {
	for _, hosts := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			c := New[int](10_000)
			insert := func(i int) {
				c.Get(b.Context(), strconv.Itoa(i), func(context.Context) (Loaded[int], error) {
					return Loaded[int]{i, time.Hour, 1}, nil
				})
			}
			for i := range hosts {
				insert(i)
			}
			i := hosts
			for b.Loop() {
				insert(i)
				i++
			}
		})
	}
}

func TestACacheSharesFailuresAndForgetsThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New[int](10).(*cache[int])
		failure := errors.New("failure")
		var loads atomic.Int64
		gate := make(chan struct{})
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				_, err := c.Get(t.Context(), "k", func(context.Context) (Loaded[int], error) {
					loads.Add(1)
					<-gate
					return Loaded[int]{}, failure
				})
				if !errors.Is(err, failure) {
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		if loads.Load() != 1 || len(c.loading)+c.kept.Len() != 0 {
			t.Errorf("%d loads, %d entries", loads.Load(), len(c.loading)+c.kept.Len())
		}
	})
}

// TestACacheLoadsForThoseWhoStay: when the one who loads goes away, or panics, another takes over.
func TestACacheLoadsForThoseWhoStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, leave := range map[string]func(context.Context){
			"goes away": func(ctx context.Context) { <-ctx.Done() },
			"panics":    func(ctx context.Context) { <-ctx.Done(); panic("on purpose") },
		} {
			c := New[int](10)
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() {
				defer func() { _ = recover() }()
				_, err := c.Get(ctx, "k", func(ctx context.Context) (Loaded[int], error) {
					leave(ctx)
					return Loaded[int]{Value: 1, Keep: time.Hour}, nil
				})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
			})
			synctest.Wait()
			all.Go(func() {
				got, err := c.Get(t.Context(), "k", func(context.Context) (Loaded[int], error) {
					return Loaded[int]{Value: 2, Keep: time.Hour}, nil
				})
				if got != 2 || err != nil {
					t.Errorf("%s: got %d, %v", name, got, err)
				}
			})
			synctest.Wait()
			cancel()
			all.Wait()
		}
	})
}
