package pipeline

import (
	"context"
	"fmt"
	"slices"
)

// Graph returns what is running.
func (r *Run) Graph() *Graph {
	r.layout.RLock()
	defer r.layout.RUnlock()
	return r.graph
}

// Lag asks the stages that can tell ([Lagger]) how far they are behind what they follow. One that fails to
// is left out.
func (r *Run) Lag(ctx context.Context) map[string]int64 {
	r.layout.RLock()
	nodes := slices.Clone(r.nodes)
	r.layout.RUnlock()
	lags := make(map[string]int64)
	for _, n := range nodes {
		lagger, ok := n.impl.(Lagger)
		if !ok {
			continue
		}
		var lag int64
		if err := n.guarded(func() (err error) {
			lag, err = lagger.Lag(ctx)
			return err
		}); err != nil {
			n.env.Logger.Debug("lag unknown", "error", err)
			continue
		}
		lags[n.name] = lag
	}
	return lags
}

// Lag returns how many entries of the log lie behind the cursor, at most: some may have been removed.
func (log Log[T]) Lag(ctx context.Context) (int64, error) {
	at, err := log.Cursor(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the cursor: %w", err)
	}
	last, err := log.Last(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the end of the log: %w", err)
	}
	return int64(max(last, at) - at), nil
}
