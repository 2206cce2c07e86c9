package fulltext

import "sync"

// arena is what the terms of a batch are made in. The library needs it until the batch is applied; then it serves the
// next, or is collected if none comes. Without it, most garbage of indexing would be terms.
type arena struct {
	text      []byte
	counts    slab[termCount]
	positions slab[uint32]
	values    vocabulary
}

var arenas = sync.Pool{New: func() any { return &arena{values: vocabulary{terms: map[string]*countedTerm{}}} }}

// reset takes back all that was made in the arena, which nothing uses any more.
func (a *arena) reset() {
	a.counts.taken, a.positions.taken = 0, 0
	clear(a.values.terms)
}

// bytes returns a text as bytes, until it is called again.
func (a *arena) bytes(text string) []byte {
	a.text = append(a.text[:0], text...)
	return a.text
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
