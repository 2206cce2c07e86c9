package redis

import (
	"context"
	"sync"
	"time"
)

// ledger knows the entries that are in work, and those that the server is still to be told of.
type ledger struct {
	mu   sync.Mutex
	open map[string]bool // emitted, and not acknowledged
	done []string        // dealt with, and not acknowledged
	more chan struct{}   // has an element when done has
}

func newLedger() *ledger {
	return &ledger{open: map[string]bool{}, more: make(chan struct{}, 1)}
}

// begin notes an entry, and reports whether it is not in work already.
func (l *ledger) begin(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[id] {
		return false
	}
	l.open[id] = true
	return true
}

// end notes that entries have been dealt with.
func (l *ledger) end(ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = append(l.done, ids...)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// take takes some that have been dealt with.
func (l *ledger) take(most int) (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(most, len(l.done))
	ids, l.done = l.done[:n:n], l.done[n:]
	return ids
}

// forget notes that entries are acknowledged.
func (l *ledger) forget(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.open, id)
	}
}

// acksAtOnce is how many entries are acknowledged at a time.
const acksAtOnce = 500

// acknowledge tells the server what has been dealt with, until the context ends and there is nothing more; an outage is
// waited out before, and not then. An entry whose acknowledgement is lost comes again.
func (s *source) acknowledge(ctx context.Context) {
	defer close(s.acked)
	var pause backoff
	for {
		ids := s.entries.take(acksAtOnce)
		if len(ids) == 0 {
			if ctx.Err() != nil {
				return
			}
			select {
			case <-s.entries.more:
			case <-ctx.Done():
			}
			continue
		}
		err := s.ack(ids)
		switch {
		case err == nil:
			pause = backoff{}
			s.entries.forget(ids)
		case isOutage(err) && ctx.Err() == nil:
			s.entries.end(ids...)
			pause.wait(ctx)
		default:
			s.env.Logger.Warn("entries were not acknowledged, and come again", "stream", s.options.Stream, "entries", len(ids), "error", err)
		}
	}
}

func (s *source) ack(ids []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return asked(s.client.XAck(ctx, s.options.Stream, s.options.Group, ids...).Err(), "acknowledge entries of stream %s", s.options.Stream)
}
