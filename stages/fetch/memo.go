package fetch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// memo remembers what was loaded under a key for a while. However many ask for the same key at once, it
// is loaded once. What is remembered never costs more than a budget, beyond the one entry loaded last:
// to make room, what has run out goes first, then anything.
type memo[V any] struct {
	budget int

	mu      sync.Mutex
	entries map[string]*remembered[V]
	spent   int
}

// loaded is what a memo is to remember.
type loaded[V any] struct {
	value V
	keep  time.Duration
	cost  int
}

type remembered[V any] struct {
	done   chan struct{} // closed when loading has ended; the other fields are set by then
	loaded loaded[V]
	until  time.Time
	err    error
}

// errAbandoned is of a load that ended because the one who asked for it went away.
var errAbandoned = errors.New("loading was given up")

func newMemo[V any](budget int) *memo[V] {
	return &memo[V]{budget: budget, entries: make(map[string]*remembered[V])}
}

// get returns what is remembered, or loads it. An error is returned to all who wait for it, and not
// remembered.
func (m *memo[V]) get(ctx context.Context, key string, load func(context.Context) (loaded[V], error)) (V, error) {
	for {
		m.mu.Lock()
		e := m.entries[key]
		if e == nil || e.expired() {
			m.forget(key)
			e = &remembered[V]{done: make(chan struct{}), err: errAbandoned}
			m.entries[key] = e
			m.mu.Unlock()
			return m.fill(ctx, key, e, load)
		}
		m.mu.Unlock()
		select {
		case <-e.done:
		case <-ctx.Done():
			var none V // the entry's own may be being written
			return none, ctx.Err()
		}
		if !errors.Is(e.err, errAbandoned) {
			return e.loaded.value, e.err
		}
	}
}

// expired reports whether an entry was loaded and has run out.
func (e *remembered[V]) expired() bool {
	select {
	case <-e.done:
		return time.Now().After(e.until)
	default:
		return false
	}
}

// fill loads an entry that the caller has put in place.
func (m *memo[V]) fill(ctx context.Context, key string, e *remembered[V], load func(context.Context) (loaded[V], error)) (V, error) {
	var got loaded[V]
	err := errAbandoned
	defer func() { // also when load panics
		m.mu.Lock()
		defer m.mu.Unlock()
		e.loaded, e.err, e.until = got, err, time.Now().Add(got.keep)
		if err != nil {
			delete(m.entries, key)
		} else {
			m.makeRoom(key, got.cost)
		}
		close(e.done)
	}()
	value, failure := load(ctx)
	if ctx.Err() != nil {
		return value.value, ctx.Err()
	}
	got, err = value, failure
	return got.value, err
}

// makeRoom forgets other entries until the budget holds. It wants the lock.
func (m *memo[V]) makeRoom(key string, cost int) {
	m.spent += cost
	if m.spent <= m.budget {
		return
	}
	for _, wanted := range []func(*remembered[V]) bool{
		(*remembered[V]).expired,
		func(e *remembered[V]) bool { return e.err == nil },
	} {
		for other, e := range m.entries {
			if m.spent > m.budget && other != key && wanted(e) {
				m.forget(other)
			}
		}
	}
}

// forget drops an entry that has been loaded. It wants the lock.
func (m *memo[V]) forget(key string) {
	if e := m.entries[key]; e != nil {
		m.spent -= e.loaded.cost
		delete(m.entries, key)
	}
}
