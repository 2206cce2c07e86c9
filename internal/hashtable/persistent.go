package hashtable

import (
	"hash/maphash"
	"iter"
)

// Map is a persistent map from strings, a hash array mapped trie (Bagwell, Ideal Hash Trees, 2001): its states are
// values, a change gives a further state and leaves those before it as they were, with which it shares nearly
// everything. So any number of goroutines can read a state while another makes the next.
//
// The zero value is empty and only to be read; Editable makes the state to change. A state must not be changed by two
// goroutines at once, nor read while it is changed.
type Map[V any] struct {
	trie  trie[*leaf[V]]
	count int
}

// leaf is in a list of those whose keys have the same hash.
type leaf[V any] struct {
	key   string
	value V
	next  *leaf[V]
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
	m.trie.set(maphash.String(seed, key), func(list *leaf[V]) *leaf[V] {
		rest := list.without(key)
		if rest.len() == list.len() {
			m.count++
		}
		return &leaf[V]{key, value, rest}
	})
}

// Delete removes a key, if it is there.
func (m *Map[V]) Delete(key string) {
	m.trie.set(maphash.String(seed, key), func(list *leaf[V]) *leaf[V] {
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
		m.trie.root.each(func(list *leaf[V]) bool {
			for ; list != nil; list = list.next {
				if !yield(list.key, list.value) {
					return false
				}
			}
			return true
		})
	}
}

func (e *leaf[V]) len() (n int) {
	for ; e != nil; e = e.next {
		n++
	}
	return n
}

// without returns the list without a key; it is not changed in place.
func (e *leaf[V]) without(key string) *leaf[V] {
	switch {
	case e == nil:
		return nil
	case e.key == key:
		return e.next
	case e.next == nil:
		return e
	}
	return &leaf[V]{e.key, e.value, e.next.without(key)}
}
