// Package analyze turns text into terms: the words of a text, folded so that case and diacritics make no
// difference, and reduced to their stems. Keywords, watched pages and the full-text index all pass this
// one code, so that what one of them finds the others find too.
//
// A word is a longest run of letters, digits and underscores; combining marks, soft hyphens and joiners
// inside it belong to it but leave no trace in the term. Chinese, Japanese and Korean runs, which have no
// spaces between words, become overlapping pairs of characters. Stems are chosen by script, not by
// language, since a keyword has no language: Latin letters are stemmed as English, Greek as Greek,
// everything else is left whole.
//
// Terms are identified by 64-bit hashes, stable within a process only; nothing stores them.
package analyze

import "github.com/webrace/webrace"

// Token is one word of a text, where it stands and the terms it gives.
type Token struct {
	Surface    uint64        // hash of the folded word
	Stem       uint64        // hash of the stem of the folded word
	Start, End int32         // the word's bytes in the text
	Block      int32         // the index of its block
	Field      webrace.Field // the field of its block
}

// Analyzer splits texts into tokens and remembers the stems of the words it met. It is reused from text
// to text, by one goroutine at a time. The zero value is ready to use.
type Analyzer struct {
	words  scanner
	stems  stemCache
	tokens []Token
}

// Analyze returns the tokens of the text in its order, block after block. They are valid until the next
// call.
func (a *Analyzer) Analyze(text *webrace.Text) []Token {
	a.tokens = a.tokens[:0]
	for i, block := range text.Blocks {
		a.words.reset(text.Bytes, int(block.Start), int(block.End))
		for a.words.next() {
			surface := a.words.hash()
			a.tokens = append(a.tokens, Token{
				Surface: surface,
				Stem:    a.stems.get(surface, &a.words),
				Start:   int32(a.words.start),
				End:     int32(a.words.stop),
				Block:   int32(i),
				Field:   block.Field,
			})
		}
	}
	return a.tokens
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
