package pipeline

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/internal/broadcast"
)

// rationed is a queue that has so many leases out at most.
type rationed struct {
	limit, of int
	from      time.Time // when it tells that it starves

	mu        sync.Mutex
	next, out int
	changed   broadcast.Cond
}

func (q *rationed) Put(context.Context, *Item) error { return nil }
func (q *rationed) Seal()                            {}

func (q *rationed) Take(ctx context.Context) (Lease, error) {
	for {
		changed := q.changed.Next()
		q.mu.Lock()
		switch {
		case q.next == q.of && q.out == 0:
			q.mu.Unlock()
			return nil, io.EOF
		case q.next < q.of && q.out < q.limit:
			q.next++
			q.out++
			q.mu.Unlock()
			return ration{q, q.next}, nil
		}
		q.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *rationed) Starved() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return (q.out == q.limit || q.next == q.of && q.out > 0) && !time.Now().Before(q.from)
}

type ration struct {
	q *rationed
	n int
}

func (l ration) Item() *Item { return &Item{Value: l.n} }

func (l ration) Done(Outcome) {
	l.q.mu.Lock()
	l.q.out--
	l.q.mu.Unlock()
	l.q.changed.Broadcast()
}

// hoard is a keeper that lets go of what it has when it has enough, when it is told to hurry, and at the end.
type hoard struct {
	enough  int
	mu      sync.Mutex
	held    []Held
	hurried int
	all     bool // to let go of, and not of full groups alone
	wake    chan struct{}
}

func newHoard(enough int) *hoard { return &hoard{enough: enough} }

func (h *hoard) Process(_ context.Context, it *Item, _ Emitter) error {
	h.mu.Lock()
	h.held = append(h.held, Keep(it))
	full := len(h.held) >= h.enough
	h.mu.Unlock()
	if full {
		h.ring()
	}
	return nil
}

func (h *hoard) Hurry() {
	h.mu.Lock()
	h.hurried++
	h.all = true
	h.mu.Unlock()
	h.ring()
}

func (h *hoard) ring() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hoard) Release(ctx context.Context, ended <-chan struct{}, out Emitter) error {
	for over := false; !over; {
		select {
		case <-h.wake:
		case <-ended:
			over = true
		case <-ctx.Done():
			return ctx.Err()
		}
		h.mu.Lock()
		n := len(h.held)
		if !h.all && !over {
			n -= n % h.enough
		}
		held := h.held[:n]
		h.held, h.all = slices.Clone(h.held[n:]), false
		h.mu.Unlock()
		for list := range slices.Chunk(held, h.enough) {
			if err := EmitGroup(ctx, out, "", len(list), nil, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizes emits how large the groups are that come.
type sizes struct{}

func (sizes) ProcessBatch(ctx context.Context, its []*Item, out Emitter) error {
	return out.Emit(ctx, &Item{Value: len(its)})
}

// starvingRun runs a queue and what stands behind it, and returns the sizes of what came out, and when.
func starvingRun(t *testing.T, q *rationed, behind ...any) (got []int, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		q.from = began.Add(q.from.Sub(time.Time{}))
		number, out := Kinds(KindOf[int]()), []Port{{Kind: KindOf[int]()}}
		for _, impl := range behind {
			if h, ok := impl.(*hoard); ok {
				h.wake = make(chan struct{}, 1) // of the bubble
			}
		}
		g, flow := NewGraph("test"), "feed > queue"
		g.AddStage("feed", Spec{Type: "feed", Out: out}, func(*Env) (any, error) {
			return sourceOf(func(context.Context, Emitter) error { return nil }), nil
		})
		g.AddStage("queue", Spec{Type: "queue", In: number, Out: out, Queue: true}, func(*Env) (any, error) { return q, nil })
		for i, impl := range behind {
			name := fmt.Sprint("stage", i)
			stage := g.AddStage(name, Spec{Type: name, In: number, Out: out}, func(*Env) (any, error) { return impl, nil })
			stage.Common.Batch = Batch{Count: 100, Period: Duration(time.Hour)}
			flow += " > " + name
		}
		g.AddStage("sink", Spec{Type: "sink", In: number}, func(*Env) (any, error) {
			return sinkOf(func(n int) error { got = append(got, n); return nil }), nil
		})
		g.Wire(flow + " > sink")
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Run(t.Context(), RunOptions{}); err != nil {
			t.Error(err)
		}
		took = time.Since(began)
	})
	return got, took
}

func TestWhatIsKeptGoesOnWhenTheQueueStarves(t *testing.T) {
	for name, c := range map[string]struct {
		limit  int
		behind []any
		want   []int
	}{
		"keeper":       {4, []any{newHoard(100)}, []int{4, 4, 2}},
		"it is full":   {4, []any{newHoard(2)}, []int{2, 2, 2, 2, 2}},
		"group":        {4, []any{sizes{}}, []int{4, 4, 2}},
		"two keepers":  {4, []any{newHoard(2), newHoard(100)}, []int{2, 2, 1}},
		"keeper first": {4, []any{newHoard(100), sizes{}}, []int{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got, took := starvingRun(t, &rationed{limit: c.limit, of: 10}, c.behind...)
			if !slices.Equal(got, c.want) || took > time.Minute {
				t.Errorf("groups of %v after %v, want %v", got, took, c.want)
			}
		})
	}
}

// TestNothingHurriesWhileTheQueueOrAStageIsBusy has the queue report for a while that it does not starve, and then a
// stage work for a while.
func TestNothingHurriesWhileTheQueueOrAStageIsBusy(t *testing.T) {
	first := newHoard(100)
	slow := process(func(ctx context.Context, it *Item, out Emitter) error {
		first.mu.Lock()
		before := first.hurried
		first.mu.Unlock()
		time.Sleep(10 * time.Second) // by the clock of a bubble of synctest
		first.mu.Lock()
		defer first.mu.Unlock()
		if first.hurried != before {
			t.Error("it was told to hurry while a stage worked")
		}
		return out.Emit(ctx, it)
	})
	got, took := starvingRun(t, &rationed{limit: 2, of: 3, from: time.Time{}.Add(time.Minute)}, first, slow)
	if !slices.Equal(got, []int{2, 1}) || took < time.Minute+20*time.Second {
		t.Errorf("groups of %v after %v", got, took)
	}
}

// TestTheNearestKeeperLetsGoFirst keeps what is farther from the queue from going on in pieces.
func TestTheNearestKeeperLetsGoFirst(t *testing.T) {
	near, far := newHoard(100), newHoard(3)
	got, _ := starvingRun(t, &rationed{limit: 1, of: 3}, near, far)
	// A queue with one lease waits for the far keeper as well: the near one goes first each time, and is of no use.
	if !slices.Equal(got, []int{1, 1, 1}) || near.hurried < far.hurried || far.hurried != 3 {
		t.Errorf("groups of %v, told to hurry %d and %d times", got, near.hurried, far.hurried)
	}
}
