package outbox

import "sync"

// gatherer passes on what is added, all that has come meanwhile at once: a transaction costs more than what it holds.
type gatherer[T any] struct {
	pass func([]T)

	mu      sync.Mutex
	changed *sync.Cond
	waiting []T
	busy    bool
	closed  bool
	ended   sync.WaitGroup
}

// mostTogether is how much is passed on at once at most.
const mostTogether = 512

func gather[T any](pass func([]T)) *gatherer[T] {
	g := &gatherer[T]{pass: pass}
	g.changed = sync.NewCond(&g.mu)
	g.ended.Go(g.run)
	return g
}

// add hands something in, and reports whether it is going to be passed on, as it is until the gatherer is closed.
func (g *gatherer[T]) add(v T) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.waiting = append(g.waiting, v)
	g.changed.Broadcast()
	return true
}

func (g *gatherer[T]) run() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for len(g.waiting) == 0 && !g.closed {
			g.changed.Wait()
		}
		if len(g.waiting) == 0 {
			return
		}
		n := min(len(g.waiting), mostTogether)
		some := g.waiting[:n:n]
		g.waiting, g.busy = g.waiting[n:], true
		g.mu.Unlock()
		g.pass(some)
		g.mu.Lock()
		g.busy = false
		g.changed.Broadcast()
	}
}

// wait returns when all that was added so far is passed on.
func (g *gatherer[T]) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waiting) > 0 || g.busy {
		g.changed.Wait()
	}
}

// close passes on what is left, and takes no more. Closing twice does no harm.
func (g *gatherer[T]) close() {
	g.mu.Lock()
	g.closed = true
	g.changed.Broadcast()
	g.mu.Unlock()
	g.ended.Wait()
}
