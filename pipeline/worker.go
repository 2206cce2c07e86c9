package pipeline

import "github.com/webrace/webrace/internal/pointer"

// maxTaken is how many items a worker takes at once.
const maxTaken = 16

func newTaken() []*Item { return make([]*Item, maxTaken) }

// takeSize returns how many items a worker may take at once: several only where its calls are short, so that
// none waits long for the ones before it, and where it is alone, so that none lies there while another worker idles.
func takeSize(worker *emitter, workers int) int {
	if worker.sampler.calls < sampled || worker.sampler.slow || workers > 1 {
		return 1
	}
	return maxTaken
}

// work processes items until no more will come. When the run is cancelled it only takes them, so that no stage
// waits for room.
func (n *node) work(p Processor) {
	if t := pointer.Load(&n.turns); t != nil {
		n.workInTurn(t, p)
		return
	}
	out, all, workers := n.newEmitter(), newTaken(), n.workers()
	for {
		taken := all[:takeSize(out, workers)]
		taken = taken[:n.in.take(taken)]
		if len(taken) == 0 {
			return
		}
		n.handle(p, taken, out)
	}
}

// handle calls the stage with each of the items that a worker has taken, and ends them. Of several, it counts
// together what came and went: one by one that costs as much as a short call.
func (n *node) handle(p Processor, taken []*Item, out *emitter) {
	n.busy.Add(1)
	n.stats.taken.Add(int64(len(taken)))
	several := len(taken) > 1
	if !several {
		n.stats.in.Add(1)
	}
	if ended := n.run.ctx.Err(); ended != nil {
		for _, it := range taken {
			it.lease.done(ended)
		}
	} else if n.parkAll(taken...) {
		for _, it := range taken {
			it.lease.done(nil)
		}
	} else {
		entered := n.enter()
		n.callEach(p, taken, several, out)
		n.leave(entered)
	}
	if several {
		n.stats.in.Add(int64(len(taken)))
		out.count()
	}
	clear(taken)
	n.busy.Add(-1)
}

func (n *node) callEach(p Processor, taken []*Item, several bool, out *emitter) {
	for next := 0; next < len(taken); next++ {
		out.several = several
		err := n.callUntilError(p, taken, &next, out)
		if err == nil {
			return
		}
		it := taken[next]
		_ = out.flush(n.run.ctx) // which does not fail
		out.several = false
		if n.parkAll(it) {
			err = nil
		} else {
			err = n.afterError(err, taken[next:next+1], out, func() error { return p.Process(n.callContext(), it, out) })
		}
		out.returned(taken[next : next+1])
		out.end()
		it.lease.done(err)
	}
}

// callUntilError calls the stage with the items from next on, and ends each that goes well. A panic is an error
// of the stage like any other, so that it costs an item and not the process.
func (n *node) callUntilError(p Processor, taken []*Item, next *int, out *emitter) (err error) {
	calling := false
	defer func() {
		if calling {
			if v := recover(); v != nil {
				err = newPanicError(n.name, v)
			}
		}
	}()
	for ctx := n.callContext(); *next < len(taken); *next++ {
		it := taken[*next]
		n.taps.see(it, TapInput)
		out.begin(it.lease, it.branch)
		calling = true
		if err := p.Process(ctx, it, out); err != nil {
			return err
		}
		calling = false // what happens to the lease is not the stage's doing
		out.returned(taken[*next : *next+1])
		out.done()
		out.end()
	}
	return nil
}
