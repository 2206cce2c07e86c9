package match

import (
	"cmp"
	"slices"

	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/likeness"
)

// likeness returns the fingerprint of some blocks, whatever their order.
func (p *page) likeness(blocks []int32) uint64 {
	var votes likeness.Votes
	for _, block := range blocks {
		first, end := p.tokensOf(block)
		for at := first + 1; at < end; at++ {
			votes.Add(keyOfPair(p.words[p.tokens[at-1].Word].Surface, p.words[p.tokens[at].Word].Surface))
		}
	}
	return votes.Likeness()
}

// tokensOf returns the first token of a block, and the one after its last.
func (p *page) tokensOf(block int32) (first, end int32) {
	at := func(block int32) int32 {
		i, _ := slices.BinarySearchFunc(p.tokens, block, func(t analyze.Token, block int32) int { return cmp.Compare(t.Block, block) })
		return int32(i)
	}
	return at(block), at(block + 1)
}
