package match

import (
	"encoding/binary"
	"iter"

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
	var pairs simhash.Votes
	n := 0
	for words := range p.wordsIn(blocks) {
		n += len(words)
		for i := 1; i < len(words); i++ {
			pairs.Add(keyOfPair(words[i-1], words[i]))
		}
	}
	if n < LeastShown {
		return Shown{}
	}
	likeness := pairs.Fingerprint()
	if likeness == 0 {
		var votes simhash.Votes
		for words := range p.wordsIn(blocks) {
			for _, word := range words {
				votes.Add(word)
			}
		}
		likeness = votes.Fingerprint()
	}
	digest := p.digest(blocks)
	return Shown{max(binary.BigEndian.Uint64(digest[:8]), 1), likeness}
}

// wordsIn yields the words of each of some blocks.
func (p *page) wordsIn(blocks []int32) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		at := 0
		for _, block := range blocks {
			for at < len(p.tokens) && p.tokens[at].Block < block {
				at++
			}
			first := at
			for at < len(p.tokens) && p.tokens[at].Block == block {
				at++
			}
			if !yield(p.surfaces[first:at]) {
				return
			}
		}
	}
}
