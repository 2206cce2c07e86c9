package objects

import (
	"context"
	"fmt"
	"sync"
)

// versionKey names a version.
type versionKey struct {
	url    string
	number int
}

func (v *Version) key() versionKey { return versionKey{v.View(), v.Number} }

// holds knows which versions must stay, and which are about to go. A version is never both: that is
// what lets a collector ask whether an owner waits for a version, and believe the answer. A caller that may yet make
// an owner wait pins the version first; where it is about to go, the caller is told that it is gone.
type holds struct {
	mu    sync.Mutex
	pins  map[versionKey]int
	going map[versionKey]chan struct{} // closed when it is decided
	fresh map[versionKey]bool          // new versions that are not durable yet
}

func newHolds() holds {
	return holds{pins: map[versionKey]int{}, going: map[versionKey]chan struct{}{}, fresh: map[versionKey]bool{}}
}

// pin holds a version that is not going, and reports whether it did.
func (h *holds) pin(v versionKey) (held, fresh bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.going[v] != nil {
		return false, false
	}
	h.pins[v]++
	return true, h.fresh[v]
}

func (h *holds) unpin(v versionKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pins[v]--; h.pins[v] <= 0 {
		delete(h.pins, v)
	}
}

// leave marks a version as going, unless it is pinned or not durable yet.
func (h *holds) leave(v versionKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pins[v] > 0 || h.fresh[v] {
		return false
	}
	h.going[v] = make(chan struct{})
	return true
}

// stay ends that a version is going: it was taken back, or is gone.
func (h *holds) stay(v versionKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.going[v] != nil {
		close(h.going[v])
		delete(h.going, v)
	}
}

func (h *holds) isGoing(v versionKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.going[v] != nil
}

// decided waits while a version is going.
func (h *holds) decided(ctx context.Context, v versionKey) error {
	h.mu.Lock()
	going := h.going[v]
	h.mu.Unlock()
	if going == nil {
		return nil
	}
	select {
	case <-going:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *holds) begin(v versionKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fresh[v] = true
}

func (h *holds) settle(v versionKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.fresh, v)
}

// Pin keeps a version from being removed until unpin is called, which may be called more than once. It
// returns [ErrNotFound] for one that is removed, or about to be. Versions that Put has just returned can be
// pinned before they are durable. Pins are not kept over a restart.
func (s *Store) Pin(v Version) (unpin func(), err error) {
	if err := s.users.enter(); err != nil {
		return nil, err
	}
	defer s.users.Leave()
	key := v.key()
	held, fresh := s.holds.pin(key)
	if !held {
		return nil, fmt.Errorf("pin version %d of %s: %w", v.Number, v.URL, ErrNotFound)
	}
	if !fresh {
		if _, err := s.entry(v.View(), v.Number); err != nil {
			s.holds.unpin(key)
			return nil, fmt.Errorf("pin: %w", err)
		}
	}
	var once sync.Once
	return func() { once.Do(func() { s.holds.unpin(key) }) }, nil
}

// Gone reports whether a version has been removed. While that is being decided, when all others return
// [ErrNotFound], it waits.
func (s *Store) Gone(ctx context.Context, v Version) (bool, error) {
	if err := s.users.enter(); err != nil {
		return false, err
	}
	defer s.users.Leave()
	if err := s.holds.decided(ctx, v.key()); err != nil {
		return false, err
	}
	_, kept, err := s.find(v.View(), v.Number)
	return !kept, err
}
