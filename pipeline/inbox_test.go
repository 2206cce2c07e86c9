package pipeline

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// TestAnInboxIsAQueueWithBounds does at random what can be done without waiting, beside a slice that shows what
// should come of it.
func TestAnInboxIsAQueueWithBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b, into := newInbox(1+rng.IntN(5)), make([]*Item, 1+rng.IntN(4))
		var model []*Item
		for range 200 {
			if rng.IntN(2) == 0 {
				it := new(Item)
				if rng.IntN(8) == 0 {
					it = sealMark
				}
				if room := len(model) < b.cap(); b.offer(it) != room {
					t.Fatalf("seed %d: an item was taken in: %t, with %d of %d there", seed, !room, len(model), b.cap())
				} else if room {
					model = append(model, it)
				}
			} else {
				want := min(len(into), len(model))
				if mark := slices.Index(model[:want], sealMark); mark == 0 {
					want = 1
				} else if mark > 0 {
					want = mark
				}
				n, ended := b.tryTake(into)
				if n != want || !slices.Equal(into[:n], model[:n]) || ended {
					t.Fatalf("seed %d: %d items, ended %t, want the first %d of %v", seed, n, ended, want, model)
				}
				model = model[n:]
			}
			if b.len() != len(model) {
				t.Fatalf("seed %d: it holds %d, want %d", seed, b.len(), len(model))
			}
		}
		b.close()
		for len(model) > 0 {
			model = model[b.take(into):]
		}
		if n, ended := b.tryTake(into); n > 0 || !ended || b.take(into) > 0 {
			t.Fatalf("seed %d: a closed and empty inbox has not ended", seed)
		}
	}
}

// TestNothingIsLostBetweenManyWhoPutAndTake also finds wakes that are lost: then it does not end.
func TestNothingIsLostBetweenManyWhoPutAndTake(t *testing.T) {
	t.Parallel()
	const putters, each = 5, 4000
	for room := 1; room <= 4; room++ {
		b, stop := newInbox(room), make(chan struct{})
		var putting, taking sync.WaitGroup
		var refused, taken atomic.Int64
		for p := range putters {
			putting.Go(func() {
				never := make(chan struct{})
				for i := range each {
					switch it := (&Item{Value: [2]int{p, i}}); {
					case p == 0:
						b.put(it, nil, nil)
					case i%2 == 0 && b.offer(it):
					case !b.put(it, never, stop):
						refused.Add(1)
					}
				}
			})
		}
		for size := range 4 {
			taking.Go(func() {
				last, into := [putters]int{}, make([]*Item, 1+size*3)
				for n := b.take(into); n > 0; n = b.take(into) {
					for _, it := range into[:n] {
						v := it.Value.([2]int)
						if v[1] < last[v[0]] {
							t.Errorf("room %d: %v came after %d", room, v, last[v[0]])
						}
						last[v[0]] = v[1]
					}
					if taken.Add(int64(n)) > putters*each/2 && size == 0 {
						select {
						case <-stop:
						default:
							close(stop) // from here on, most putters do not wait for room
						}
					}
				}
			})
		}
		taking.Go(func() { pollInbox(b, &taken) })
		putting.Wait()
		b.close()
		taking.Wait()
		if got := taken.Load() + refused.Load(); got != putters*each || b.len() != 0 {
			t.Errorf("room %d: %d items of %d were taken or refused, %d are left", room, got, putters*each, b.len())
		}
	}
}

// pollInbox takes as who waits for something else beside.
func pollInbox(b *inbox, taken *atomic.Int64) {
	something := b.enlist()
	defer b.delist()
	for into := make([]*Item, 2); ; {
		n, ended := b.tryTake(into)
		taken.Add(int64(n))
		if ended {
			return
		}
		if n == 0 {
			<-something
		}
	}
}

// calling is a stage that only calls a function.
type calling func()

func (f calling) Process(context.Context, *Item, Emitter) error {
	f()
	return nil
}

func TestAnItemAfterTheEndIsAMistake(t *testing.T) {
	t.Parallel()
	b := newInbox(1)
	b.close()
	defer func() {
		if recover() == nil {
			t.Error("it was taken in")
		}
	}()
	b.offer(new(Item))
}

// TestWhatAWorkerHasTakenIsShownAsWaiting lets a stage that was quick stand still in the middle of what a worker has
// taken.
func TestWhatAWorkerHasTakenIsShownAsWaiting(t *testing.T) {
	t.Parallel()
	const quick, behind = 10 * sampled, 5
	reached, letGo := make(chan struct{}), make(chan struct{})
	var passed int
	stage := calling(func() {
		if passed++; passed == quick+1 {
			close(reached)
			<-letGo
		}
	})
	n := &node{stage: &Stage{}, in: newInbox(quick + 1 + behind), env: &Env{}, ports: map[string]*outlet{}}
	n.run = build().g.newRun(t.Context(), RunOptions{})
	for range quick + 1 + behind {
		n.in.put(&Item{lease: n.newLease(nil)}, nil, nil)
	}
	n.in.close()
	ended := make(chan struct{})
	go func() { defer close(ended); n.work(stage) }()
	<-reached
	in, waiting, busy := int(n.stats.in.Load()), n.waiting(), n.busy.Load()
	if in+waiting != quick+1+behind || waiting < behind || waiting > behind+maxTaken || busy != 1 || !n.holding() {
		t.Errorf("%d were given to the stage, %d wait, %d are in work; want about %d, %d and 1", in, waiting, busy, quick+1, behind)
	}
	close(letGo)
	<-ended
	if n.waiting() != 0 || n.holding() || n.stats.in.Load() != quick+1+behind {
		t.Errorf("%d are still shown as waiting, and %d as given to the stage", n.waiting(), n.stats.in.Load())
	}
}
