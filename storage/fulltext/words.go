package fulltext

import "github.com/webrace/webrace/internal/analyze"

// term is a word of a query or a text as it is looked for.
type term struct {
	folded string
	stems  []string // what it has in common with its other forms: one in a text, in a query one a language
	common bool     // a stop word
}

// eachWord calls yield for each word of a text in a language, with the bytes at which it stands.
func eachWord(text []byte, language analyze.Language, yield func(start, end int, w term)) {
	known := map[string]term{} // stemming costs more than anything else here
	analyze.Spellings(text, func(start, end int, folded, spelt []byte) bool {
		w, ok := known[string(spelt)]
		if !ok {
			word := string(folded)
			w = term{word, []string{analyze.StemIn(language, string(spelt))}, analyze.IsStopWord(word)}
			known[string(spelt)] = w
		}
		yield(start, end, w)
		return true
	})
}

// analyzed returns the words of a query, which may be of any language.
func analyzed(text string) (words []term) {
	analyze.Spellings([]byte(text), func(_, _ int, folded, spelt []byte) bool {
		word := string(folded)
		words = append(words, term{word, analyze.Stems(string(spelt)), analyze.IsStopWord(word)})
		return true
	})
	return words
}
