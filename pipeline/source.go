package pipeline

import (
	"context"
	"fmt"
)

// startSource starts a source, unless it is under way, or exhausted.
func (n *node) startSource(source Source) {
	if n.running != nil {
		return
	}
	s := &running{ended: make(chan struct{})}
	s.ctx, s.stop = context.WithCancel(n.run.drainCtx)
	n.running = s
	n.run.spawn(func() {
		defer close(s.ended)
		defer s.stop()
		defer n.exhausted()
		n.runSource(source)
	})
}

// runSource runs a source until it is exhausted, fails, or is to stop.
func (n *node) runSource(source Source) {
	n.busy.Add(1)
	defer n.busy.Add(-1)
	if err := n.produced(source); err != nil && n.running.ctx.Err() == nil {
		n.stats.errors.Add(1)
		n.run.fail(fmt.Errorf("stage %s: %w", n.name, err))
	}
}

func (n *node) produced(source Source) (err error) {
	defer recovered(n.name, &err)
	ctx := n.running.ctx
	return source.Run(ctx, n.newProducer(open, ctx.Done()))
}
