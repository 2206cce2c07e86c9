package pending

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
)

func TestWhoeverFindsNoPlaceMakesRoomAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := New(1), 0
		if err := s.Take(t.Context(), func() { t.Error("there was room") }); err != nil {
			t.Fatal(err)
		}
		took := make(chan error)
		go func() { took <- s.Take(t.Context(), func() { asked++ }) }()
		synctest.Wait()
		if asked != 1 {
			t.Errorf("asked to make room %d times", asked)
		}
		s.Free(0) // something left that took no place
		synctest.Wait()
		if asked != 2 {
			t.Errorf("asked %d times when it was in vain", asked)
		}
		s.Free(1)
		if err := <-took; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Take(ctx, func() {}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// TestWhatIsPutWhileSomebodyWaitsLeaves is of a place that is taken, and not yet filled, when another one asks
// for room: there is nothing then that could leave.
func TestWhatIsPutWhileSomebodyWaitsLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, filled := New(1), false
		leave := func() {
			if filled {
				filled = false
				s.Free(1)
			}
		}
		if err := s.Take(t.Context(), leave); err != nil {
			t.Fatal(err)
		}
		took := make(chan error, 1)
		go func() { took <- s.Take(t.Context(), leave) }()
		synctest.Wait()
		filled = true
		s.Put(leave)
		if err := <-took; err != nil {
			t.Error(err)
		}
		s.Put(func() { t.Error("nobody waits") })
	})
}

// clockwork is due at certain times.
type clockwork struct{ at []time.Time }

func (c *clockwork) Due(now time.Time, everything bool) (ready []Item, next time.Time) {
	for len(c.at) > 0 && (everything || !c.at[0].After(now)) {
		ready = append(ready, Item{Value: c.at[0]})
		c.at = c.at[1:]
	}
	if len(c.at) > 0 {
		next = c.at[0]
	}
	return ready, next
}

type emitted func(any) error

func (f emitted) Emit(_ context.Context, it *pipeline.Item) error { return f(it.Value) }
func (f emitted) EmitTo(_ context.Context, _ string, it *pipeline.Item) error {
	return f(it.Value)
}

func TestWhatIsDueIsEmittedInItsTimeAndTheRestAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ended := make(chan struct{})
		time.AfterFunc(5*time.Second, func() { close(ended) })
		var at []time.Duration
		c := &clockwork{[]time.Time{began.Add(time.Second), began.Add(3 * time.Second), began.Add(time.Hour)}}
		err := New(1).Release(t.Context(), ended, emitted(func(any) error { at = append(at, time.Since(began)); return nil }), c)
		if want := []time.Duration{time.Second, 3 * time.Second, 5 * time.Second}; err != nil || !slices.Equal(at, want) {
			t.Errorf("emitted at %v, %v; want %v", at, err, want)
		}
	})
}

func TestAnErrorOfTheEmitterEndsTheRelease(t *testing.T) {
	broken := errors.New("broken")
	c := &clockwork{[]time.Time{time.Now(), time.Now()}}
	if err := New(1).Release(t.Context(), make(chan struct{}), emitted(func(any) error { return broken }), c); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
