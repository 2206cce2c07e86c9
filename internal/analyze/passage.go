package analyze

import "github.com/webrace/webrace"

// passage is a block that has words, or a part of it that has no more of them than may vote at once.
type passage struct {
	first    int32 // token
	votes    votes
	language Language
}

// poll tells the language of the text, and that of each passage.
func (a *Analyzer) poll(expected Language) {
	var whole ballot
	votesOf, electorate := a.votes[:0], voters()
	for i := range a.analysis.Words {
		votesOf = append(votesOf, electorate.of(a.analysis.Words[i].Surface))
	}
	tokens, passages := a.analysis.Tokens, a.passages[:0]
	for i := 0; i < len(tokens); {
		first, block := i, tokens[i].Block
		var votes votes
		for last := min(i+mostVotes, len(tokens)); i < last && tokens[i].Block == block; i++ {
			votes += votesOf[tokens[i].Word]
		}
		whole.add(votes)
		passages = append(passages, passage{first: int32(first), votes: votes})
	}
	a.votes, a.passages, a.analysis.Language = votesOf, passages, whole.winner(expected)
	for i := range passages {
		passages[i].language = passages[i].votes.in(a.analysis.Language)
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

// distinguishByLanguage tells the distinct words of the tokens once more, each language's for themselves.
func (a *Analyzer) distinguishByLanguage() {
	words := a.analysis.Words[:0]
	a.words.Reset()
	for n, p := range a.passages {
		salt := p.language.ofLatinWords().salt()
		for i := p.first; i < a.endOf(n); i++ {
			word, known := a.words.GetOrSet(a.surfaces[i]^salt, int32(len(words)))
			a.analysis.Tokens[i].Word = word
			if !known {
				words = append(words, Word{Surface: a.surfaces[i], First: i})
			}
		}
	}
	a.analysis.Words = words
}

// endOf returns the token after the last one of a passage.
func (a *Analyzer) endOf(passage int) int32 {
	if passage+1 < len(a.passages) {
		return a.passages[passage+1].first
	}
	return int32(len(a.surfaces))
}

// stem finds the stems of the words. They stand in the order of their first tokens, and so do passages.
func (a *Analyzer) stem(text *webrace.Text) {
	n := 0
	for i := range a.analysis.Words {
		w := &a.analysis.Words[i]
		for w.First >= a.endOf(n) {
			n++
		}
		t := a.analysis.Tokens[w.First]
		w.Stem = a.stems.get(a.passages[n].language.ofLatinWords(), w.Surface, text.Bytes, int(t.Start), int(t.End))
	}
}
