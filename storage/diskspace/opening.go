package diskspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/internal/descriptors"
)

// opening runs f, and again after a while, as long as it fails because this process has no descriptor left. It gives up
// with the last error when the context ends or the watch is closed.
func (w *Watch) opening(ctx context.Context, f func() error) error {
	err := f()
	if !descriptors.Exhausted(err) {
		return err
	}
	w.tellExhausted(err)
	tick := time.NewTicker(w.options.Poll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err = f(); !descriptors.Exhausted(err) {
				w.mu.Lock()
				w.exhausted = false
				w.mu.Unlock()
				return err
			}
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("wait for a descriptor: %w", context.Cause(ctx)))
		case <-w.closed:
			return err
		}
	}
}

func (w *Watch) tellExhausted(err error) {
	w.mu.Lock()
	told := w.exhausted
	w.exhausted = true
	w.mu.Unlock()
	if !told && w.options.Exhausted != nil {
		w.options.Exhausted(err)
	}
}
