package hashtable

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

func TestTrieIsAMapAndPersistent(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	key := func() uint64 {
		k := random.Uint64N(500)
		switch k % 3 {
		case 0:
			return k << 59 // alike in all bits but the last that are looked at
		case 1:
			return k * 0x9E3779B97F4A7C15
		}
		return k
	}
	type state struct {
		trie trie[int]
		want map[uint64]int
	}
	now := state{trie: trie[int]{}.editable(), want: map[uint64]int{}}
	var kept []state
	for i := range 20000 {
		k := key()
		if random.IntN(2) == 0 {
			now.trie.set(k, func(int) int { return i + 1 })
			now.want[k] = i + 1
		} else {
			now.trie.set(k, func(old int) int {
				if old != now.want[k] {
					t.Fatalf("key %x: %d, want %d", k, old, now.want[k])
				}
				return 0
			})
			delete(now.want, k)
		}
		if i%7 == 0 {
			now.trie = now.trie.editable()
		}
		if i%2100 == 0 {
			copied := map[uint64]int{}
			for k, v := range now.want {
				copied[k] = v
			}
			kept = append(kept, state{now.trie, copied})
			now.trie = now.trie.editable()
		}
	}
	for i, s := range append(kept, now) {
		for range 5000 {
			k := key()
			got, ok := s.trie.get(k)
			if want, has := s.want[k]; got != want || ok != has {
				t.Fatalf("state %d, key %x: %d, %v; want %d, %v", i, k, got, ok, want, has)
			}
		}
	}
}

func TestMapIsAMapAndPersistent(t *testing.T) {
	t.Parallel()
	type state struct {
		got  Map[int]
		want map[string]int
	}
	random := rand.New(rand.NewPCG(5, 6))
	now := state{Map[int]{}.Editable(), map[string]int{}}
	var kept []state
	for i := range 20000 {
		key := fmt.Sprint(random.IntN(3000))
		if random.IntN(3) == 0 {
			now.got.Delete(key)
			delete(now.want, key)
		} else {
			now.got.Set(key, i)
			now.want[key] = i
		}
		if i%1000 == 0 {
			kept = append(kept, state{now.got, maps.Clone(now.want)})
			now.got = now.got.Editable()
		}
	}
	for i, s := range append(kept, now) {
		if s.got.Len() != len(s.want) || !maps.Equal(maps.Collect(s.got.All()), s.want) {
			t.Fatalf("state %d has %d keys, want %d", i, s.got.Len(), len(s.want))
		}
		for k := range 3100 {
			key := fmt.Sprint(k)
			if got, ok := s.got.Get(key); got != s.want[key] || ok != (s.want[key] != 0 || hasKey(s.want, key)) {
				t.Fatalf("state %d, key %s: %d, %v", i, key, got, ok)
			}
		}
	}
	for range now.got.All() {
		break // must be possible
	}
}

func hasKey(m map[string]int, key string) bool { _, ok := m[key]; return ok }

// TestKeysWithTheSameHashAreKeptApart looks at the list that such keys are in.
func TestKeysWithTheSameHashAreKeptApart(t *testing.T) {
	t.Parallel()
	var list *leaf[int]
	for i, key := range []string{"a", "b", "c"} {
		list = &leaf[int]{key, i, list.without(key)}
	}
	before := list
	list = list.without("b").without("x")
	if list.len() != 2 || list.key != "c" || list.next.key != "a" || before.len() != 3 {
		t.Errorf("%v", list)
	}
}
