package match

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/webrace/webrace/internal/analyze"
)

// A likeness is a fingerprint of 64 bits (Charikar's simhash over pairs of words that follow one another) that
// says whether two texts are near to equal. Texts of fewer words have none: in them, one word is the matter.
const (
	leastLikeness = 16 // words
	mostUnlike    = 8  // bits
)

// Alike reports whether two likenesses are those of texts that differ in very few of their words: about one
// in thirty. Those of two texts at random differ in half of their bits. Texts without likeness are like no other.
func Alike(x, y uint64) bool { return x != 0 && y != 0 && bits.OnesCount64(x^y) <= mostUnlike }

// likeness returns the fingerprint of some blocks, whatever their order.
func (p *page) likeness(blocks []int32) uint64 {
	var votes [64]int32
	words := 0
	for _, block := range blocks {
		words += p.vote(&votes, block)
	}
	if words < leastLikeness {
		return 0
	}
	likeness := uint64(0)
	for bit, sum := range votes {
		if sum > 0 {
			likeness |= 1 << bit
		}
	}
	return max(likeness, 1)
}

// vote lets the words of a block vote for and against each bit, and returns how many there are.
func (p *page) vote(votes *[64]int32, block int32) (words int) {
	first, last := p.tokensOf(block)
	for at := first + 1; at < last; at++ {
		hash := keyOfPair(p.words[p.tokens[at-1].Word].Surface, p.words[p.tokens[at].Word].Surface)
		for bit := range votes {
			votes[bit] += int32(hash>>bit&1)*2 - 1
		}
	}
	return int(last - first)
}

// tokensOf returns the first token of a block, and the one after its last.
func (p *page) tokensOf(block int32) (first, last int32) {
	at := func(block int32) int32 {
		i, _ := slices.BinarySearchFunc(p.tokens, block, func(t analyze.Token, block int32) int { return cmp.Compare(t.Block, block) })
		return int32(i)
	}
	return at(block), at(block + 1)
}
