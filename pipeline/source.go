package pipeline

import "fmt"

// runSource runs a source until it is exhausted, fails, or the run drains.
func (n *node) runSource(source Source) {
	n.busy.Add(1)
	defer n.busy.Add(-1)
	err := guard(n.name, func() error { return source.Run(n.run.drainCtx, n.newEmitter()) })
	if err != nil && n.run.drainCtx.Err() == nil {
		n.stats.errors.Add(1)
		n.run.fail(fmt.Errorf("stage %s: %w", n.name, err))
	}
}
