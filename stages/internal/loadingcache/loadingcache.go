// Package loadingcache is an LRU cache that loads what it does not hold, once for all who ask at the same time.
package loadingcache

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/lru"
)

// Cache is an LRU cache of what was loaded under a key, for a while. However many callers ask for the same key at
// once, it is loaded once, by the first of them; when that one goes away, the next takes over. What is remembered
// never costs more than a budget, beyond the one entry loaded last: to make room, what was asked for longest ago
// goes first.
//
// As [lru.Cache] it is an interface, for the sake of those who name what holds one.
type Cache[V any] interface {
	// Get returns what is remembered, or loads it. An error is returned to all who wait for it, and not
	// remembered.
	Get(ctx context.Context, key string, load func(context.Context) (Loaded[V], error)) (V, error)
	// Peek returns what is remembered under a key and until when, without loading anything.
	Peek(key string) (value V, until time.Time, ok bool)
}

// Loaded is what a cache is to remember: for how long, and what it costs of the budget.
type Loaded[V any] struct {
	Value V
	Keep  time.Duration
	Cost  int
}

type entry[V any] struct {
	done   chan struct{} // closed when loading has ended; the other fields are set by then
	loaded Loaded[V]
	until  time.Time
	err    error
}

type cache[V any] struct {
	budget int

	mu      sync.Mutex
	loading map[string]*entry[V]
	kept    lru.Cache[*entry[V]]
	spent   int
}

// errAbandoned is of a load that ended because the one who asked for it went away.
var errAbandoned = errors.New("loading was given up")

// New returns an empty cache with a budget.
func New[V any](budget int) Cache[V] {
	c := &cache[V]{budget: budget, loading: make(map[string]*entry[V])}
	c.kept = lru.New(math.MaxInt, func(e *entry[V]) { c.spent -= e.loaded.Cost }) // it is their cost that has a limit
	return c
}

func (c *cache[V]) Get(ctx context.Context, key string, load func(context.Context) (Loaded[V], error)) (V, error) {
	for {
		c.mu.Lock()
		e := c.loading[key]
		if kept, ok := c.kept.Get(key); ok && !time.Now().After(kept.until) {
			e = kept
		}
		if e == nil {
			e = &entry[V]{done: make(chan struct{}), err: errAbandoned}
			c.loading[key] = e
			c.mu.Unlock()
			return c.fill(ctx, key, e, load)
		}
		c.mu.Unlock()
		select {
		case <-e.done:
		case <-ctx.Done():
			var none V // the entry's own may be being written
			return none, ctx.Err()
		}
		if !errors.Is(e.err, errAbandoned) {
			return e.loaded.Value, e.err
		}
	}
}

func (c *cache[V]) Peek(key string) (value V, until time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.kept.Peek(key); ok {
		return e.loaded.Value, e.until, true
	}
	return value, until, false
}

// fill loads an entry that the caller has put in place.
func (c *cache[V]) fill(ctx context.Context, key string, e *entry[V], load func(context.Context) (Loaded[V], error)) (V, error) {
	var got Loaded[V]
	err := errAbandoned
	defer func() { // also when load panics
		c.mu.Lock()
		defer c.mu.Unlock()
		e.loaded, e.err, e.until = got, err, time.Now().Add(got.Keep)
		delete(c.loading, key)
		if err == nil {
			c.keep(key, e)
		}
		close(e.done)
	}()
	value, failure := load(ctx)
	if ctx.Err() != nil {
		return value.Value, ctx.Err()
	}
	got, err = value, failure
	return got.Value, err
}

// keep remembers an entry that has been loaded, in place of what has run out under its key. It wants the lock.
func (c *cache[V]) keep(key string, e *entry[V]) {
	c.kept.Remove(key)
	c.kept.Add(key, e)
	for c.spent += e.loaded.Cost; c.spent > c.budget && c.kept.Len() > 1; {
		c.kept.RemoveOldest()
	}
}
