package match

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
)

// atom is a keyword as it is looked for: terms, one after the other or near to one another.
type atom struct {
	written string
	weight  int // 0 if it does not count towards the relevance
	terms   []term
	lead    int   // the term under which the atom is posted
	within  uint8 // the fields it may stand in, as a bit each
	near    int   // the most tokens from its first term to its last, in any order; 0 for a phrase
}

// term is one word of a keyword.
type term struct {
	kind          kind
	text          string // folded; the stem, if any inflection will do
	hash          uint64 // of the text
	stem          uint64 // hash of the stem, of whole words
	before, after string // symbols that must touch it
	follows       adjacency
}

type kind uint8

const (
	inflected kind = iota // any word of this stem
	exact                 // this word
	prefix                // any word that begins so
	inside                // any word that has this in it
)

// adjacency says how the next term of a phrase follows.
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

// parse reads a keyword. The atom has no terms if the keyword has no words; the doubts say so.
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
	rest, err := a.readPrefixes(a.written)
	if err != nil {
		return atom{}, nil, err
	}
	a.terms = readTerms(rest, k)
	doubts = a.doubts()
	for i := range a.terms {
		a.terms[i].finish()
	}
	if a.near > 0 {
		a.dropRepeated()
	}
	if err := a.check(); err != nil {
		return atom{}, nil, err
	}
	a.chooseLead()
	return a, doubts, nil
}

func fieldNamed(name string) (webrace.Field, bool) {
	for field := range webrace.Field(fields) {
		if strings.EqualFold(name, field.String()) {
			return field, true
		}
	}
	return 0, false
}

// readPrefixes takes "title:" and the like and "near:5" off the key.
func (a *atom) readPrefixes(key string) (rest string, err error) {
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
			a.near, err = strconv.Atoi(distance)
			if err != nil || a.near < 1 || a.near > mostNear {
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
	analyze.Words(raw, func(start, end int, folded []byte) bool {
		t := term{kind: inflected, text: string(folded)}
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

// finish replaces the word by its stem, where any inflection will do, and computes the hashes.
func (t *term) finish() {
	stem := analyze.Stem(t.text)
	t.stem = analyze.Hash([]byte(stem))
	if t.kind == inflected {
		t.text = stem
	}
	t.hash = analyze.Hash([]byte(t.text))
}

// dropRepeated removes the second of two equal terms, since near to one another a token can be both.
func (a *atom) dropRepeated() {
	met := map[term]bool{}
	kept := a.terms[:0]
	for _, t := range a.terms {
		t.follows = apart
		if !met[t] {
			met[t] = true
			kept = append(kept, t)
		}
	}
	a.terms = kept
}

func (a *atom) check() error {
	if len(a.terms) > mostTerms {
		return fmt.Errorf("has more than %d words", mostTerms)
	}
	if a.near > 0 && len(a.terms) == 1 {
		return errors.New("asks for words near to one another and has one alone")
	}
	longest := 0
	for _, t := range a.terms {
		longest = max(longest, len(t.text))
		if t.kind == prefix && len(t.text) < 3 && utf8.RuneCountInString(t.text) < 2 {
			return errors.New("has a single letter before *")
		}
	}
	if len(a.terms) > 0 && a.terms[0].kind == inside && longest < gramBytes {
		return errors.New("is too short to be looked for inside words")
	}
	return nil
}

// doubts says what the owner of the keyword may not expect. The terms are not finished yet.
func (a *atom) doubts() []string {
	switch len(a.terms) {
	case 0:
		return []string{"has no word in it and is left out"}
	case 1:
	default:
		return nil
	}
	t := &a.terms[0]
	switch character, size := utf8.DecodeRuneInString(t.text); {
	case !a.simple() || t.kind > exact:
	case analyze.IsStopWord(t.text):
		return []string{"is a word of nearly every page"}
	case size == len(t.text) && analyze.Unspaced(character):
		return []string{fmt.Sprintf("is a single character of a script without spaces, and is found only where it stands alone; %c* also finds what begins with it", character)}
	}
	return nil
}

// chooseLead picks the term that is likely to be on the fewest pages: the longest of those that can be
// looked up best.
func (a *atom) chooseLead() {
	for i := range a.terms {
		t, best := &a.terms[i], &a.terms[a.lead]
		if rank, bestRank := max(t.kind, exact), max(best.kind, exact); rank < bestRank || rank == bestRank && len(t.text) > len(best.text) {
			a.lead = i
		}
	}
}

// identity is equal for keywords that are found in the same places.
func (a *atom) identity() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d", a.within, a.near)
	for _, t := range a.terms {
		fmt.Fprintf(&b, " %d %d %q %q %q", t.kind, t.follows, t.text, t.before, t.after)
	}
	return b.String()
}

// simple reports whether every token that the one term matches is an occurrence.
func (a *atom) simple() bool {
	return len(a.terms) == 1 && a.terms[0].before == "" && a.terms[0].after == ""
}
