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

// Hash returns the hash of a folded word or a stem, as it stands in a [Token].
func Hash(term []byte) uint64 {
	h := uint64(len(term)) * salter
	for len(term) >= 8 {
		h = mix(h^binary.LittleEndian.Uint64(term), mixer)
		term = term[8:]
	}
	return mix(h^tail(term)^salter, mixer)
}

// hashASCII is Hash(Fold(word)) for a word of ASCII alone, without writing the folded word anywhere.
func hashASCII(word []byte) uint64 {
	h := uint64(len(word)) * salter
	for len(word) >= 8 {
		h = mix(h^lowerASCII(binary.LittleEndian.Uint64(word)), mixer)
		word = word[8:]
	}
	return mix(h^lowerASCII(tail(word))^salter, mixer)
}

// tail packs fewer than eight bytes into a word.
func tail(b []byte) uint64 {
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	return x
}

// lowerASCII puts the eight ASCII bytes of x in lower case. Setting the bit 0x20 in each of them would
// be shorter and wrong: it would make an underscore and a delete character of one another.
func lowerASCII(x uint64) uint64 {
	const each = 0x0101010101010101
	fromA := x + each*(0x80-'A')
	aboveZ := x + each*(0x80-'Z'-1)
	return x | (fromA^aboveZ)&(each*0x80)>>2
}
