// Package likeness tells texts that are nearly the same by fingerprints of 64 bits: Charikar's simhash
// (Similarity Estimation Techniques from Rounding Algorithms, 2002) over pairs of words that follow one
// another.
package likeness

import "math/bits"

const (
	least  = 16 // features: in a text of fewer words, one word is the matter
	unlike = 8  // bits
)

// Alike reports whether two likenesses are those of texts that differ in very few of their words: about one
// in thirty. Those of two texts at random differ in half of their bits. Texts without likeness are like no
// other.
func Alike(x, y uint64) bool { return x != 0 && y != 0 && bits.OnesCount64(x^y) <= unlike }

// Votes collects the features of a text: each is a vote for and against every bit. The zero value is that of
// no text.
type Votes struct {
	sums     [64]int32
	features int
}

// Add adds a feature by its hash.
func (v *Votes) Add(hash uint64) {
	for bit := range v.sums {
		v.sums[bit] += int32(hash>>bit&1)*2 - 1
	}
	v.features++
}

// Likeness returns the fingerprint: 0 if there are too few features for one.
func (v *Votes) Likeness() uint64 {
	if v.features < least {
		return 0
	}
	likeness := uint64(0)
	for bit, sum := range v.sums {
		if sum > 0 {
			likeness |= 1 << bit
		}
	}
	return max(likeness, 1)
}
