package fulltext

import (
	"bytes"
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"github.com/webrace/webrace/internal/analyze"
)

// What is indexed of one field of one document at most, because each place and each term takes memory until a batch is
// written. [Document.Shortened] tells.
const (
	maxPlaces   = 1 << 18 // words behind them are counted, and stand in no phrase
	maxTerms    = 100_000 // different ones; words that are new behind them are left out
	longestTerm = 256     // bytes; what is longer is no word
)

// wordField is a field as the library takes it: the terms of its text with their numbers and positions. The library's
// own field would make a token for each word, and a location for each token; here words are counted, and a segmentMaker
// writes what was counted as it is.
type wordField struct {
	name    string
	text    string
	options index.FieldIndexingOptions

	length    int // terms, repeated ones included
	terms     []termCount
	positions []uint32 // of all terms, one term's behind the other's
}

// termCount is a term of a text, how often it stands there (0 if that is not asked for), and at how many places.
type termCount struct {
	term      *countedTerm
	n, places uint32
}

func (f *wordField) Name() string                        { return f.name }
func (f *wordField) Value() []byte                       { return []byte(f.text) }
func (f *wordField) ArrayPositions() []uint64            { return nil }
func (f *wordField) EncodedFieldType() byte              { return 't' }
func (f *wordField) Options() index.FieldIndexingOptions { return f.options }
func (f *wordField) AnalyzedLength() int                 { return f.length }
func (f *wordField) NumPlainTextBytes() uint64           { return uint64(len(f.text)) }
func (f *wordField) Size() int                           { return len(f.text) }
func (f *wordField) Analyze()                            {} // it was, by a termCounter

// AnalyzedTokenFrequencies is for the library, if it writes the segment itself.
func (f *wordField) AnalyzedTokenFrequencies() index.TokenFrequencies {
	terms, positions := make(index.TokenFrequencies, len(f.terms)), f.positions
	for _, t := range f.terms {
		counted := &index.TokenFreq{Term: []byte(t.term.term)}
		counted.SetFrequency(int(t.n))
		for _, p := range positions[:t.places] {
			counted.Locations = append(counted.Locations, &index.TokenLocation{Position: int(p)})
		}
		terms[t.term.term], positions = counted, positions[t.places:]
	}
	return terms
}

// termCounter counts the terms of texts, each in two passes: over its words, to learn how often each term stands there,
// and over their positions, which go to where the first pass made room. The zero value is ready to use.
type termCounter struct {
	known  map[analyze.Language]map[string]knownWord // words as they are spelt
	terms  vocabulary
	found  []*countedTerm // the terms of the text
	places []wordPlace
	arena  *arena // for what the library is given
}

type wordPlace struct {
	term     *countedTerm // that stands for the word in phrases
	position uint32
}

// vocabulary is the terms that were met, one of each, whatever the language: stemming a word costs as much as reading a
// hundred. They are made in few large pieces, since each collection of garbage looks at every one.
type vocabulary struct {
	terms  map[string]*countedTerm
	text   strings.Builder // the latest piece of the terms' text
	unused []countedTerm   // of the latest piece
}

// knownWord is indexed under two terms: as it stands, folded, so that beginnings and misspellings can be looked for and
// the exact form ranks first; and as its stem, so that other forms are found. The stem alone has the position, since
// phrases are looked for by stems too. Stop words that are left out keep their place within phrases.
type knownWord struct {
	folded, stem *countedTerm // often the same
	common       bool
}

// countedTerm is a term with what was counted of it: in the text at hand, and then in the field of a segment.
type countedTerm struct {
	term      string
	n, places uint32 // of it in the text
	at        uint32 // where the next of its places, or of its documents, goes
	documents uint32 // that have it in the field
}

// maxVocabulary is how many terms and words are remembered; then it begins anew.
const maxVocabulary = 1 << 18

// begin gets ready for a batch, in which each term is to be the same countedTerm everywhere.
func (c *termCounter) begin() {
	size := len(c.terms.terms)
	for _, words := range c.known {
		size += len(words)
	}
	if c.known == nil || size > maxVocabulary {
		c.known, c.terms = map[analyze.Language]map[string]knownWord{}, vocabulary{terms: map[string]*countedTerm{}}
	}
	c.arena = arenas.Get().(*arena)
}

// end ends a batch. If it was not applied, the library may still have some of it.
func (c *termCounter) end(applied bool) {
	if applied {
		c.arena.reset()
		arenas.Put(c.arena)
	}
	c.arena = nil
}

// words returns the known words of a language.
func (c *termCounter) words(language analyze.Language) map[string]knownWord {
	known := c.known[language]
	if known == nil {
		known = map[string]knownWord{}
		c.known[language] = known
	}
	return known
}

func (c *termCounter) learn(known map[string]knownWord, language analyze.Language, folded, spelt string) knownWord {
	w := knownWord{folded: c.terms.term(folded), common: analyze.IsStopWord(folded)}
	w.stem = w.folded
	if stem := analyze.StemIn(language, spelt); stem != folded {
		w.stem = c.terms.term(stem)
	}
	if spelt == folded {
		spelt = w.folded.term
	}
	known[spelt] = w
	return w
}

func (v *vocabulary) term(term string) *countedTerm {
	if t := v.terms[term]; t != nil {
		return t
	}
	if len(v.unused) == 0 {
		v.unused = make([]countedTerm, 1<<10)
	}
	t := &v.unused[0]
	v.unused = v.unused[1:]
	if v.text.Cap()-v.text.Len() < len(term) {
		v.text.Reset() // its text stays as long as terms are made of it
		v.text.Grow(max(1<<14, len(term)))
	}
	start := v.text.Len()
	v.text.WriteString(term)
	t.term = v.text.String()[start:]
	v.terms[t.term] = t
	return t
}

// value gives a field its text as its only term, in which nothing is counted.
func (c *termCounter) value(f *wordField) {
	f.length, f.terms = 1, c.arena.counts.take(1)
	f.terms[0] = termCount{term: c.arena.values.term(f.text)}
}

// count gives a field the terms of its text, and reports whether that is all of them.
func (c *termCounter) count(f *wordField, language analyze.Language) (whole bool) {
	if f.text == "" {
		return true
	}
	text, known, common := c.arena.bytes(f.text), c.words(language), hasCommon(f.name)
	position, end := uint32(0), 0
	whole = true
	analyze.Spellings(text, func(start, stop int, folded, spelt []byte) bool {
		position++
		if start > end && bytes.IndexByte(text[end:start], BlockEnd[0]) >= 0 { // pairs of ideographs overlap
			position += blockGap
		}
		end = stop
		if len(folded) > longestTerm {
			return true
		}
		w, ok := known[string(spelt)]
		if !ok {
			if len(c.found) >= maxTerms {
				whole = false
				return true
			}
			w = c.learn(known, language, string(folded), string(spelt))
		}
		if !w.common || common {
			f.length += c.add(w, position)
		}
		return true
	})
	whole = whole && len(c.places) < maxPlaces
	c.fill(f)
	return whole
}

// add counts a word, and returns under how many terms.
func (c *termCounter) add(w knownWord, position uint32) int {
	c.addTerm(w.stem)
	if len(c.places) < maxPlaces {
		w.stem.places++
		c.places = append(c.places, wordPlace{w.stem, position})
	}
	if w.folded == w.stem {
		return 1
	}
	c.addTerm(w.folded)
	return 2
}

func (c *termCounter) addTerm(t *countedTerm) {
	if t.n == 0 {
		c.found = append(c.found, t)
	}
	t.n++
}

// fill gives the field what was counted, and forgets it.
func (c *termCounter) fill(f *wordField) {
	f.terms, f.positions = c.arena.counts.take(len(c.found)), c.arena.positions.take(len(c.places))
	next := uint32(0)
	for i, t := range c.found {
		f.terms[i] = termCount{t, t.n, t.places}
		t.at, next = next, next+t.places
	}
	for _, p := range c.places {
		f.positions[p.term.at] = p.position
		p.term.at++
	}
	for _, t := range c.found {
		t.n, t.places = 0, 0
	}
	c.found, c.places = c.found[:0], c.places[:0]
}
