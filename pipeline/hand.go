package pipeline

// maxHand is how many items a worker takes at once.
const maxHand = 16

func newHand() []*Item { return make([]*Item, maxHand) }

// handful returns how many items a worker may take at once: several only where its calls are short, so that
// none lies in its hand for long, and where it is alone, so that none lies there while another worker idles.
func handful(worker *emitter, workers int) int {
	if worker.sampler.calls < sampled || worker.sampler.slow || workers > 1 {
		return 1
	}
	return maxHand
}

// work processes items until no more will come. When the run is cancelled it only takes them, so that nobody
// waits for room.
func (n *node) work(p Processor) {
	out, all, workers := n.newEmitter(), newHand(), n.workers()
	for {
		hand := all[:handful(out, workers)]
		hand = hand[:n.in.take(hand)]
		if len(hand) == 0 {
			return
		}
		n.handle(p, hand, out)
	}
}

// handle calls the stage with each of the items that a worker has taken, and ends them. Of several, it counts
// together what came and went: one by one that costs as much as a short call.
func (n *node) handle(p Processor, hand []*Item, out *emitter) {
	n.busy.Add(1)
	n.stats.taken.Add(int64(len(hand)))
	several := len(hand) > 1
	if !several {
		n.stats.in.Add(1)
	}
	if ended := n.run.ctx.Err(); ended != nil {
		for _, it := range hand {
			it.lineage.done(ended)
		}
	} else {
		n.callEach(p, hand, several, out)
	}
	if several {
		n.stats.in.Add(int64(len(hand)))
		out.count()
	}
	clear(hand)
	n.busy.Add(-1)
}

func (n *node) callEach(p Processor, hand []*Item, several bool, out *emitter) {
	for next := 0; next < len(hand); next++ {
		out.several = several
		err := n.callUntilError(p, hand, &next, out)
		if err == nil {
			return
		}
		it := hand[next]
		_ = out.flush(n.run.ctx) // which does not fail
		out.several = false
		err = n.afterError(err, hand[next:next+1], out, func() error { return p.Process(n.run.ctx, it, out) })
		out.returned(hand[next : next+1])
		out.end()
		it.lineage.done(err)
	}
}

// callUntilError calls the stage with the items from next on, and ends each that goes well. A panic is an error
// of the stage like any other, so that it costs an item and not the process.
func (n *node) callUntilError(p Processor, hand []*Item, next *int, out *emitter) (err error) {
	calling := false
	defer func() {
		if calling {
			if v := recover(); v != nil {
				err = newPanicError(n.name, v)
			}
		}
	}()
	for ctx := n.run.ctx; *next < len(hand); *next++ {
		it := hand[*next]
		n.taps.see(it, TapInput)
		out.begin(it.lineage)
		calling = true
		if err := p.Process(ctx, it, out); err != nil {
			return err
		}
		calling = false // what happens to the lease is not the stage's doing
		out.returned(hand[*next : *next+1])
		out.done()
		out.end()
	}
	return nil
}
