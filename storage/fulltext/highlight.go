package fulltext

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/suggest"
)

const (
	fragmentWords = 28 // of a fragment
	leadingWords  = 6  // of them before the first hit
)

// Marks stand around what a query found in a text.
type Marks struct{ Open, Close string }

// Guillemets are the marks for plain text.
var Guillemets = Marks{"«", "»"}

// Highlighter finds in texts what a query looked for. It may be used by many goroutines.
type Highlighter struct{ wanted []wanted }

// wanted is one thing that is looked for: words in a row.
type wanted struct {
	words  []term
	begins bool
	edits  int
}

// NewHighlighter returns a highlighter for a query; one that is none finds nothing.
func NewHighlighter(query string) *Highlighter {
	h := new(Highlighter)
	if root, err := parse(query); err == nil {
		h.add(root)
	}
	return h
}

func (h *Highlighter) add(n node) {
	switch n := n.(type) {
	case allOf:
		h.addEach(n.nodes)
	case anyOf:
		h.addEach(n.nodes)
	case must:
		h.add(n.node)
	case text:
		if words := analyzed(n.words); n.phrase || !n.isCommon() {
			h.wanted = append(h.wanted, wanted{words, n.begins, n.edits})
		}
	}
}

func (h *Highlighter) addEach(nodes []node) {
	for _, n := range nodes {
		h.add(n)
	}
}

// wordSpan is a word of a text, and where it stands.
type wordSpan struct {
	term
	start, end int
	opens      bool // it is the first of a block
}

func placesOf(text, language string) (places []wordSpan) {
	end := -1
	eachWord([]byte(text), analyze.ParseLanguage(language), func(start, stop int, w term) {
		opens := end < 0 || start > end && strings.Contains(text[end:start], BlockEnd)
		places = append(places, wordSpan{w, start, stop, opens})
		end = stop
	})
	return places
}

// hit is where something that is wanted stands: the words first to last.
type hit struct{ first, last, wanted int }

// hits returns what is found, in the order of the text; where things overlap, the longest of them.
func (h *Highlighter) hits(places []wordSpan) (hits []hit) {
	for i := 0; i < len(places); {
		longest, which := 0, 0
		for n, w := range h.wanted {
			if length := w.at(places[i:]); length > longest {
				longest, which = length, n
			}
		}
		if longest == 0 {
			i++
			continue
		}
		hits = append(hits, hit{i, i + longest - 1, which})
		i += longest
	}
	return hits
}

// at returns how many words at the beginning of a text are what is wanted, or 0.
func (w wanted) at(places []wordSpan) int {
	if len(w.words) > len(places) {
		return 0
	}
	for i, word := range w.words {
		if i > 0 && places[i].opens {
			return 0
		}
		found := places[i].folded
		switch {
		case w.begins && i == len(w.words)-1:
			if !strings.HasPrefix(found, word.folded) {
				return 0
			}
		case w.edits > 0:
			if apart := utf8.RuneCountInString(found) - utf8.RuneCountInString(word.folded); max(apart, -apart) > w.edits || suggest.Edits(found, word.folded) > w.edits {
				return 0
			}
		case !word.matches(places[i].term):
			return 0
		}
	}
	return len(w.words)
}

// matches reports whether another word is one of the forms of w.
func (w term) matches(other term) bool {
	if w.folded == other.folded {
		return true
	}
	for _, stem := range w.stems {
		if stem == other.folded || slices.Contains(other.stems, stem) {
			return true
		}
	}
	return false
}

// Fragments returns the parts of a text in a language (BCP 47) that show best why it answers the query, at most n,
// in the order of the text. They begin or end with … where they leave text out. Without a hit it is the beginning
// of the text alone.
func (h *Highlighter) Fragments(text, language string, n int, marks Marks) (fragments []string) {
	places := placesOf(text, language)
	if len(places) == 0 {
		return nil
	}
	hits := h.hits(places)
	for _, w := range choose(hits, n) {
		fragments = append(fragments, fragment(text, places, hits, w, marks))
	}
	if len(fragments) == 0 {
		fragments = append(fragments, fragment(text, places, nil, window{0, 0}, marks))
	}
	return fragments
}

// window is the hits first to last, counted from 0, of which one fragment shows.
type window struct{ first, last int }

// choose returns up to n windows that have no words in common. Each has the most of what none before it
// has, then the most different, then the most hits.
func choose(hits []hit, n int) (chosen []window) {
	shown := map[int]bool{}
	for len(chosen) < n {
		best, bestScore := window{}, 0
		for first := range hits {
			w, score := windowFrom(hits, first, shown)
			if score > bestScore && !slices.ContainsFunc(chosen, func(c window) bool { return c.near(w, hits) }) {
				best, bestScore = w, score
			}
		}
		if bestScore == 0 {
			break
		}
		for _, h := range hits[best.first : best.last+1] {
			shown[h.wanted] = true
		}
		chosen = append(chosen, best)
	}
	slices.SortFunc(chosen, func(a, b window) int { return a.first - b.first })
	return chosen
}

// windowFrom returns the window that begins with a hit, and how good it is.
func windowFrom(hits []hit, first int, shown map[int]bool) (w window, score int) {
	const fresh, different = 10_000, 100 // a window has fewer hits than these
	w = window{first, first - 1}
	end := hits[first].first + fragmentWords - leadingWords
	var seen []int
	for i := first; i < len(hits) && (i == first || hits[i].last < end); i++ {
		w.last = i
		score++
		if which := hits[i].wanted; !slices.Contains(seen, which) {
			seen = append(seen, which)
			score += different
			if !shown[which] {
				score += fresh
			}
		}
	}
	return w, score
}

// near reports whether the fragments of two windows would overlap.
func (w window) near(other window, hits []hit) bool {
	from, to := hits[w.first].first-leadingWords, hits[w.first].first+fragmentWords-leadingWords
	otherFrom, otherTo := hits[other.first].first-leadingWords, hits[other.first].first+fragmentWords-leadingWords
	return from < otherTo && otherFrom < to
}

// fragment returns the text around a window: from the beginning of the block, or some words before the
// first hit.
func fragment(text string, places []wordSpan, hits []hit, w window, marks Marks) string {
	first, end := 0, fragmentWords
	if len(hits) > 0 {
		hit := hits[w.first].first
		end = max(hit+fragmentWords-leadingWords, hits[w.last].last+1)
		for first = hit; first > 0 && first > hit-leadingWords && !places[first].opens; {
			first--
		}
		hits = hits[w.first : w.last+1]
	}
	var b strings.Builder
	from, to := places[first].start, len(text)
	if first == 0 {
		from = 0
	} else {
		b.WriteString("… ")
	}
	if end < len(places) {
		to = places[end-1].end
	}
	b.WriteString(marked(text, places, hits, from, to, marks))
	if end < len(places) {
		b.WriteString(" …")
	}
	return b.String()
}

// marked returns a part of a text with marks around the hits, which lie in it.
func marked(text string, places []wordSpan, hits []hit, from, to int, marks Marks) string {
	var b strings.Builder
	for _, h := range hits {
		start, end := places[h.first].start, places[h.last].end
		if start < from || end > to {
			continue // pairs of ideographs overlap
		}
		b.WriteString(text[from:start])
		b.WriteString(marks.Open + text[start:end] + marks.Close)
		from = end
	}
	b.WriteString(text[from:to])
	return strings.Join(strings.Fields(b.String()), " ")
}
