package fulltext

import "github.com/webrace/webrace/internal/analyze"

// term is a word of a query or a text as it is looked for.
type term struct {
	folded string
	stems  []string // what its other forms have in common with it; the word itself if they have no other
	common bool     // a stop word
}

// eachWord calls yield for each word of a text, with the bytes at which it stands.
func eachWord(text []byte, yield func(start, end int, w term)) {
	analyze.Words(text, func(start, end int, folded []byte) bool {
		word := string(folded)
		yield(start, end, term{word, []string{analyze.Stem(word)}, analyze.IsStopWord(word)})
		return true
	})
}

// analyzed returns the words of a text.
func analyzed(text string) (words []term) {
	eachWord([]byte(text), func(_, _ int, w term) { words = append(words, w) })
	return words
}
