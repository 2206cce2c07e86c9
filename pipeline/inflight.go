package pipeline

import (
	"context"
	"sync/atomic"

	"github.com/webrace/webrace/internal/broadcast"
)

// inFlight counts what goes on, and lets others wait until nothing does. Unlike a [sync.WaitGroup] it may grow
// again while a caller waits.
type inFlight struct {
	n        atomic.Int64
	watchers atomic.Int64
	none     broadcast.Cond // n has become 0
}

func (t *inFlight) add() { t.n.Add(1) }

func (t *inFlight) done() {
	if t.n.Add(-1) == 0 && t.watchers.Load() > 0 {
		t.none.Broadcast()
	}
}

func (t *inFlight) isZero() bool { return t.n.Load() == 0 }

// wait returns nil at a moment when nothing went on, or the context's error.
func (t *inFlight) wait(ctx context.Context) error {
	t.watchers.Add(1)
	defer t.watchers.Add(-1)
	for {
		none := t.none.Next() // before looking, so that nothing slips in between
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
