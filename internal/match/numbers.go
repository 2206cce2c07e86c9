package match

import "math/bits"

// numbers is a set of small numbers. It is never changed in place: with returns a set with one more,
// which shares all but a few words with the one before. The zero value is empty.
type numbers struct {
	chunks []*[chunkWords]uint64
	count  int
}

const (
	chunkWords = 64
	chunkSize  = chunkWords * 64
)

func (n numbers) has(x int) bool {
	chunk := x / chunkSize
	return chunk < len(n.chunks) && n.chunks[chunk] != nil && n.chunks[chunk][x%chunkSize/64]>>(x%64)&1 != 0
}

func (n numbers) with(x int) numbers {
	if n.has(x) {
		return n
	}
	chunk := x / chunkSize
	chunks := make([]*[chunkWords]uint64, max(len(n.chunks), chunk+1))
	copy(chunks, n.chunks)
	changed := new([chunkWords]uint64)
	if chunks[chunk] != nil {
		*changed = *chunks[chunk]
	}
	changed[x%chunkSize/64] |= 1 << (x % 64)
	chunks[chunk] = changed
	return numbers{chunks, n.count + 1}
}

// since calls visit for the numbers that the set has and an earlier one, of which it came, has not.
func (n numbers) since(earlier numbers, visit func(x int)) {
	for chunk, words := range n.chunks {
		var before *[chunkWords]uint64
		if chunk < len(earlier.chunks) {
			before = earlier.chunks[chunk]
		}
		if words == before {
			continue
		}
		for i, word := range words {
			if before != nil {
				word &^= before[i]
			}
			for ; word != 0; word &= word - 1 {
				visit(chunk*chunkSize + i*64 + bits.TrailingZeros64(word))
			}
		}
	}
}
