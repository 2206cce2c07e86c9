package pipeline

import (
	"context"
	"sync"
	"time"
)

// A log is taken to be fed by somebody at work when it grew by so many entries since the last look. Fewer leave the
// processor to the follower too: a crawl that waits for its hosts.
const (
	paceLook = time.Second
	paceBusy = 16
)

// pace lets a follower give way to those who feed its log.
type pace struct {
	last func(context.Context) (uint64, error) // of the log
	most time.Duration                         // that entries wait
	free uint64                                // those up to here need not wait any more
}

// giveWay waits before the entry that follows after: until those who feed the log rest or have ended, or until it has
// waited for as long as it may. Then everything that is there by then is caught up with.
func (p *pace) giveWay(feeding context.Context, after uint64) error {
	if p.most <= 0 || after < p.free || feeding.Err() != nil {
		return nil
	}
	seen, err := p.last(feeding)
	look, late := time.NewTicker(paceLook), time.NewTimer(p.most)
	defer look.Stop()
	defer late.Stop()
	for err == nil {
		over := true
		select {
		case <-feeding.Done():
			return nil
		case <-late.C:
		case <-look.C:
			over = false
		}
		p.free, err = p.last(feeding)
		if over || p.free < seen+paceBusy {
			break
		}
		seen = p.free
	}
	if feeding.Err() != nil {
		return nil
	}
	return err
}

// byteWindow bounds the bytes that are under way. One goroutine takes; any may give.
type byteWindow struct {
	mu    sync.Mutex
	taken int
	still bool // nothing was given back for windowPatience: a stage keeps what it gets until there is more of it
	freed chan struct{}
}

const windowPatience = 10 * time.Second

// take waits for room, unless nothing is under way or nothing moves; false says that the context has ended.
func (w *byteWindow) take(ctx context.Context, n int) bool {
	for !w.tryTake(n) {
		still := time.NewTimer(windowPatience)
		select {
		case <-w.freed:
		case <-ctx.Done():
		case <-still.C:
			w.mu.Lock()
			w.still = true
			w.mu.Unlock()
		}
		still.Stop()
		if ctx.Err() != nil {
			return false
		}
	}
	return true
}

func (w *byteWindow) tryTake(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken > 0 && w.taken+n > followBytes && !w.still {
		return false
	}
	w.taken += n
	return true
}

func (w *byteWindow) give(n int) {
	w.mu.Lock()
	w.taken -= n
	w.still = false
	w.mu.Unlock()
	select {
	case w.freed <- struct{}{}:
	default: // the taker is woken already
	}
}
