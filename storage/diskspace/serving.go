package diskspace

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// serving runs f, and again after a while, as long as it fails because a server is away. It gives up with the last
// error when the context ends or the watch is closed.
func (w *Watch) serving(ctx context.Context, f func() error) (err error) {
	err = f()
	if !isAway(err) {
		return err
	}
	w.wentAway(err)
	defer func() { w.stopWaiting(!isAway(err)) }()
	tick := time.NewTicker(w.options.Poll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err = f(); !isAway(err) {
				return err
			}
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("wait for a server: %w", context.Cause(ctx)))
		case <-w.closed:
			return err
		}
	}
}

// isAway reports whether an error tells that what was asked may be there later.
func isAway(err error) bool {
	var away interface {
		error
		Away() bool
	}
	return errors.As(err, &away) && away.Away()
}

// wentAway counts who waits, and tells of the first.
func (w *Watch) wentAway(err error) {
	w.mu.Lock()
	w.away++
	first := w.away == 1
	w.mu.Unlock()
	if first && w.options.Away != nil {
		w.options.Away(err)
	}
}

// stopWaiting tells that the server is back, if it is, when nobody waits any more.
func (w *Watch) stopWaiting(back bool) {
	w.mu.Lock()
	w.away--
	last := w.away == 0
	w.mu.Unlock()
	if back && last && w.options.Away != nil {
		w.options.Away(nil)
	}
}
