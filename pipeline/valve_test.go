package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ticking emits a number every millisecond.
type ticking struct{}

func (ticking) Run(ctx context.Context, out Emitter) error {
	for i := 0; ; i++ {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil
		}
		if err := out.Emit(ctx, &Item{Value: i}); err != nil {
			return err
		}
	}
}

// endless is a queue that always has something to hand out, a millisecond later.
type endless struct{ taken, ended atomic.Int64 }

func (*endless) Put(context.Context, *Item) error { return nil }
func (*endless) Seal()                            {}
func (q *endless) Take(ctx context.Context) (Lease, error) {
	select {
	case <-time.After(time.Millisecond):
		return endlessLease{q, int(q.taken.Add(1))}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type endlessLease struct {
	q *endless
	n int
}

func (l endlessLease) Item() *Item  { return &Item{Value: l.n} }
func (l endlessLease) Done(Outcome) { l.q.ended.Add(1) }

// fed builds a graph that begins with a producer, which something leads to if it is a queue.
func fed(producer any) graphOf {
	b := build().add("from", producer)
	if _, ok := producer.(Queue); ok {
		b = b.add("nothing", count{}).chain("nothing", "from")
	}
	return b
}

func TestPausedRunHandsOutNothing(t *testing.T) {
	for name, producer := range map[string]any{"source": ticking{}, "queue": new(endless)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var came atomic.Int64
				g := fed(producer).add("to", process(func(context.Context, *Item, Emitter) error {
					came.Add(1)
					time.Sleep(10 * time.Millisecond) // slower than what comes, so that something is always in flight
					return nil
				})).chain("from", "to").g
				run, err := g.Start(t.Context(), RunOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					time.Sleep(time.Second)
					run.Pause()
					run.Pause() // twice is once
					if !run.Paused() {
						t.Fatal("a paused run does not say so")
					}
					if err := run.flight.wait(t.Context()); err != nil {
						t.Fatalf("what was in flight did not end: %v", err)
					}
					synctest.Wait()
					before := came.Load()
					time.Sleep(time.Minute)
					if after := came.Load(); after != before || before == 0 {
						t.Fatalf("%d items came before the pause, and %d in it", before, after-before)
					}
					run.Resume()
					time.Sleep(time.Second)
					if came.Load() == before {
						t.Fatal("nothing comes after the pause")
					}
				}
				run.Drain()
				if _, err := run.Wait(); err != nil {
					t.Fatal(err)
				}
				if q, ok := producer.(*endless); ok && q.taken.Load() != q.ended.Load() {
					t.Errorf("%d leases were taken, and %d ended", q.taken.Load(), q.ended.Load())
				}
			})
		})
	}
}

func TestPausedRunEndsWhenItIsDrainedOrCancelled(t *testing.T) {
	for name, end := range map[string]func(*Run){"drained": (*Run).Drain, "cancelled": (*Run).Cancel} {
		for name2, producer := range map[string]any{"source": ticking{}, "queue": new(endless)} {
			t.Run(name+" "+name2, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := fed(producer).add("to", new(collected)).chain("from", "to").g
					run, err := g.Start(t.Context(), RunOptions{})
					if err != nil {
						t.Fatal(err)
					}
					run.Pause()
					time.Sleep(time.Second)
					end(run)
					if _, err := run.Wait(); (err != nil) != (name == "cancelled") {
						t.Fatal(err)
					}
				})
			})
		}
	}
}

func TestItemOfAPausedSourceThatIsDrainedIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ends := newOutcomes()
		stop := make(chan struct{})
		g := build().add("from", startedBy{stop, count{1, ends.add}}).add("to", new(collected)).chain("from", "to").g
		run, err := g.Start(t.Context(), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run.Pause()
		close(stop)
		synctest.Wait()
		run.Drain()
		if _, err := run.Wait(); err != nil {
			t.Fatal(err)
		}
		ends.mustEndOnce(t, 1)
		if ends.all[0][0].Err == nil {
			t.Error("an item that was never handed out counts as done")
		}
	})
}

// startedBy is a source that begins when a channel is closed.
type startedBy struct {
	start chan struct{}
	Source
}

func (s startedBy) Run(ctx context.Context, out Emitter) error {
	<-s.start
	return s.Source.Run(ctx, out)
}

func TestWhatIsInFlightTellsThatNothingGoesOn(t *testing.T) {
	var flight inFlight
	if err := flight.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	flight.add()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := flight.wait(ended); err == nil {
		t.Fatal("it waits no longer than its context, and says so")
	}
	const rounds = 2000
	turn := make(chan struct{})
	go func() {
		for range rounds {
			<-turn
			flight.add()
			flight.done()
			flight.done()
		}
	}()
	for range rounds { // a missed end would wait for ever
		turn <- struct{}{}
		if err := flight.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		flight.add()
	}
}
