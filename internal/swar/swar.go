// Package swar looks at eight bytes at a time, in a word of 64 bits: for texts whose parts are too short
// for the searches of the standard library to pay.
package swar

const (
	Each  = 0x0101010101010101 // a 1 in each byte
	Upper = 0x80 * Each        // the upper bit of each
)

// Zeroes returns the upper bit of each byte of x that is zero. It is exact up to the first that is, the
// lowest; above one, a byte that is 1 may be taken for zero too.
func Zeroes(x uint64) uint64 { return (x - Each) &^ x & Upper }
