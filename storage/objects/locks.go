package objects

import (
	"hash/maphash"
	"sync"
)

// stripes are locks for more things than one wants locks for: things that share a stripe wait for each
// other needlessly, now and then.
type stripes struct {
	seed  maphash.Seed
	locks *[256]sync.Mutex
}

func newStripes() stripes { return stripes{maphash.MakeSeed(), new([256]sync.Mutex)} }

// lock locks the stripe of key and returns what unlocks it.
func (s stripes) lock(key []byte) (unlock func()) {
	m := &s.locks[maphash.Bytes(s.seed, key)%uint64(len(s.locks))]
	m.Lock()
	return m.Unlock
}

// gate counts the calls under way, so that closing can wait for them. The zero value is open.
type gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  sync.Cond
}

func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.inside++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.closed {
		g.empty.Broadcast()
	}
}

// close lets nobody in any more, and reports whether it was the first to do so.
func (g *gate) close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := !g.closed
	g.closed, g.empty.L = true, &g.mu
	return first
}

func (g *gate) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.inside > 0 {
		g.empty.Wait()
	}
}
