package pipeline

import "sync"

// inbox is what stands in front of a stage: items in the order in which they came, as many as there is room
// for. It is a channel that hands over several items at a time, because one by one that costs more than many
// a stage does with them. Any number of goroutines may put and take; it is closed when no stage will put again.
type inbox struct {
	mu      sync.Mutex
	ring    []*Item // as large as there is room
	first   int     // where the oldest is
	n       int     // how many there are
	closed  bool
	takers  waiters // for items
	putters waiters // for room
}

// sealMark comes behind the last item from outside a queue's cycle. It is taken alone.
var sealMark = new(Item)

func newInbox(room int) *inbox {
	return &inbox{ring: make([]*Item, room), takers: newWaiters(), putters: newWaiters()}
}

// waiters are those who wait for the same thing.
type waiters struct {
	n    int
	wake chan struct{} // wakes one of them
	told bool          // one is woken, and has not looked yet
}

func newWaiters() waiters { return waiters{wake: make(chan struct{}, 1)} }

// left takes one away, who has been woken or has stopped waiting.
func (w *waiters) left() {
	w.n--
	w.told = false
}

// call reports whether one has to be woken now that there is something to wait for no longer.
func (w *waiters) call() bool {
	call := w.n > 0 && !w.told
	w.told = w.told || call
	return call
}

func (w *waiters) wakeOne() {
	select {
	case w.wake <- struct{}{}:
	default: // the goroutine that was woken has stopped waiting: it will wake another
	}
}

// offer puts an item if there is room.
func (b *inbox) offer(it *Item) bool {
	b.mu.Lock()
	room := b.n < len(b.ring)
	if room {
		b.push(it)
	}
	b.unlock()
	return room
}

// put waits for room, unless one of the channels is closed before there is.
func (b *inbox) put(it *Item, stop, stopToo <-chan struct{}) bool {
	b.mu.Lock()
	for b.n == len(b.ring) {
		if !b.awaitRoom(stop, stopToo) {
			b.unlock()
			return false
		}
	}
	b.push(it)
	b.unlock()
	return true
}

// awaitRoom gives the lock back while it waits.
func (b *inbox) awaitRoom(stop, stopToo <-chan struct{}) bool {
	b.putters.n++
	b.mu.Unlock()
	stopped := false
	if stop == nil && stopToo == nil {
		<-b.putters.wake
	} else {
		select {
		case <-b.putters.wake:
		case <-stop:
			stopped = true
		case <-stopToo:
			stopped = true
		}
	}
	b.mu.Lock()
	b.putters.left()
	return !stopped
}

// push adds an item for which there is room.
func (b *inbox) push(it *Item) {
	if b.closed {
		b.mu.Unlock()
		panic("pipeline: an item came when nothing was to come any more")
	}
	at := b.first + b.n
	if at >= len(b.ring) {
		at -= len(b.ring)
	}
	b.ring[at] = it
	b.n++
}

// take moves the oldest items into taken, as many as it holds, and returns how many; it waits for the first.
// None means that the inbox is closed and empty.
func (b *inbox) take(taken []*Item) int {
	b.mu.Lock()
	for b.n == 0 && !b.closed {
		b.takers.n++
		b.mu.Unlock()
		<-b.takers.wake
		b.mu.Lock()
		b.takers.left()
	}
	n := b.pull(taken)
	b.unlock()
	return n
}

// tryTake is take that waits for nothing; ended means that nothing will come.
func (b *inbox) tryTake(taken []*Item) (n int, ended bool) {
	b.mu.Lock()
	b.takers.told = false // it is the caller that was woken, if a goroutine was
	n = b.pull(taken)
	ended = n == 0 && b.closed
	b.unlock()
	return n, ended
}

// enlist returns what wakes the caller when tryTake may find something, until delist is called.
func (b *inbox) enlist() <-chan struct{} {
	b.mu.Lock()
	b.takers.n++
	b.mu.Unlock()
	return b.takers.wake
}

func (b *inbox) delist() {
	b.mu.Lock()
	b.takers.left()
	b.unlock()
}

func (b *inbox) pull(taken []*Item) (n int) {
	for n < len(taken) && b.n > 0 {
		it := b.ring[b.first]
		if it == sealMark && n > 0 {
			break
		}
		taken[n], b.ring[b.first] = it, nil
		n++
		b.n--
		if b.first++; b.first == len(b.ring) {
			b.first = 0
		}
		if it == sealMark {
			break
		}
	}
	return n
}

// unlock gives the lock back and wakes one of the goroutines that need not wait any more, which wakes the next,
// so that none sleeps that could go on; a wake that none needed is found out by looking.
func (b *inbox) unlock() {
	taker := (b.n > 0 || b.closed) && b.takers.call()
	putter := b.n < len(b.ring) && b.putters.call()
	b.mu.Unlock()
	if taker {
		b.takers.wakeOne()
	}
	if putter {
		b.putters.wakeOne()
	}
}

// close tells that nothing more will come.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.unlock()
}

func (b *inbox) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

func (b *inbox) cap() int { return len(b.ring) }
