package pipeline

import "fmt"

// runSource runs a source until it is exhausted, fails, or the run drains.
func (n *node) runSource(source Source) {
	n.busy.Add(1)
	defer n.busy.Add(-1)
	if err := n.produced(source); err != nil && n.run.drainCtx.Err() == nil {
		n.stats.errors.Add(1)
		n.run.fail(fmt.Errorf("stage %s: %w", n.name, err))
	}
}

func (n *node) produced(source Source) (err error) {
	defer recovered(n.name, &err)
	return source.Run(n.run.drainCtx, n.newProducer(open, n.run.drainCtx.Done()))
}
