package fulltext

import (
	"bytes"
	"strings"
	"sync"

	index "github.com/blevesearch/bleve_index_api"

	"github.com/webrace/webrace/internal/analyze"
)

// What is indexed of one field of one document at most, because the library holds 100 bytes of memory for each place
// and 500 for each term until a batch is written. [Document.Shortened] tells.
const (
	maxPlaces   = 1 << 18 // words behind them are counted, and stand in no phrase
	maxTerms    = 100_000 // different ones; words that are new behind them are left out
	longestTerm = 256     // bytes; what is longer is no word
)

// wordField is a field of words as the library takes it: the terms of its text with their numbers and positions.
// The library's own field would make a token for each word, and a location for each token; here words are counted,
// and a location is shared by all that stand at that position in any document.
type wordField struct {
	name    string
	text    string
	options index.FieldIndexingOptions

	length int // terms, repeated ones included
	terms  index.TokenFrequencies
}

func (f *wordField) Name() string                                     { return f.name }
func (f *wordField) Value() []byte                                    { return []byte(f.text) }
func (f *wordField) ArrayPositions() []uint64                         { return nil }
func (f *wordField) EncodedFieldType() byte                           { return 't' }
func (f *wordField) Options() index.FieldIndexingOptions              { return f.options }
func (f *wordField) AnalyzedLength() int                              { return f.length }
func (f *wordField) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }
func (f *wordField) NumPlainTextBytes() uint64                        { return uint64(len(f.text)) }
func (f *wordField) Size() int                                        { return len(f.text) }
func (f *wordField) Analyze()                                         {} // it was, by a termCounter

// termCounter counts the terms of texts, each in two passes: over its words, to learn how often each term stands there,
// and over their positions, which go to where the first pass made room. The zero value is ready to use.
type termCounter struct {
	vocabularies map[analyze.Language]*vocabulary
	found        []*countedTerm // the terms of the text
	places       []wordPlace
	arena        *arena // for what the library is given
}

type wordPlace struct {
	term     *countedTerm // that stands for the word in phrases
	position int
}

// vocabulary is the words of a language that were met: stemming one costs as much as reading a hundred. It is made in
// few large pieces, since each collection of garbage looks at every one.
type vocabulary struct {
	words  map[string]knownWord // by their folded form
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

// countedTerm is a term with what was counted of it in the text at hand.
type countedTerm struct {
	term      string
	n, places int
	counted   *index.TokenFreq
}

// maxVocabulary is how many words are remembered; then it begins anew.
const maxVocabulary = 1 << 16

func (c *termCounter) vocabulary(l analyze.Language) *vocabulary {
	v := c.vocabularies[l]
	if v != nil && len(v.words) < maxVocabulary {
		return v
	}
	if c.vocabularies == nil {
		c.vocabularies = map[analyze.Language]*vocabulary{}
	}
	v = &vocabulary{words: map[string]knownWord{}, terms: map[string]*countedTerm{}}
	c.vocabularies[l] = v
	return v
}

func (v *vocabulary) learn(language analyze.Language, folded string) knownWord {
	w := knownWord{folded: v.term(folded), common: analyze.IsStopWord(folded)}
	w.stem = w.folded
	if stem := analyze.StemIn(language, folded); stem != folded {
		w.stem = v.term(stem)
	}
	v.words[w.folded.term] = w
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
		v.text.Grow(1 << 14)
	}
	start := v.text.Len()
	v.text.WriteString(term)
	t.term = v.text.String()[start:]
	v.terms[t.term] = t
	return t
}

// count gives a field the terms of its text, and reports whether that is all of them.
func (c *termCounter) count(f *wordField, language analyze.Language) (whole bool) {
	if f.text == "" {
		return true
	}
	text, known, common := c.arena.bytes(f.text), c.vocabulary(language), hasCommon(f.name)
	position, end := 0, 0
	whole = true
	analyze.Words(text, func(start, stop int, folded []byte) bool {
		position++
		if start > end && bytes.IndexByte(text[end:start], BlockEnd[0]) >= 0 { // pairs of ideographs overlap
			position += blockGap
		}
		end = stop
		if len(folded) > longestTerm {
			return true
		}
		w, ok := known.words[string(folded)]
		if !ok {
			if len(c.found) >= maxTerms {
				whole = false
				return true
			}
			w = known.learn(language, string(folded))
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
func (c *termCounter) add(w knownWord, position int) int {
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
	counted, room := c.arena.counted.take(len(c.found)), c.arena.locations.take(len(c.places))
	f.terms = c.arena.terms(len(c.found))
	for i, t := range c.found {
		t.counted = &counted[i]
		t.counted.SetFrequency(t.n)
		t.counted.Locations, room = room[:0:t.places], room[t.places:]
		f.terms[t.term] = t.counted
	}
	for _, p := range c.places {
		p.term.counted.Locations = append(p.term.counted.Locations, locationAt(p.position))
	}
	for _, t := range c.found {
		t.n, t.places, t.counted = 0, 0, nil
	}
	c.found, c.places = c.found[:0], c.places[:0]
}

// locationAt returns the location of a position. It says nothing of bytes: fragments are made of the texts, and the
// library looks at positions alone. The library only reads it.
func locationAt(position int) *index.TokenLocation {
	if position >= len(locations) {
		return &index.TokenLocation{Position: position}
	}
	return &firstLocations()[position]
}

// locations are those of the first positions, which most documents have no more of. They lie outside the heap, so that
// a garbage collection has no look at what points there.
var locations [1 << 14]index.TokenLocation

var firstLocations = sync.OnceValue(func() []index.TokenLocation {
	for i := range locations {
		locations[i].Position = i
	}
	return locations[:]
})
