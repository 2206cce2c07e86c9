package fulltext

import (
	"sync"

	index "github.com/blevesearch/bleve_index_api"
)

// arena is what the terms of a batch are made in. The library needs it until the batch is applied; then it serves the
// next, or is collected if none comes. Without it, two thirds of all garbage of indexing would be terms.
type arena struct {
	text      []byte
	counted   slab[index.TokenFreq]
	locations slab[*index.TokenLocation]
	maps      []index.TokenFrequencies
	taken     int // of the maps
}

var arenas = sync.Pool{New: func() any { return new(arena) }}

// reset takes back all that was made in the arena, which nothing uses any more.
func (a *arena) reset() { a.counted.taken, a.locations.taken, a.taken = 0, 0, 0 }

// bytes returns a text as bytes, until it is called again.
func (a *arena) bytes(text string) []byte {
	a.text = append(a.text[:0], text...)
	return a.text
}

// largestMap is how many terms a map has had that is used again: emptying one takes as long as it is large.
const largestMap = 1 << 13

// terms returns an empty map for so many terms.
func (a *arena) terms(n int) index.TokenFrequencies {
	if n > largestMap {
		return make(index.TokenFrequencies, n)
	}
	if a.taken == len(a.maps) {
		a.maps = append(a.maps, make(index.TokenFrequencies, n))
	}
	terms := a.maps[a.taken]
	a.taken++
	clear(terms)
	return terms
}

// slab hands out parts of one large slice, with what was in them before.
type slab[T any] struct {
	all   []T
	taken int
}

const slabMin = 1 << 14

func (s *slab[T]) take(n int) []T {
	if s.taken+n > len(s.all) { // what was handed out stays where it is
		s.all, s.taken = make([]T, max(2*len(s.all), n, slabMin)), 0
	}
	part := s.all[s.taken : s.taken+n : s.taken+n]
	s.taken += n
	return part
}
