// Package locks has locks that stores share: for many things by few locks, and for the end of a store.
package locks

import (
	"hash/maphash"
	"sync"
)

// Stripes are locks for more things than one wants locks for: things that share a stripe wait for each
// other needlessly, now and then.
type Stripes struct {
	seed  maphash.Seed
	locks *[256]sync.Mutex
}

// NewStripes returns stripes of which none is locked.
func NewStripes() Stripes { return Stripes{maphash.MakeSeed(), new([256]sync.Mutex)} }

// Lock locks the stripe of key and returns what unlocks it.
func (s Stripes) Lock(key []byte) (unlock func()) {
	m := &s.locks[maphash.Bytes(s.seed, key)%uint64(len(s.locks))]
	m.Lock()
	return m.Unlock
}

// Users counts the calls under way, so that closing can wait for them. The zero value is open.
type Users struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  sync.Cond
}

// Enter counts a call in, and reports whether it may begin: not once Close was called.
func (u *Users) Enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.inside++
	return true
}

// Leave counts a call out.
func (u *Users) Leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.inside--; u.inside == 0 && u.closed {
		u.empty.Broadcast()
	}
}

// Close refuses further calls, and reports whether it was the first to do so.
func (u *Users) Close() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	first := !u.closed
	u.closed, u.empty.L = true, &u.mu
	return first
}

// Wait returns when none is under way; Close has been called.
func (u *Users) Wait() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.inside > 0 {
		u.empty.Wait()
	}
}
