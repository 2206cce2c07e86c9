// Package hamt has a hash array mapped trie (Bagwell, Ideal Hash Trees, 2001) as a persistent map: its states are
// values, a change gives a further state and leaves those before it as they were, with which it shares nearly
// everything. So any number of goroutines can read a state while another makes the next.
package hamt

import (
	"hash/maphash"
	"iter"
)

// Map is a map from strings. The zero value is empty and only to be read; Editable makes the state to
// change. A state must not be changed by two goroutines at once, nor read while it is changed.
type Map[V any] struct {
	trie  trie[*entry[V]]
	count int
}

// entry is in a list of those whose keys have the same hash.
type entry[V any] struct {
	key   string
	value V
	next  *entry[V]
}

var seed = maphash.MakeSeed()

// Editable returns the next state, which is the same so far. This one is not to be changed any more.
func (m Map[V]) Editable() Map[V] { return Map[V]{m.trie.editable(), m.count} }

// Len returns the number of keys.
func (m Map[V]) Len() int { return m.count }

// Get returns the value of a key.
func (m Map[V]) Get(key string) (value V, ok bool) {
	list, _ := m.trie.get(maphash.String(seed, key))
	for ; list != nil; list = list.next {
		if list.key == key {
			return list.value, true
		}
	}
	return value, false
}

// Set gives a key a value.
func (m *Map[V]) Set(key string, value V) {
	m.trie.set(maphash.String(seed, key), func(list *entry[V]) *entry[V] {
		rest := list.without(key)
		if rest.len() == list.len() {
			m.count++
		}
		return &entry[V]{key, value, rest}
	})
}

// Delete removes a key, if it is there.
func (m *Map[V]) Delete(key string) {
	m.trie.set(maphash.String(seed, key), func(list *entry[V]) *entry[V] {
		rest := list.without(key)
		if rest.len() < list.len() {
			m.count--
		}
		return rest
	})
}

// All returns the keys and values, in no particular order.
func (m Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		m.trie.root.each(func(list *entry[V]) bool {
			for ; list != nil; list = list.next {
				if !yield(list.key, list.value) {
					return false
				}
			}
			return true
		})
	}
}

func (e *entry[V]) len() (n int) {
	for ; e != nil; e = e.next {
		n++
	}
	return n
}

// without returns the list without a key; it is not changed in place.
func (e *entry[V]) without(key string) *entry[V] {
	switch {
	case e == nil:
		return nil
	case e.key == key:
		return e.next
	case e.next == nil:
		return e
	}
	return &entry[V]{e.key, e.value, e.next.without(key)}
}
