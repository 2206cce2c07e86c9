package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// numbers is a log whose entries are their own sequence numbers, starting at 1.
type numbers struct {
	mu     sync.Mutex
	last   uint64
	cursor uint64
	grown  chan struct{}
}

func (n *numbers) log() Log[uint64] {
	return Log[uint64]{
		Next: func(ctx context.Context, after uint64, limit int) ([]uint64, error) {
			for {
				n.mu.Lock()
				var entries []uint64
				for seq := after + 1; seq <= n.last && len(entries) < limit; seq++ {
					entries = append(entries, seq)
				}
				n.mu.Unlock()
				if len(entries) > 0 {
					return entries, nil
				}
				select {
				case <-n.grown:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
		},
		Last: func(context.Context) (uint64, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.last, nil
		},
		Seq:    func(seq uint64) uint64 { return seq },
		Value:  func(_ context.Context, seq uint64) (any, error) { return int(seq), nil },
		Cursor: func(context.Context) (uint64, error) { return n.cursor, nil },
		SetCursor: func(_ context.Context, seq uint64) error {
			n.cursor = seq
			return nil
		},
	}
}

// follower follows numbers.
type follower struct {
	n   *numbers
	env *Env
}

func (f follower) Run(ctx context.Context, out Emitter) error {
	return Follow(ctx, f.env, f.n.log(), out)
}

func followTo(n *numbers, sink Processor, o RunOptions) error {
	b := build().add("follow", nil).add("sink", sink, Common{Workers: 4}).chain("follow", "sink")
	b.g.Stages[0].Make = func(env *Env) (any, error) { return follower{n, env}, nil }
	_, err := b.g.Run(context.Background(), o)
	return err
}

func TestFollowerReadsOnFromItsCursor(t *testing.T) {
	n := &numbers{last: 1000}
	var sink collected
	for _, last := range []uint64{1000, 1500} {
		n.last = last
		if err := followTo(n, &sink, RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(sink.values) != 1500 || n.cursor != 1500 {
		t.Errorf("%d entries, cursor at %d", len(sink.values), n.cursor)
	}
}

func TestFollowerStaysWhileSomethingFeedsItsLog(t *testing.T) {
	n, upstream := &numbers{grown: make(chan struct{})}, make(chan struct{})
	sink := make(chan any)
	ended := make(chan error, 1)
	go func() {
		ended <- followTo(n, process(func(_ context.Context, it *Item, _ Emitter) error { sink <- it.Value; return nil }), RunOptions{Upstream: upstream})
	}()
	for want := 1; want <= 3; want++ {
		n.mu.Lock()
		n.last++
		n.mu.Unlock()
		n.grown <- struct{}{}
		if got := <-sink; got != want {
			t.Errorf("got %v, want %d", got, want)
		}
	}
	close(upstream)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestCursorNeverPassesAnEntryThatIsNotDone(t *testing.T) {
	n := &numbers{last: 600}
	broken := process(func(_ context.Context, it *Item, _ Emitter) error {
		if it.Value == 300 {
			it.Hold()(errBroken)
		}
		return nil
	})
	if err := followTo(n, broken, RunOptions{}); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if n.cursor >= 300 {
		t.Errorf("the cursor is at %d, although entry 300 failed", n.cursor)
	}
	var sink collected
	if err := followTo(n, &sink, RunOptions{}); err != nil {
		t.Fatal(err)
	}
	seen := make(map[any]bool)
	for _, v := range sink.values {
		seen[v] = true
	}
	for i := 300; i <= 600; i++ {
		if !seen[i] {
			t.Fatalf("entry %d was not read again", i)
		}
	}
}

func TestFollowerSaysWhichEntryItCannotRead(t *testing.T) {
	n := &numbers{last: 3}
	log := n.log()
	log.Value = func(context.Context, uint64) (any, error) { return nil, errBroken }
	err := Follow(t.Context(), NewEnv("p", "s", nil), log, nil)
	if !errors.Is(err, errBroken) || err.Error() != "read entry 1: broken" {
		t.Error(err)
	}
}

// A slow follower, of which something is always open, repeats what it did within a second of a crash, and no
// more.
func TestProgressIsSavedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saved []uint64
		p := NewProgress(0, 256, func(_ context.Context, at uint64) error {
			saved = append(saved, at)
			return nil
		})
		for seq := uint64(1); seq <= 101; seq++ {
			p.Begin(seq)
		}
		for seq := uint64(1); seq <= 100; seq++ {
			time.Sleep(100 * time.Millisecond)
			if err := p.End(t.Context(), seq, true); err != nil {
				t.Fatal(err)
			}
		}
		if want := []uint64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}; !slices.Equal(saved, want) {
			t.Errorf("saved %v, want %v", saved, want)
		}
	})
}
