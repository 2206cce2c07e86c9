// Package simhash tells texts that are nearly the same by fingerprints of 64 bits: Charikar's simhash
// (Similarity Estimation Techniques from Rounding Algorithms, 2002) over pairs of words that follow one
// another. [Votes] makes a fingerprint of any features, [Fingerprinter] that of a page, and [Memory] finds
// among the pages of a host those that are like one.
package simhash

import "math/bits"

// How many bits may differ between fingerprints of texts of which one stands for the other: an alert that was
// given before, and the same page at another URL, which takes more certainty.
const (
	unlike = 8
	near   = 3
)

// Alike reports whether two fingerprints are those of texts that differ in very few of their words: about one
// in thirty. Those of two texts at random differ in half of their bits. Texts without fingerprint are like no
// other.
func Alike(x, y uint64) bool { return within(unlike, x, y) }

// Near reports whether two fingerprints are those of texts that hardly differ: in about one of a hundred pairs
// of words.
func Near(x, y uint64) bool { return within(near, x, y) }

func within(most int, x, y uint64) bool { return x != 0 && y != 0 && bits.OnesCount64(x^y) <= most }
