package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
)

// tally counts what goes on, and lets others wait until nothing does. Unlike a [sync.WaitGroup] it may grow
// again while somebody waits.
type tally struct {
	n        atomic.Int64
	watchers atomic.Int64

	mu   sync.Mutex
	none chan struct{} // closed when n has become 0; nil if nobody waits
}

func (t *tally) add() { t.n.Add(1) }

func (t *tally) done() {
	if t.n.Add(-1) == 0 && t.watchers.Load() > 0 {
		t.tell()
	}
}

func (t *tally) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.none != nil {
		close(t.none)
		t.none = nil
	}
}

func (t *tally) isZero() bool { return t.n.Load() == 0 }

// wait returns nil at a moment when the tally was 0, or the context's error.
func (t *tally) wait(ctx context.Context) error {
	t.watchers.Add(1)
	defer t.watchers.Add(-1)
	for {
		t.mu.Lock()
		if t.none == nil {
			t.none = make(chan struct{})
		}
		none := t.none
		t.mu.Unlock()
		if t.isZero() {
			return nil
		}
		select {
		case <-none:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
