package match

import (
	"bytes"
	"cmp"
	"iter"
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
func (p *page) count(a *atom, among selection) (n tally) {
	if !a.simple() {
		for s := range p.occurrences(a, among) {
			n[p.fieldOf(s.first)]++
		}
		return n
	}
	for w := range p.wordsOf(&a.terms[0]) {
		for field, times := range p.words[w].count[among] {
			if a.within>>field&1 != 0 {
				n[field] += times
			}
		}
	}
	return n
}

// occurrences returns where the atom occurs in the blocks looked at, in no particular order. Those of a
// phrase may overlap; those of words near to one another do not.
func (p *page) occurrences(a *atom, among selection) iter.Seq[span] {
	if a.near > 0 {
		return p.nearOccurrences(a, among)
	}
	return func(yield func(span) bool) {
		lead := p.rarest(a)
		for at := range p.tokensOf(&a.terms[lead]) {
			s := span{at - int32(lead), at - int32(lead) + int32(len(a.terms)) - 1}
			if p.isPhrase(a, s, among) && !yield(s) {
				return
			}
		}
	}
}

// rarest returns the term of the atom with the fewest tokens on the page.
func (p *page) rarest(a *atom) (lead int) {
	fewest := uint32(0)
	for i := range a.terms {
		tokens := uint32(0)
		for w := range p.wordsOf(&a.terms[i]) {
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

func (p *page) isPhrase(a *atom, s span, among selection) bool {
	if s.first < 0 || int(s.last) >= len(p.tokens) {
		return false
	}
	block := p.tokens[s.first].Block
	if p.tokens[s.last].Block != block || !p.admits(a, s.first, among) {
		return false
	}
	for i := range a.terms {
		at := s.first + int32(i)
		if !p.isTerm(&a.terms[i], at) || at < s.last && !p.follows(&a.terms[i], at) {
			return false
		}
	}
	return true
}

// admits reports whether the atom is looked for where the token stands.
func (p *page) admits(a *atom, at int32, among selection) bool {
	t := &p.tokens[at]
	return a.within>>p.fieldOf(at)&1 != 0 && p.looksAt(t.Block, among)
}

// isTerm reports whether the term matches the token and the symbols around it.
func (p *page) isTerm(t *term, at int32) bool {
	token := &p.tokens[at]
	switch t.kind {
	case inflected:
		if p.words[token.Word].Stem != t.hash {
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

// nearOccurrences returns the stretches of a block in which all terms occur, the last at most a.near
// tokens after the first: each is the earliest to end after the one before it.
func (p *page) nearOccurrences(a *atom, among selection) iter.Seq[span] {
	return func(yield func(span) bool) {
		hits := p.hits[:0]
		for i := range a.terms {
			for at := range p.tokensOf(&a.terms[i]) {
				if p.admits(a, at, among) && p.isTerm(&a.terms[i], at) {
					hits = append(hits, hit{at, i})
				}
			}
		}
		p.hits = hits
		slices.SortFunc(hits, func(x, y hit) int { return cmp.Compare(x.at, y.at) })
		var latest [mostTerms]int32 // where each term was last met
		for i := range latest {
			latest[i] = -1
		}
		for i, h := range hits {
			latest[h.term] = h.at
			if i+1 < len(hits) && hits[i+1].at == h.at {
				continue // one token may be several terms
			}
			first := slices.Min(latest[:len(a.terms)])
			if first < 0 || h.at-first > int32(a.near) || p.tokens[first].Block != p.tokens[h.at].Block {
				continue
			}
			if !yield(span{first, h.at}) {
				return
			}
			for i := range latest {
				latest[i] = -1
			}
		}
	}
}
