package match

import (
	"cmp"

	"github.com/webrace/webrace"
)

const (
	betweenBlocks = " · "
	// leastOpened is for how many bytes there must be room to begin another block.
	leastOpened = 12
)

// opening returns what the main part of the page begins with: its first blocks, as far as they have 30 tokens and fit;
// where none of them has a word, the first as it is.
func (p *page) opening(among extent, size int) (text string) {
	left := int32(summaryTokens)
	for at := p.firstToken(among); at >= 0 && left > 0; at = p.nextOpened(at, among) {
		room := size - len(text)
		if text != "" {
			if room -= len(betweenBlocks); room < leastOpened {
				break
			}
			text += betweenBlocks
		}
		w := window{page: p, span: span{at, at}, core: span{at, at}}
		for w.last+1 < int32(len(p.tokens)) && w.last-at+1 < left && p.tokens[w.last+1].Block == p.tokens[at].Block {
			w.last++
		}
		left -= w.last - at + 1
		text += w.fit(room)
	}
	return cmp.Or(text, p.wordless(among, size))
}

// wordless returns the first block that is looked at and has any text, such as the stars of a rating.
func (p *page) wordless(among extent, size int) string {
	for i, b := range p.text.Blocks {
		if text := appendCollapsed(nil, p.text.Slice(b)); len(text) > 0 && p.looksAt(int32(i), among) {
			return string(text[:wholeRunes(string(text), size)])
		}
	}
	return ""
}

// firstToken returns the first token that is looked at in the best field that has one, or that of the entry in which it
// stands; -1 if there is none. What is never new tells the least.
func (p *page) firstToken(among extent) int32 {
	first, rank := int32(-1), -2
	for i, t := range p.tokens {
		is := fieldRank[p.fieldOf(int32(i))]
		if p.text.Blocks[t.Block].Aside {
			is = -1
		}
		if is > rank && p.looksAt(t.Block, among) {
			if first, rank = int32(i), is; rank == fieldRank[webrace.FieldBody] {
				break
			}
		}
	}
	if first < 0 {
		return first
	}
	entry := p.text.Blocks[p.tokens[first].Block].Entry
	for at := first; entry != 0 && at >= 0; at-- {
		switch b := p.text.Blocks[p.tokens[at].Block]; {
		case b.Entry != entry:
			return first
		case !b.Aside:
			first = at
		}
	}
	return first
}

// nextOpened returns the first token of the next block of the main part, behind that of a token; -1 if there is none.
func (p *page) nextOpened(at int32, among extent) int32 {
	block := p.tokens[at].Block
	for ; at < int32(len(p.tokens)); at++ {
		t := p.tokens[at]
		if t.Block != block && fieldRank[p.fieldOf(at)] >= fieldRank[webrace.FieldHeading] && !p.text.Blocks[t.Block].Aside && p.looksAt(t.Block, among) {
			return at
		}
	}
	return -1
}
