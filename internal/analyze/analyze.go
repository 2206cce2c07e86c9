// Package analyze turns text into terms: the words of a text, folded so that case and diacritics make no
// difference, and reduced to their stems. Keywords, watched pages and the full-text index all pass this
// one code, so that what one of them finds the others find too.
//
// A word is a longest run of letters, digits and underscores; combining marks, soft hyphens and joiners inside it
// belong to it but leave no trace in the term. Characters are taken for what they stand for (NFKC): H₂O is H2O, and
// digits of all scripts are those of ASCII. Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese runs, which have no
// spaces between words, become overlapping pairs of characters, however these are encoded. Stems are by the rules of a
// language, and folded after these were applied: see [StemIn] for the words of texts and [Stems] for keywords, which
// have no language.
//
// Terms are identified by 64-bit hashes. Nothing that is stored holds them, but for the likenesses of
// annotations: if the hashes change, texts stored before are like none after.
package analyze

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/hashtable"
)

// Analysis is what a text consists of: tokens, in its order, each of them one of its distinct words, and
// the language of the text as a whole.
type Analysis struct {
	Tokens   []Token
	Surfaces []uint64 // of the tokens, as they stand in a Word
	Wanted   []int32  // the tokens that are told as words
	Words    []Word
	Language Language
}

// Token is one word of a text where it stands.
type Token struct {
	Word       int32 // the index of the word; 0 if it is not told as one
	Start, End int32 // its bytes in the text
	Block      int32 // the index of its block
}

// Word is one of the distinct words of a text. In a text of several languages a word that stands in blocks
// of two of them is two words, and so is one that stands there with its accents and without.
type Word struct {
	Surface uint64 // hash of the folded word
	Stem    uint64 // hash of the stem of the word
	First   int32  // the index of its first token
}

// Analyzer splits texts into tokens and remembers the stems of the words it met. It is reused from text
// to text, by one goroutine at a time. The zero value is ready to use.
type Analyzer struct {
	scanner  scanner
	stems    stemCache
	analysis Analysis
	accented []accented
	words    hashtable.Table
	spelt    []uint64 // hashes of the words as they are spelt, and once they have stems, also of the language of these
	votes    []votes  // of the words
	passages []passage
}

// Analyze returns the tokens and words of the text. They are valid until the next call.
func (a *Analyzer) Analyze(text *webrace.Text) *Analysis { return a.AnalyzeIn(Unknown, text) }

// AnalyzeIn does the same with a text that declares itself to be in the language; it is believed unless
// its words are clearly another's.
func (a *Analyzer) AnalyzeIn(expected Language, text *webrace.Text) *Analysis {
	return a.analyze(expected, text, nil)
}

// AnalyzeFor does the same as Analyze, but tells as words those tokens alone that are wanted, or seem to be. All others
// are the first word, whose hashes are 0. If wanted is nil, all are told.
func (a *Analyzer) AnalyzeFor(wanted *Wanted, text *webrace.Text) *Analysis {
	return a.analyze(Unknown, text, wanted)
}

// accented is a token whose spelling is another than its folded form, with the hash of that.
type accented struct {
	token int32
	spelt uint64
}

func (a *Analyzer) analyze(expected Language, text *webrace.Text, wanted *Wanted) *Analysis {
	a.split(text, wanted)
	a.analysis.Words, a.spelt = a.analysis.Words[:0], a.spelt[:0]
	if wanted != nil {
		a.analysis.Words, a.spelt = append(a.analysis.Words, Word{}), append(a.spelt, 0)
	}
	others := len(a.analysis.Words)
	if wanted == nil {
		a.words.Reset()
		a.distinguishIn(a.analysis.Wanted, 0)
	}
	a.poll(expected, wanted == nil)
	if wanted != nil && wanted.dismissed != nil {
		a.leaveOut(wanted)
	}
	if wanted != nil || a.mixed() {
		a.analysis.Words, a.spelt = a.analysis.Words[:others], a.spelt[:others]
		a.distinguish()
	}
	a.stem(text, others)
	return &a.analysis
}

// split finds the tokens, block after block.
func (a *Analyzer) split(text *webrace.Text, wanted *Wanted) {
	s := splitting{
		text: text.Bytes, tokens: a.analysis.Tokens[:0], surfaces: a.analysis.Surfaces[:0], found: a.analysis.Wanted[:0],
		accented: a.accented[:0],
	}
	for i, block := range text.Blocks {
		if s.block, s.wanted = int32(i), wanted; wanted != nil && !wanted.in(int32(i)) {
			s.wanted = &nothing
		}
		for at, end := int(block.Start), int(block.End); at < end; {
			if at = s.ascii(at, end); at < end {
				at = s.others(&a.scanner, at, end)
			}
		}
	}
	a.analysis.Tokens, a.analysis.Surfaces, a.analysis.Wanted, a.accented = s.tokens, s.surfaces, s.found, s.accented
}

// nothing has no words.
var nothing Wanted

// splitting is a text that is being split.
type splitting struct {
	text     []byte
	block    int32
	wanted   *Wanted // nil for all
	tokens   []Token
	surfaces []uint64
	found    []int32
	accented []accented
}

// ascii finds the tokens of a block up to the first word that is not plain ASCII, and returns where that begins.
func (s *splitting) ascii(at, end int) int {
	for at < end {
		if c := s.text[at]; !inWord[c] {
			at++
			continue
		}
		stop, surface, begins := asciiWord(s.text, at, end)
		if stop == at {
			return at // what is no ASCII needs more of a look
		}
		s.add(at, stop, surface, begins)
		at = stop
	}
	return at
}

func (s *splitting) add(start, stop int, surface, begins uint64) {
	word := int32(0)
	if s.wanted == nil || s.wanted.has(begins) {
		s.found = append(s.found, int32(len(s.tokens)))
		word = named
	}
	s.tokens = append(s.tokens, Token{Word: word, Start: int32(start), End: int32(stop), Block: s.block})
	s.surfaces = append(s.surfaces, surface)
}

// others finds the tokens of a block up to one that ASCII follows, and returns where it ends.
func (s *splitting) others(words *scanner, at, end int) int {
	for words.reset(s.text, at, end); words.next(); {
		if len(words.spelt) > 0 {
			s.accented = append(s.accented, accented{int32(len(s.tokens)), Hash(words.spelt)})
		}
		s.add(words.start, words.stop, words.hash(), words.begins())
		if words.beforeASCII() {
			break
		}
	}
	return words.at
}

// Words calls yield for each word of the text, in its order, with the bytes start to end at which it
// stands and its folded form, which is valid during the call only. It stops when yield returns false.
func Words(text []byte, yield func(start, end int, folded []byte) bool) {
	var words scanner
	words.reset(text, 0, len(text))
	for words.next() {
		if !yield(words.start, words.stop, words.folded()) {
			return
		}
	}
}

// Spellings does the same as Words, and tells also how each word is spelt: folded, but with the accents of its letters
// that the rules of stemming speak of. That is how [StemIn] and [Stems] want it.
func Spellings(text []byte, yield func(start, end int, folded, spelt []byte) bool) {
	var words scanner
	words.reset(text, 0, len(text))
	for words.next() {
		folded := words.folded()
		if !yield(words.start, words.stop, folded, words.spelling()) {
			return
		}
	}
}
