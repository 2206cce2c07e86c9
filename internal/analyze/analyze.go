// Package analyze turns text into terms: the words of a text, folded so that case and diacritics make no
// difference, and reduced to their stems. Keywords, watched pages and the full-text index all pass this
// one code, so that what one of them finds the others find too.
//
// A word is a longest run of letters, digits and underscores; combining marks, soft hyphens and joiners
// inside it belong to it but leave no trace in the term. Chinese, Japanese and Korean runs, which have no
// spaces between words, become overlapping pairs of characters. Stems are by the rules of a language: see
// [StemIn] for the words of texts and [Stems] for keywords, which have no language.
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
	Words    []Word
	Language Language
}

// Token is one word of a text where it stands.
type Token struct {
	Word       int32 // the index of the word
	Start, End int32 // its bytes in the text
	Block      int32 // the index of its block
}

// Word is one of the distinct words of a text. In a text of several languages a word that stands in blocks
// of two of them is two words.
type Word struct {
	Surface uint64 // hash of the folded word
	Stem    uint64 // hash of the stem of the folded word
	First   int32  // the index of its first token
}

// Analyzer splits texts into tokens and remembers the stems of the words it met. It is reused from text
// to text, by one goroutine at a time. The zero value is ready to use.
type Analyzer struct {
	scanner  scanner
	stems    stemCache
	analysis Analysis
	surfaces []uint64 // of the tokens
	words    hashtable.Table
	votes    []votes // of the words
	passages []passage
}

// Analyze returns the tokens and words of the text. They are valid until the next call.
func (a *Analyzer) Analyze(text *webrace.Text) *Analysis { return a.AnalyzeIn(Unknown, text) }

// AnalyzeIn does the same with a text that says of itself that it is in the language; it is believed unless
// its words are clearly another's.
func (a *Analyzer) AnalyzeIn(expected Language, text *webrace.Text) *Analysis {
	a.split(text)
	a.distinguish()
	if a.poll(expected); a.mixed() {
		a.distinguishByLanguage()
	}
	a.stem(text)
	return &a.analysis
}

// split finds the tokens, block after block.
func (a *Analyzer) split(text *webrace.Text) {
	tokens, surfaces := a.analysis.Tokens[:0], a.surfaces[:0]
	for i, block := range text.Blocks {
		at, end := int(block.Start), int(block.End)
		for at < end {
			if c := text.Bytes[at]; !inWord[c] {
				at++
				continue
			}
			stop, surface := asciiWord(text.Bytes, at, end)
			if stop == at {
				break // what is no ASCII needs more of a look
			}
			tokens = append(tokens, Token{Start: int32(at), End: int32(stop), Block: int32(i)})
			surfaces = append(surfaces, surface)
			at = stop
		}
		if at < end {
			tokens, surfaces = a.splitRest(tokens, surfaces, text.Bytes, at, end, int32(i))
		}
	}
	a.analysis.Tokens, a.surfaces = tokens, surfaces
}

// splitRest finds the tokens of a block from the first word that is not plain ASCII.
func (a *Analyzer) splitRest(tokens []Token, surfaces []uint64, text []byte, at, end int, block int32) ([]Token, []uint64) {
	s := &a.scanner
	for s.reset(text, at, end); s.next(); {
		tokens = append(tokens, Token{Start: int32(s.start), End: int32(s.stop), Block: block})
		surfaces = append(surfaces, s.hash())
	}
	return tokens, surfaces
}

// distinguish tells the distinct words of the tokens.
func (a *Analyzer) distinguish() {
	words, tokens := a.analysis.Words[:0], a.analysis.Tokens
	a.words.Reset()
	for i, surface := range a.surfaces {
		word, known := a.words.GetOrSet(surface, int32(len(words)))
		tokens[i].Word = word
		if !known {
			words = append(words, Word{Surface: surface, First: int32(i)})
		}
	}
	a.analysis.Words = words
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
