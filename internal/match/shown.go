package match

import (
	"cmp"
	"encoding/binary"

	"github.com/webrace/webrace/internal/simhash"
)

// shown returns the fingerprints of what a profile is shown that looks at this part of the page. They are the
// same for all who do.
func (p *page) shown(among extent) Shown {
	if p.prints[among] == nil {
		s := p.fingerprint(p.blocksOf(among))
		p.prints[among] = &s
	}
	return *p.prints[among]
}

// blocksOf returns the blocks of a part.
func (p *page) blocksOf(among extent) (blocks []int32) {
	for b := range int32(len(p.text.Blocks)) {
		if p.looksAt(b, among) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// fingerprint returns the fingerprints of some blocks, which ascend; their order makes no difference to it.
// Likeness is that of the pairs of words that follow one another in a block, or that of the words where there are
// too few pairs: lists of single words are texts too.
func (p *page) fingerprint(blocks []int32) Shown {
	var pairs, words simhash.Votes
	n, at := 0, 0
	for _, block := range blocks {
		for at < len(p.tokens) && p.tokens[at].Block < block {
			at++
		}
		first := at
		for ; at < len(p.tokens) && p.tokens[at].Block == block; at++ {
			surface := p.surfaces[at]
			words.Add(surface)
			if at > first {
				pairs.Add(keyOfPair(p.surfaces[at-1], surface))
			}
		}
		n += at - first
	}
	if n < LeastShown {
		return Shown{}
	}
	digest := p.digest(blocks)
	return Shown{max(binary.BigEndian.Uint64(digest[:8]), 1), cmp.Or(pairs.Fingerprint(), words.Fingerprint())}
}
