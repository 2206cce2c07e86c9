package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	mostTaps     = 64       // open at once
	mostTapBytes = 16 << 20 // of copies that wait to be looked at
	tapsShare    = 10       // all taps together are a tenth of a processor's,
	tapShare     = 100      // and each a hundredth at most
)

// tapBudget is what all taps of a process may take together, however many there are and whatever their conditions
// cost: items are looked at one at a time, for a share of one processor. The zero value is ready.
type tapBudget struct {
	open     atomic.Int32 // taps
	bytes    atomic.Int64 // that their queues keep
	indebted atomic.Bool  // more was spent than there was, so that nothing is copied for now

	once sync.Once
	turn chan struct{} // holds a token while an item is looked at

	mu    sync.Mutex
	share int // one part in so many of a processor; 0 is tapsShare
	allow allowance
	free  time.Time   // from when on more may be spent
	timer *time.Timer // clears indebted then
}

// enter counts a tap that is opened, unless there are too many.
func (b *tapBudget) enter() bool {
	b.once.Do(func() {
		b.turn = make(chan struct{}, 1)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.allow = newAllowance(1, mostWork, time.Now())
		b.timer = time.AfterFunc(time.Hour, func() { b.indebted.Store(false) })
		b.timer.Stop()
	})
	if b.open.Add(1) > mostTaps {
		b.leave()
		return false
	}
	return true
}

func (b *tapBudget) leave() { b.open.Add(-1) }

// keep makes room for a copy, if there is: for one of any size where there is no other.
func (b *tapBudget) keep(bytes int64) bool {
	if all := b.bytes.Add(bytes); all > mostTapBytes && all != bytes {
		b.drop(bytes)
		return false
	}
	return true
}

func (b *tapBudget) drop(bytes int64) { b.bytes.Add(-bytes) }

// look calls f when it is its turn and nothing is owed, and accounts for it. It returns how long f took; f is not
// called once ctx has ended.
func (b *tapBudget) look(ctx context.Context, f func()) (took time.Duration) {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	defer func() { <-b.turn }()
	for pause := b.owed(); pause > 0; pause = b.owed() {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0
		}
	}
	began := time.Now()
	f()
	took = time.Since(began)
	b.spend(took)
	return took
}

func (b *tapBudget) owed() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.free)
}

func (b *tapBudget) spend(took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if pause := b.allow.spend(false, took, b.shareOfAll(), now); pause > 0 {
		b.free = now.Add(pause)
		b.indebted.Store(true)
		b.timer.Reset(pause)
	}
}

func (b *tapBudget) shareOfAll() int {
	if b.share == 0 {
		return tapsShare
	}
	return b.share
}

// shareOfOne returns the share of each tap: one that costs much leaves the others theirs.
func (b *tapBudget) shareOfOne() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.share == unbounded {
		return unbounded
	}
	return max(tapShare, b.shareOfAll()*int(b.open.Load()))
}
