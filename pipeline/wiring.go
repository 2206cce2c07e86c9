package pipeline

import "sync"

// generation is what goes on between two reloads: everything but sources and what keepers release, which a
// reload leaves as they are.
type generation struct {
	workers sync.WaitGroup
	over    chan struct{} // closed when another generation takes its place
}

// work runs f as one of the goroutines of the generation. The next one begins when all have ended.
func (r *Run) work(f func()) {
	g := r.generation
	g.workers.Add(1)
	r.spawn(func() {
		defer g.workers.Done()
		f()
	})
}

// wire connects the nodes by the edges of the graph. Nothing goes on yet, or any more, but sources that wait at the
// valve. The caller holds r.wiring.
func (r *Run) wire() {
	r.generation = &generation{over: make(chan struct{})}
	for _, n := range r.nodes {
		if n.closed {
			n.in, n.closed = n.newInbox(), false
		}
		n.ports, n.external = make(map[string]*outlet), make(map[*node]bool)
		n.producers.Store(0)
	}
	for _, edge := range r.graph.Edges {
		r.byName[edge.From].connect(edge.Port, r.byName[edge.To])
	}
	r.findSinks()
	r.findMeetings()
	r.wireParts()
	r.findExternals()
	r.findCounted()
	r.rewiring = false
}

// startGeneration starts what is not going on already. What has ended before the reload ends again at once,
// so that the nodes behind it know. The caller holds r.wiring.
func (r *Run) startGeneration() {
	for _, n := range r.nodes {
		if n.queue != nil && n.externals.Load() == 0 && !n.sealed {
			n.seal()
		}
	}
	for _, n := range r.nodes {
		n.start()
	}
	for _, n := range r.nodes {
		if n.ended {
			n.tellEnd()
		}
	}
	r.watchStarving()
}

// endGeneration ends all that takes from an inbox. Nothing is in flight, and no stage passes the valve, so the
// inboxes are empty and stay so.
func (r *Run) endGeneration() {
	r.wiring.Lock()
	r.rewiring = true
	for _, n := range r.nodes {
		if !n.closed {
			n.closed = true
			n.in.close()
		}
	}
	r.wiring.Unlock()
	close(r.generation.over)
	r.generation.workers.Wait()
}

// end tells that the workers of a stage have ended.
func (n *node) end() {
	n.run.wiring.Lock()
	defer n.run.wiring.Unlock()
	n.tellEnd()
}

// exhausted records that nothing more will come from a source, a queue or a keeper, also after
// a reload.
func (n *node) exhausted() {
	n.run.wiring.Lock()
	defer n.run.wiring.Unlock()
	n.ended = true
	n.tellEnd()
}

// tellEnd tells every node that this one leads to that it will send nothing more; not while the run is
// being re-wired, after which it is done again for all that has ended. The caller holds r.wiring.
func (n *node) tellEnd() {
	if n.run.rewiring {
		return
	}
	for _, o := range n.ports {
		for _, to := range o.nodes {
			to.producerEnded(n)
		}
	}
}

// producerEnded seals the queue when its last external producer has ended, and closes the inbox when the
// last of all has.
func (n *node) producerEnded(producer *node) {
	if n.external[producer] && n.externals.Add(-1) == 0 {
		n.in.put(sealMark, nil, nil)
	}
	if n.producers.Add(-1) == 0 {
		n.closed = true
		n.in.close()
	}
}
