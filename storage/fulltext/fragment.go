package fulltext

import (
	"strings"

	"github.com/blevesearch/bleve/v2/search/query"

	"github.com/webrace/webrace/internal/analyze"
)

const (
	fragmentWords = 32 // of a fragment
	leadingWords  = 6  // of them before the first hit
)

// Fragment returns the part of a text that shows best why it answers a query: the words around the most
// different hits, each hit between « and ». It begins or ends with … where it leaves text out. Without a
// hit, or when the query is not one, it is the beginning of the text.
func Fragment(text, queryText string) string {
	wanted := newTerms(queryText)
	var words []word
	analyze.Words([]byte(text), func(start, end int, folded []byte) bool {
		words = append(words, word{start, end, wanted.match(string(folded))})
		return true
	})
	if len(words) == 0 {
		return ""
	}
	first := bestWindow(words)
	last := min(first+fragmentWords, len(words))
	var b strings.Builder
	if first > 0 {
		b.WriteString("… ")
	}
	at := words[first].start
	for _, w := range words[first:last] {
		if w.term == "" || w.start < at {
			continue
		}
		b.WriteString(text[at:w.start])
		b.WriteString("«" + text[w.start:w.end] + "»")
		at = w.end
	}
	if last < len(words) {
		b.WriteString(text[at:max(at, words[last-1].end)])
		b.WriteString(" …")
	} else {
		b.WriteString(text[at:])
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// word is one of a text, and the term of the query it matches, or "".
type word struct {
	start, end int
	term       string
}

// bestWindow returns the first word of the window with the most different terms, then the most hits.
func bestWindow(words []word) int {
	counts := map[string]int{}
	best, bestScore, score := -1, 0, 0
	const different = 1000 // outweighs any number of hits
	add := func(term string, n int) {
		if term == "" {
			return
		}
		if before := counts[term]; before == 0 || before+n == 0 {
			score += n * different
		}
		counts[term] += n
		score += n
	}
	for i, w := range words {
		add(w.term, 1)
		if i >= fragmentWords-leadingWords {
			add(words[i-(fragmentWords-leadingWords)].term, -1)
		}
		if score > bestScore {
			best, bestScore = i, score
		}
	}
	if best < 0 {
		return 0
	}
	first := max(best-(fragmentWords-leadingWords)+1, 0)
	for first < best && words[first].term == "" {
		first++ // to the first hit of the window
	}
	return max(min(first-leadingWords, len(words)-fragmentWords), 0)
}

// terms are what a query looks for: folded words and stems, and beginnings.
type terms struct {
	words      map[string]string // to the term as it is counted
	beginnings []string
}

func newTerms(text string) *terms {
	t := &terms{words: map[string]string{}}
	parsed, err := query.NewQueryStringQuery(text).Parse()
	q, ok := parsed.(*query.BooleanQuery)
	if err != nil || !ok {
		return t
	}
	for _, group := range []query.Query{q.Must, q.Should} {
		for _, clause := range clauses(group) {
			t.add(clause)
		}
	}
	return t
}

func (t *terms) add(clause query.Query) {
	if f, ok := clause.(query.FieldableQuery); ok && (isTerm(f.Field()) || f.Field() == "date") {
		return
	}
	switch q := clause.(type) {
	case *query.DisjunctionQuery:
		for _, d := range q.Disjuncts {
			t.add(d)
		}
	case *query.MatchQuery:
		t.addWords(q.Match)
	case *query.MatchPhraseQuery:
		t.addWords(q.MatchPhrase)
	case *query.WildcardQuery:
		if beginning := beginningOf(analyze.Fold(q.Wildcard)); beginning != "" {
			t.beginnings = append(t.beginnings, beginning)
		}
	}
}

func (t *terms) addWords(text string) {
	analyze.Words([]byte(text), func(_, _ int, folded []byte) bool {
		if word := string(folded); !analyze.IsStopWord(word) {
			stem := analyze.Stem(word)
			t.words[word], t.words[stem] = stem, stem
		}
		return true
	})
}

// match returns the term that a folded word matches, or "".
func (t *terms) match(folded string) string {
	if term := t.words[folded]; term != "" {
		return term
	}
	if term := t.words[analyze.Stem(folded)]; term != "" {
		return term
	}
	for _, beginning := range t.beginnings {
		if strings.HasPrefix(folded, beginning) {
			return beginning
		}
	}
	return ""
}
