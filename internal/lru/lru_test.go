package lru

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// model is a cache as a list, the key used longest ago first.
type model struct {
	most int
	keys []string
	held map[string]error
	gone []error
}

func (m *model) use(key string) {
	m.keys = append(slices.DeleteFunc(m.keys, func(k string) bool { return k == key }), key)
}

func (m *model) remove(key string) {
	if value, ok := m.held[key]; ok {
		m.gone = append(m.gone, value)
		delete(m.held, key)
		m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return k == key })
	}
}

func (m *model) add(key string, value error) {
	m.held[key] = value
	if m.use(key); len(m.keys) > m.most {
		m.remove(m.keys[0])
	}
}

// A cache does what a list does, whatever is asked of it in whatever order. Its values may be nil.
func TestACacheIsAsAList(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var gone []error
	c, m := New(5, func(err error) { gone = append(gone, err) }), model{most: 5, held: map[string]error{}}
	for i := range 20_000 {
		key := fmt.Sprint(rng.IntN(9))
		var value error
		if rng.IntN(3) > 0 {
			value = fmt.Errorf("value %d", i)
		}
		want, held := m.held[key]
		switch rng.IntN(6) {
		case 0:
			if got, ok := c.Get(key); got != want || ok != held {
				t.Fatalf("Get %s: %v, %t, want %v, %t", key, got, ok, want, held)
			}
			if held {
				m.use(key)
			}
		case 1:
			if got, ok := c.Peek(key); got != want || ok != held {
				t.Fatalf("Peek %s: %v, %t, want %v, %t", key, got, ok, want, held)
			}
		case 2:
			c.Add(key, value)
			m.add(key, value)
		case 3:
			if added := c.AddNew(key, value); added == held {
				t.Fatalf("AddNew %s: %t", key, added)
			}
			if !held {
				m.add(key, value)
			}
		case 4:
			c.Remove(key)
			m.remove(key)
		case 5:
			c.RemoveOldest()
			if len(m.keys) > 0 {
				m.remove(m.keys[0])
			}
		}
		if !slices.Equal(c.Keys(), m.keys) || c.Len() != len(m.keys) || !slices.Equal(gone, m.gone) {
			t.Fatalf("it has %q and has forgotten %v, want %q and %v", c.Keys(), gone, m.keys, m.gone)
		}
		gone, m.gone = nil, nil
	}
}
