package analyze

import (
	"encoding/binary"
	"math/bits"
)

const (
	mixer  = 0x9E3779B97F4A7C15
	salter = 0xD6E8FEB86659FD93
)

func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// Hash returns the hash of a folded word or a stem, as it stands in a [Word].
func Hash(term []byte) uint64 {
	h, length := uint64(0), len(term)
	for len(term) >= 8 {
		h = hashOn(h, binary.LittleEndian.Uint64(term))
		term = term[8:]
	}
	return hashEnd(h, tail(term), length)
}

func hashOn(h, eight uint64) uint64 { return mix(h^eight, mixer) }

// hashEnd takes the last bytes of a term, fewer than eight, and its length.
func hashEnd(h, last uint64, length int) uint64 { return mix(h^last^salter*uint64(length+1), mixer) }

// tail packs fewer than eight bytes into a word.
func tail(b []byte) uint64 {
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}
