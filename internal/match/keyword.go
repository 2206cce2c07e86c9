package match

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
)

// atom is a keyword as it is looked for. Most are plain: one word, without symbols. There may be millions
// of them, so they hold no more than they need.
type atom struct {
	written string
	hashes  []uint64          // of a plain one: a word must have one of these stems or, if it is exact, be this one
	phrase  *phrase           // nil if it is plain
	weight  uint8             // 0 if it does not count towards the relevance
	within  uint8             // the fields it may stand in, as a bit each
	exact   bool              // of a plain one
	begin   analyze.Beginning // of a plain one: of the words that it may find
}

// phrase is what is looked for by its terms: one after the other or near to one another.
type phrase struct {
	terms []term
	lead  int // the term that is likely to be on the fewest pages
	near  int // the most tokens from its first term to its last, in any order; 0 for a phrase
}

// term is one word of a phrase.
type term struct {
	kind          kind
	begin         analyze.Beginning // of the words that it may match
	text          string            // folded
	hash          uint64            // of the text
	stems         []uint64          // hashes of its stems, of whole words
	before, after string            // symbols that must touch it
	follows       adjacency
}

type kind uint8

const (
	inflected kind = iota // any word of this stem
	exact                 // this word
	prefix                // any word that begins so
	inside                // any word that has this in it
)

// adjacency is how the next term of a phrase follows.
type adjacency uint8

const (
	apart    adjacency = iota // after whatever separates words
	attached                  // right after the symbols in term.after
	shared                    // it begins with the character this one ends with: both are pairs of one run
)

const (
	longestKey = 1024 // bytes
	mostTerms  = summaryTokens
	mostNear   = summaryTokens - 1
	anyField   = 1<<fields - 1
)

// Symbols that are part of a name like C++ or .net when they stand after, before or within a word.
const (
	symbolsAfter  = "+#"
	symbolsBefore = ".#@"
	symbolsWithin = "+#.&@"
)

// parse reads a keyword. The atom is wordless if the keyword has no words; the doubts tell that.
func parse(k Keyword) (a atom, doubts []string, err error) {
	if len(k.Key) > longestKey {
		return atom{}, nil, fmt.Errorf("is longer than %d bytes", longestKey)
	}
	if !utf8.ValidString(k.Key) {
		return atom{}, nil, errors.New("is not valid UTF-8")
	}
	a = atom{written: strings.TrimSpace(k.Key), within: anyField}
	if k.Field != "" {
		field, ok := fieldNamed(k.Field)
		if !ok {
			return atom{}, nil, fmt.Errorf("has the unknown field %q", k.Field)
		}
		a.within = 1 << field
	}
	p := new(phrase)
	rest, err := a.readPrefixes(a.written, p)
	if err != nil {
		return atom{}, nil, err
	}
	p.terms = readTerms(rest, k)
	doubts = p.doubts()
	if len(p.terms) == 0 {
		return a, doubts, nil
	}
	for i := range p.terms {
		p.terms[i].finish()
	}
	if p.near > 0 {
		p.dropRepeated()
	}
	if err := p.check(); err != nil {
		return atom{}, nil, err
	}
	a.settle(p)
	return a, doubts, nil
}

// settle makes the atom look for the phrase, or for its one word if it is no more than that.
func (a *atom) settle(p *phrase) {
	t := &p.terms[0]
	a.begin = t.begin
	switch {
	case !p.simple() || t.kind > exact:
		p.chooseLead()
		a.phrase = p
	case t.kind == exact:
		a.hashes, a.exact = []uint64{t.hash}, true
	default:
		a.hashes = t.stems
	}
}

// wordless reports whether there is nothing to look for.
func (a *atom) wordless() bool { return a.hashes == nil && a.phrase == nil }

func fieldNamed(name string) (webrace.Field, bool) {
	for field := range webrace.Field(fields) {
		if strings.EqualFold(name, field.String()) {
			return field, true
		}
	}
	return 0, false
}

// readPrefixes takes "title:" and the like and "near:5" off the key.
func (a *atom) readPrefixes(key string, p *phrase) (rest string, err error) {
	for rest = key; ; {
		name, after, ok := strings.Cut(rest, ":")
		if !ok {
			return rest, nil
		}
		if field, ok := fieldNamed(name); ok {
			if a.within &= 1 << field; a.within == 0 {
				return "", errors.New("is confined to two fields at once")
			}
		} else if distance, ok := leadingNumber(after); ok && strings.EqualFold(name, "near") {
			p.near, err = strconv.Atoi(distance)
			if err != nil || p.near < 1 || p.near > mostNear {
				return "", fmt.Errorf("has a distance that is not between 1 and %d", mostNear)
			}
			after = after[len(distance):]
		} else {
			return rest, nil
		}
		rest = strings.TrimLeft(after, " \t\r\n")
	}
}

func leadingNumber(s string) (string, bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return s[:digits], digits > 0
}

func readTerms(text string, k Keyword) (terms []term) {
	raw := []byte(text)
	ended := 0 // where the last term ended
	analyze.Spellings(raw, func(start, end int, folded, spelt []byte) bool {
		t := term{kind: inflected, text: string(folded)}
		t.stems, t.begin = analyze.StemHashes(string(spelt))
		var last *term
		if len(terms) > 0 {
			last = &terms[len(terms)-1]
		}
		switch gap := raw[ended:max(ended, start)]; {
		case start < ended:
			last.follows = shared
		case last != nil && len(gap) > 0 && len(bytes.Trim(gap, symbolsWithin)) == 0:
			last.follows, last.after = attached, string(gap)
			t.kind, last.kind = exact, max(last.kind, exact)
		default:
			last.takeAfter(gap)
			if t.before = string(gap[len(bytes.TrimRight(gap, symbolsBefore)):]); t.before != "" {
				t.kind = exact
			}
		}
		if k.Exact {
			t.kind = exact
		}
		if end < len(raw) && raw[end] == '*' {
			t.kind = prefix
		}
		if k.Substring {
			t.kind = inside
		}
		terms, ended = append(terms, t), end
		return true
	})
	if len(terms) > 0 {
		terms[len(terms)-1].takeAfter(raw[ended:])
	}
	return terms
}

// takeAfter gives the term the symbols at the beginning of what follows it.
func (t *term) takeAfter(gap []byte) {
	if t == nil {
		return
	}
	if t.after = string(gap[:len(gap)-len(bytes.TrimLeft(gap, symbolsAfter))]); t.after != "" {
		t.kind = max(t.kind, exact)
	}
}

// finish computes the hashes.
func (t *term) finish() {
	t.hash = analyze.Hash([]byte(t.text))
	switch t.kind {
	case exact:
		t.begin = analyze.BeginningOfWord(t.text)
	case prefix:
		t.begin = analyze.BeginningOf(t.text)
	case inside:
		t.begin = analyze.Beginning{}
	}
}

// same reports whether the terms match the same words.
func (t *term) same(o *term) bool {
	if t.kind != o.kind || t.before != o.before || t.after != o.after {
		return false
	}
	return t.text == o.text || t.kind == inflected && t.stems[0] == o.stems[0]
}

// dropRepeated removes the second of two equal terms, since near to one another a token can be both.
func (p *phrase) dropRepeated() {
	kept := p.terms[:0]
	for _, t := range p.terms {
		t.follows = apart
		if !slices.ContainsFunc(kept, func(k term) bool { return t.same(&k) }) {
			kept = append(kept, t)
		}
	}
	p.terms = kept
}

func (p *phrase) check() error {
	if len(p.terms) > mostTerms {
		return fmt.Errorf("has more than %d words", mostTerms)
	}
	if p.near > 0 && len(p.terms) == 1 {
		return errors.New("asks for words near to one another and has one alone")
	}
	longest := 0
	for _, t := range p.terms {
		longest = max(longest, len(t.text))
		if t.kind == prefix && len(t.text) < 3 && utf8.RuneCountInString(t.text) < 2 {
			return errors.New("has a single letter before *")
		}
	}
	if p.terms[0].kind == inside && longest < gramBytes {
		return errors.New("is too short to be looked for inside words")
	}
	return nil
}

// nearlyEveryPage is what is said of stop words.
const nearlyEveryPage = "is a word of nearly every page"

// doubts returns what the owner of the keyword may not expect.
func (p *phrase) doubts() []string {
	switch len(p.terms) {
	case 0:
		return []string{"has no word in it and is left out"}
	case 1:
	default:
		return nil
	}
	t := &p.terms[0]
	switch {
	case !p.simple() || t.kind > exact:
	case analyze.IsStopWord(t.text):
		return []string{nearlyEveryPage}
	case analyze.IsUnit(t.text):
		return []string{fmt.Sprintf("is a single character of a script without spaces, and is found only where it stands alone; %s* also finds what begins with it", t.text)}
	}
	return nil
}

// chooseLead picks the term that is likely to be on the fewest pages: the longest of those that can be
// looked up best.
func (p *phrase) chooseLead() {
	for i := range p.terms {
		t, best := &p.terms[i], &p.terms[p.lead]
		if rank, bestRank := max(t.kind, exact), max(best.kind, exact); rank < bestRank || rank == bestRank && len(t.text) > len(best.text) {
			p.lead = i
		}
	}
}

// simple reports whether every token that the one term matches is an occurrence.
func (p *phrase) simple() bool {
	return len(p.terms) == 1 && p.terms[0].before == "" && p.terms[0].after == ""
}

// saying is equal for keywords of a profile that mean the same: those whose words have the same stems where
// no language is known. In German texts crawler and crawlers may be found in different places nevertheless.
func (a *atom) saying() string {
	plain := *a
	if a.phrase == nil {
		plain.hashes = a.hashes[:1]
		return plain.identity()
	}
	phrase := *a.phrase
	phrase.terms = slices.Clone(phrase.terms)
	for i := range phrase.terms {
		phrase.terms[i].stems = phrase.terms[i].stems[:1]
	}
	plain.phrase = &phrase
	return plain.identity()
}

// take makes the atom find also what another that means the same finds.
func (a *atom) take(same *atom) {
	a.begin = a.begin.Shared(same.begin)
	for _, hash := range same.hashes {
		if !slices.Contains(a.hashes, hash) {
			a.hashes = append(slices.Clip(a.hashes), hash) // others share the list
		}
	}
}

// identity is equal for keywords that are found in the same places.
func (a *atom) identity() string {
	b := fmt.Appendf(nil, "%d %t %x", a.within, a.exact, a.hashes)
	if a.phrase == nil {
		return string(b)
	}
	b = fmt.Appendf(b, " near %d", a.phrase.near)
	for _, t := range a.phrase.terms {
		b = fmt.Appendf(b, " %d %d %q %q", t.kind, t.follows, t.before, t.after)
		if t.kind == inflected {
			b = fmt.Appendf(b, " %x", t.stems)
		} else {
			b = fmt.Appendf(b, " %q", t.text)
		}
	}
	return string(b)
}
