package match

import (
	"slices"

	"github.com/webrace/webrace/internal/analyze"
)

// dismissals are the words that no profile of a view asks for, under the view's number; nearly all words of most pages
// are such. They are told by the hash that stands for a word everywhere here, and cost no more than to split the text.
var dismissals analyze.Dismissals

// wantEveryone confines the page, before it is opened, to the words that have not been found to be none that a profile
// of the view asks for, beside those that it is confined to already.
func (p *page) wantEveryone(v *View) {
	if !slices.Contains(p.views, v) {
		p.confine()
		p.wanted.AddAllBut(&dismissals, v.number)
		p.views = append(p.views, v)
	}
}

// dismiss takes note of the words of the page that no profile asks for of those who are matched because everyone is.
func (p *page) dismiss() {
	if len(p.views) == 0 {
		return
	}
	for word := p.others; word < len(p.words); word++ {
		if !slices.ContainsFunc(p.views, func(v *View) bool { return v.asksFor(p, word) }) {
			p.analyzer.Dismiss(&p.wanted, word)
		}
	}
}

func (v *View) asksFor(p *page, word int) bool {
	return slices.ContainsFunc(v.segments, func(l liveSegment) bool { return l.asksFor(p, word) })
}

// asksFor reports whether a profile of the segment may ask for a word of the page, by itself, as a part of a phrase, or
// for what is in it.
func (s *segment) asksFor(p *page, word int) bool {
	w, asked := &p.words[word], &s.asked
	return asked.shortParts || s.keys.has(keyOf(byStem, w.Stem)) || asked.words && s.keys.has(keyOf(byWord, w.Surface)) ||
		(asked.prefixes != 0 || asked.grams) && s.asksForPart([]byte(p.folded(int32(word))))
}

func (s *segment) asksForPart(word []byte) (asks bool) {
	s.asked.eachPart(word, func(key uint64) bool {
		asks = s.keys.has(key)
		return !asks
	})
	return asks
}

// ask takes note of what an atom looks for, as far as it is found by something else, or by nothing.
func (b *segmentBuilder) ask(a *atom) {
	if a.phrase == nil {
		a.keys(&b.asked, b.keys.mark)
		return
	}
	for i := range a.phrase.terms {
		switch t := &a.phrase.terms[i]; {
		case t.kind == exact:
			b.asked.words = true
			b.keys.mark(keyOf(byWord, t.hash))
		case t.kind == inside && len(t.text) < gramBytes:
			b.asked.shortParts = true
		default:
			t.keys(&b.asked, b.keys.mark)
		}
	}
}
