package analyze

import (
	"slices"

	"github.com/webrace/webrace"
)

// passage is a block that has words, or a part of it that has no more of them than may vote at once.
type passage struct {
	first    int32 // token
	votes    votes
	language Language
}

// poll tells the language of the text, and that of each passage. If all words are known, each of them is looked up
// once.
func (a *Analyzer) poll(expected Language, known bool) {
	var whole ballot
	electorate := voters()
	a.votes = a.votes[:0]
	if known {
		for i := range a.analysis.Words {
			a.votes = append(a.votes, electorate.of(a.analysis.Words[i].Surface))
		}
	}
	tokens, passages := a.analysis.Tokens, a.passages[:0]
	for i := 0; i < len(tokens); {
		first, block := i, tokens[i].Block
		var votes votes
		for last := min(i+mostVotes, len(tokens)); i < last && tokens[i].Block == block; i++ {
			if known {
				votes += a.votes[tokens[i].Word]
			} else {
				votes += electorate.of(a.analysis.Surfaces[i])
			}
		}
		whole.add(votes, i-first)
		passages = append(passages, passage{first: int32(first), votes: votes})
	}
	a.passages, a.analysis.Language = passages, whole.winner(expected)
	for i := range passages {
		end := len(tokens)
		if i+1 < len(passages) {
			end = int(passages[i+1].first)
		}
		passages[i].language = passages[i].votes.in(a.analysis.Language, end-int(passages[i].first))
	}
}

// mixed reports whether there is a passage whose words have other stems than in the language of the text.
func (a *Analyzer) mixed() bool {
	for i := range a.passages {
		if a.passages[i].language.ofLatinWords() != a.analysis.Language.ofLatinWords() {
			return true
		}
	}
	return false
}

// distinguish tells the distinct words of the tokens that are wanted; in a text of several languages, each language's
// for themselves.
func (a *Analyzer) distinguish() {
	a.words.Reset()
	if !a.mixed() {
		a.distinguishIn(a.analysis.Wanted, 0)
		return
	}
	rest := a.analysis.Wanted
	for n, p := range a.passages {
		end := a.endOf(n)
		i := 0
		for i < len(rest) && rest[i] < end {
			i++
		}
		a.distinguishIn(rest[:i], p.language.ofLatinWords().salt())
		rest = rest[i:]
	}
}

func (a *Analyzer) distinguishIn(tokens []int32, salt uint64) {
	if accented := a.accentedFrom(tokens); len(accented) > 0 {
		a.distinguishAccented(tokens, accented, salt)
		return
	}
	words := a.analysis.Words
	for _, i := range tokens {
		surface := a.analysis.Surfaces[i]
		word, known := a.words.GetOrSet(surface^salt, int32(len(words)))
		a.analysis.Tokens[i].Word = word
		if !known {
			words = append(words, Word{Surface: surface, First: i})
			a.spelt = append(a.spelt, surface)
		}
	}
	a.analysis.Words = words
}

// distinguishAccented does so where some tokens are spelt with accents.
func (a *Analyzer) distinguishAccented(tokens []int32, accented []accented, salt uint64) {
	for _, i := range tokens {
		surface := a.analysis.Surfaces[i]
		spelling := surface
		if accented = from(accented, i); len(accented) > 0 && accented[0].token == i {
			spelling = accented[0].spelt
		}
		word, known := a.words.GetOrSet(spelling^salt, int32(len(a.analysis.Words)))
		a.analysis.Tokens[i].Word = word
		if !known {
			a.analysis.Words, a.spelt = append(a.analysis.Words, Word{Surface: surface, First: i}), append(a.spelt, spelling)
		}
	}
}

// from returns the accented tokens from one on.
func from(all []accented, token int32) []accented {
	for len(all) > 0 && all[0].token < token {
		all = all[1:]
	}
	return all
}

// accentedFrom returns the accented tokens from the first of some tokens on.
func (a *Analyzer) accentedFrom(tokens []int32) []accented {
	if len(tokens) == 0 || len(a.accented) == 0 {
		return nil
	}
	first, _ := slices.BinarySearchFunc(a.accented, tokens[0], func(t accented, token int32) int { return int(t.token - token) })
	return a.accented[first:]
}

// endOf returns the token after the last one of a passage.
func (a *Analyzer) endOf(passage int) int32 {
	if passage+1 < len(a.passages) {
		return a.passages[passage+1].first
	}
	return int32(len(a.analysis.Tokens))
}

// stem finds the stems of the words after the others. They stand in the order of their first tokens, and so do
// passages.
func (a *Analyzer) stem(text *webrace.Text, others int) {
	n := 0
	for i := range a.analysis.Words[others:] {
		w := &a.analysis.Words[others+i]
		for w.First >= a.endOf(n) {
			n++
		}
		t := a.analysis.Tokens[w.First]
		language := a.passages[n].language.ofLatinWords()
		a.spelt[others+i] ^= language.salt()
		w.Stem = a.stems.get(language, a.spelt[others+i], text.Bytes, int(t.Start), int(t.End))
	}
}
