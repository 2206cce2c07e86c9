package hashtable

import (
	"math/rand/v2"
	"testing"
)

// TestTableIsAMap does the same to a table and to a Go map, with hashes that collide often.
func TestTableIsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var table Table
	for round := range 40 {
		table.Reset()
		model := map[uint64]int32{}
		for range 20 << (round % 12) {
			hash, number := random.Uint64N(4000)<<(round%3*20), random.Int32N(1<<20)
			old, had := model[hash]
			var got int32
			var has bool
			switch random.IntN(3) {
			case 0:
				if got, has = table.Get(hash); !has {
					got = old
				}
			case 1:
				if got, has = table.Set(hash, number); !has {
					got = old
				}
				model[hash] = number
			default:
				got, has = table.GetOrSet(hash, number)
				if !had {
					old = number
					model[hash] = number
				}
			}
			if has != had || got != old {
				t.Fatalf("%x: got %d, %v; want %d, %v", hash, got, has, old, had)
			}
		}
		if table.Len() != len(model) {
			t.Fatalf("%d hashes, want %d", table.Len(), len(model))
		}
		for hash, number := range model {
			if got, ok := table.Get(hash); !ok || got != number {
				t.Fatalf("%x: got %d, %v; want %d", hash, got, ok, number)
			}
		}
	}
}
