package match

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/analyze"
)

// span is an occurrence of a keyword: the tokens first to last, both included, of one block.
type span struct{ first, last int32 }

// hit is a token that a term of a keyword matches.
type hit struct {
	at   int32
	term int
}

// count tells how often the atom occurs in each field of the blocks looked at.
func (p *page) count(a *atom, among extent) (n frequency) {
	if among == additions && !p.returns {
		among = arrivals // which are counted
	}
	switch {
	case among >= additions: // which are not
	case a.phrase == nil && a.exact:
		for _, w := range p.wordsSpelled(a.hashes[0]) {
			n.add(&p.words[w].count[among])
		}
		return n.only(a.within)
	case a.phrase == nil:
		for _, hash := range a.hashes {
			if s, ok := p.byStem.Get(hash); ok {
				n.add(&p.stems[s].count[among])
			}
		}
		return n.only(a.within)
	case a.phrase.simple():
		for _, w := range p.wordsOf(&a.phrase.terms[0]) {
			n.add(&p.words[w].count[among])
		}
		return n.only(a.within)
	}
	for _, s := range p.occurrences(a, among) {
		n[p.fieldOf(s.first)]++
	}
	return n
}

// occurrences returns where the atom occurs in the blocks looked at, in no particular order. Those of a
// phrase may overlap; those of words near to one another do not. They are valid until the next call.
func (p *page) occurrences(a *atom, among extent) []span {
	p.spans = p.spans[:0]
	switch {
	case a.phrase == nil:
		p.findPlain(a, among)
	case a.phrase.near > 0:
		p.findNear(a, among)
	default:
		p.findPhrase(a, among)
	}
	return p.spans
}

func (p *page) findPlain(a *atom, among extent) {
	words := p.wordsOfStems(a.hashes)
	if a.exact {
		words = p.wordsSpelled(a.hashes[0])
	}
	for _, w := range words {
		for at := p.words[w].First; at >= 0; at = p.later[at] {
			if p.admits(a, at, among) {
				p.spans = append(p.spans, span{at, at})
			}
		}
	}
}

func (p *page) findPhrase(a *atom, among extent) {
	terms := a.phrase.terms
	lead := p.rarest(terms)
	for _, w := range p.wordsOf(&terms[lead]) {
		for at := p.words[w].First; at >= 0; at = p.later[at] {
			s := span{at - int32(lead), at - int32(lead) + int32(len(terms)) - 1}
			if p.isPhrase(a, s, among) {
				p.spans = append(p.spans, s)
			}
		}
	}
}

// rarest returns the term with the fewest tokens on the page.
func (p *page) rarest(terms []term) (lead int) {
	fewest := uint32(0)
	for i := range terms {
		tokens := uint32(0)
		for _, w := range p.wordsOf(&terms[i]) {
			for _, n := range p.words[w].count[everything] {
				tokens += n
			}
		}
		if i == 0 || tokens < fewest {
			lead, fewest = i, tokens
		}
	}
	return lead
}

func (p *page) isPhrase(a *atom, s span, among extent) bool {
	if s.first < 0 || int(s.last) >= len(p.tokens) {
		return false
	}
	block := p.tokens[s.first].Block
	if p.tokens[s.last].Block != block || !p.admits(a, s.first, among) {
		return false
	}
	for i := range a.phrase.terms {
		at := s.first + int32(i)
		if !p.isTerm(&a.phrase.terms[i], at) || at < s.last && !p.follows(&a.phrase.terms[i], at) {
			return false
		}
	}
	return true
}

// admits reports whether the atom is looked for where the token stands.
func (p *page) admits(a *atom, at int32, among extent) bool {
	t := &p.tokens[at]
	return a.within>>p.fieldOf(at)&1 != 0 && p.looksAt(t.Block, among)
}

// isTerm reports whether the term matches the token and the symbols around it.
func (p *page) isTerm(t *term, at int32) bool {
	token := &p.tokens[at]
	switch t.kind {
	case inflected:
		if !slices.Contains(t.stems, p.words[token.Word].Stem) {
			return false
		}
	case exact:
		if p.words[token.Word].Surface != t.hash {
			return false
		}
	default:
		if !t.spelled(p.folded(token.Word)) {
			return false
		}
	}
	return t.before == "" && t.after == "" || p.hasSymbols(t, token)
}

// hasSymbols compares the bytes around the token with the term's symbols. Those before it begin a word,
// so that .net is not found in example.net; those after it are all of their kind, so that A+ is not found
// in A++.
func (p *page) hasSymbols(t *term, token *analyze.Token) bool {
	block := p.text.Blocks[token.Block]
	left, right := p.text.Bytes[block.Start:token.Start], p.text.Bytes[token.End:block.End]
	if t.before != "" {
		if !bytes.HasSuffix(left, []byte(t.before)) {
			return false
		}
		left = left[:len(left)-len(t.before)]
		if last, _ := utf8.DecodeLastRune(left); len(left) > 0 && (analyze.InWord(last) || last == rune(t.before[0])) {
			return false
		}
	}
	if !bytes.HasPrefix(right, []byte(t.after)) {
		return false
	}
	right = right[len(t.after):]
	return t.after == "" || t.follows == attached || len(right) == 0 || right[0] != t.after[len(t.after)-1]
}

// follows reports whether the next token stands to this one as the terms of the keyword do.
func (p *page) follows(t *term, at int32) bool {
	end, next := p.tokens[at].End, p.tokens[at+1].Start
	switch t.follows {
	case attached:
		return next == end+int32(len(t.after))
	case shared:
		return next < end
	}
	return next >= end
}

// findNear finds the stretches of a block in which all terms occur, the last at most a.phrase.near tokens
// after the first: each is the earliest to end after the one before it.
func (p *page) findNear(a *atom, among extent) {
	terms := a.phrase.terms
	p.findHits(a, among)
	var latest [mostTerms]int32 // where each term was last met
	forget := func() {
		for i := range terms {
			latest[i] = -1
		}
	}
	forget()
	for i, h := range p.hits {
		latest[h.term] = h.at
		if i+1 < len(p.hits) && p.hits[i+1].at == h.at {
			continue // one token may be several terms
		}
		first := slices.Min(latest[:len(terms)])
		if first < 0 || h.at-first > int32(a.phrase.near) || p.tokens[first].Block != p.tokens[h.at].Block {
			continue
		}
		p.spans = append(p.spans, span{first, h.at})
		forget()
	}
}

// findHits leaves the tokens that the terms match in p.hits, in their order.
func (p *page) findHits(a *atom, among extent) {
	p.hits = p.hits[:0]
	for i := range a.phrase.terms {
		t := &a.phrase.terms[i]
		for _, w := range p.wordsOf(t) {
			for at := p.words[w].First; at >= 0; at = p.later[at] {
				if p.admits(a, at, among) && p.isTerm(t, at) {
					p.hits = append(p.hits, hit{at, i})
				}
			}
		}
	}
	slices.SortFunc(p.hits, func(x, y hit) int { return cmp.Compare(x.at, y.at) })
}
