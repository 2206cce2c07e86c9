// Package lru remembers what was used last.
package lru

import (
	"container/list"
	"sync"
)

// Cache remembers values by their keys, so many at most: for one more, that is forgotten which was used longest ago.
// [New] makes one. It may be used by many goroutines.
//
// It is an interface, because whoever names what holds a cache would compile the methods of a generic structure again.
// Those that there are behind it are few and small, and what they call has no parameters of type.
type Cache[V any] interface {
	// Get returns the value of a key, which is used by that.
	Get(key string) (V, bool)
	// Peek is Get, and no use.
	Peek(key string) (V, bool)
	// Add remembers a value, in place of what the key had.
	Add(key string, value V)
	// AddNew remembers a value unless the key has one, and reports whether it did.
	AddNew(key string, value V) bool
	// Remove forgets a key.
	Remove(key string)
	// RemoveOldest forgets what was used longest ago.
	RemoveOldest()
	// Len is how many keys are remembered.
	Len() int
	// Keys are those that are remembered, the one used longest ago first.
	Keys() []string
}

type cache[V any] struct{ entries }

// New returns an empty cache. Forgotten is called for what is removed or makes room, and must not use the cache; it may
// be nil.
func New[V any](most int, forgotten func(V)) Cache[V] {
	c := &cache[V]{entries{most: max(most, 1), byKey: make(map[string]*list.Element)}}
	if forgotten != nil {
		c.forgotten = func(value any) { forgotten(of[V](value)) }
	}
	return c
}

// of is a value as it was added; nil has no type.
func of[V any](value any) V {
	v, _ := value.(V)
	return v
}

func (c *cache[V]) Get(key string) (V, bool) {
	value, ok := c.get(key, true)
	return of[V](value), ok
}

func (c *cache[V]) Peek(key string) (V, bool) {
	value, ok := c.get(key, false)
	return of[V](value), ok
}

func (c *cache[V]) Add(key string, value V) { c.add(key, value, true) }

func (c *cache[V]) AddNew(key string, value V) bool { return c.add(key, value, false) }

type entries struct {
	most      int
	forgotten func(value any)

	mu    sync.Mutex
	byKey map[string]*list.Element
	used  list.List // of entry, the last used first
}

type entry struct {
	key   string
	value any
}

func (e *entries) get(key string, use bool) (any, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.byKey[key]
	if at == nil {
		return nil, false
	}
	if use {
		e.used.MoveToFront(at)
	}
	return at.Value.(entry).value, true
}

func (e *entries) add(key string, value any, replace bool) (added bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if at := e.byKey[key]; at != nil {
		if replace {
			at.Value = entry{key, value}
			e.used.MoveToFront(at)
		}
		return replace
	}
	e.byKey[key] = e.used.PushFront(entry{key, value})
	if e.used.Len() > e.most {
		e.remove(e.used.Back())
	}
	return true
}

// remove is called with e.mu held.
func (e *entries) remove(at *list.Element) {
	if at == nil {
		return
	}
	gone := e.used.Remove(at).(entry)
	delete(e.byKey, gone.key)
	if e.forgotten != nil {
		e.forgotten(gone.value)
	}
}

func (e *entries) Remove(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(e.byKey[key])
}

func (e *entries) RemoveOldest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(e.used.Back())
}

func (e *entries) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.used.Len()
}

func (e *entries) Keys() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var keys []string
	for at := e.used.Back(); at != nil; at = at.Prev() {
		keys = append(keys, at.Value.(entry).key)
	}
	return keys
}
