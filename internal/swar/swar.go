// Package swar looks at eight bytes at a time, in a word of 64 bits: for texts whose parts are too short
// for the searches of the standard library to pay.
package swar

import "encoding/binary"

const (
	Each  = 0x0101010101010101 // a 1 in each byte
	Upper = 0x80 * Each        // the upper bit of each
)

// Zeroes returns the upper bit of each byte of x that is zero. It is exact up to the first that is, the
// lowest; above one, a byte that is 1 may be taken for zero too.
func Zeroes(x uint64) uint64 { return (x - Each) &^ x & Upper }

// ExactZeroes returns the upper bit of each byte of x that is zero, and of no other.
func ExactZeroes(x uint64) uint64 { return ^((x&^Upper + 0x7f*Each) | x) & Upper }

// Replace replaces each byte that is one by another.
func Replace(b []byte, from, to byte) {
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		if found := ExactZeroes(x ^ uint64(from)*Each); found != 0 {
			binary.LittleEndian.PutUint64(b, x^found>>7*uint64(from^to))
		}
	}
	for i, c := range b {
		if c == from {
			b[i] = to
		}
	}
}
