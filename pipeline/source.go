package pipeline

import (
	"context"
	"fmt"
	"time"
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

// runSource runs a source until it is exhausted, is to stop, or has failed in the eyes of its error policy.
func (n *node) runSource(source Source) {
	n.producing.Store(true)
	defer n.producing.Store(false)
	stop := n.running.ctx
	for pause, failures := leastWait, 1; ; failures++ {
		given := n.stats.out.Load()
		err := n.produced(source)
		if err == nil || stop.Err() != nil {
			return
		}
		n.stats.errors.Add(1)
		if n.stats.out.Load() > given { // it was at work again
			pause, failures = leastWait, 1
		}
		if !n.mayRunAgain(err, failures) {
			return
		}
		n.env.Logger.Warn("source failed, and is run again", "error", err, "in", pause)
		select {
		case <-time.After(pause):
			pause = min(4*pause, mostWait)
		case <-stop.Done():
			return
		}
	}
}

// What lies between two runs of a source that fails: four times as long each time that it does nothing but fail.
const (
	leastWait = 100 * time.Millisecond
	mostWait  = time.Minute
)

// mayRunAgain applies the error policy to a source that has failed so often in a row, and reports whether it is to be
// run again. There is no item to keep or to pass over: what takes care of none ends the run.
func (n *node) mayRunAgain(err error, failures int) bool {
	switch n.stage.Common.OnError {
	case RetryFirst:
		if n.env.Continuous || failures < attempts {
			return true
		}
	case Skip:
		n.env.Logger.Warn("source failed, and gives nothing more", "error", err)
		return false
	}
	n.run.fail(fmt.Errorf("stage %s: %w", n.name, err))
	return false
}

func (n *node) produced(source Source) (err error) {
	defer recovered(n.name, &err)
	ctx := n.running.ctx
	return source.Run(ctx, n.newProducer(open, ctx.Done()))
}
