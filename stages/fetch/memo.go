package fetch

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// memo is an LRU cache of what was loaded under a key, for a while. However many ask for the same key at once, it
// is loaded once. What is remembered never costs more than a budget, beyond the one entry loaded last: to make
// room, what was asked for longest ago goes first.
type memo[V any] struct {
	budget int

	mu      sync.Mutex
	loading map[string]*remembered[V]
	kept    *simplelru.LRU[string, *remembered[V]]
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
	m := &memo[V]{budget: budget, loading: make(map[string]*remembered[V])}
	var err error
	m.kept, err = simplelru.NewLRU(math.MaxInt, func(_ string, e *remembered[V]) { m.spent -= e.loaded.cost })
	if err != nil {
		panic(err) // the number of entries is positive: their cost is what has a limit
	}
	return m
}

// get returns what is remembered, or loads it. An error is returned to all who wait for it, and not
// remembered.
func (m *memo[V]) get(ctx context.Context, key string, load func(context.Context) (loaded[V], error)) (V, error) {
	for {
		m.mu.Lock()
		e := m.loading[key]
		if kept, ok := m.kept.Get(key); ok && !time.Now().After(kept.until) {
			e = kept
		}
		if e == nil {
			e = &remembered[V]{done: make(chan struct{}), err: errAbandoned}
			m.loading[key] = e
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

// fill loads an entry that the caller has put in place.
func (m *memo[V]) fill(ctx context.Context, key string, e *remembered[V], load func(context.Context) (loaded[V], error)) (V, error) {
	var got loaded[V]
	err := errAbandoned
	defer func() { // also when load panics
		m.mu.Lock()
		defer m.mu.Unlock()
		e.loaded, e.err, e.until = got, err, time.Now().Add(got.keep)
		delete(m.loading, key)
		if err == nil {
			m.keep(key, e)
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

// keep remembers an entry that has been loaded, in place of what has run out under its key. It wants the lock.
func (m *memo[V]) keep(key string, e *remembered[V]) {
	m.kept.Remove(key)
	m.kept.Add(key, e)
	for m.spent += e.loaded.cost; m.spent > m.budget && m.kept.Len() > 1; {
		m.kept.RemoveOldest()
	}
}
