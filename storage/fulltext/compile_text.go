package fulltext

import (
	"fmt"
	"slices"

	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
)

// hasCommon reports whether a field is indexed with its stop words: all but the long ones are, so that
// "with statement" is told from other statements by the headings.
func hasCommon(field string) bool { return field != fieldBody && field != fieldNavigation }

// isCommon reports whether a text is stop words alone.
func (t text) isCommon() bool {
	return !t.begins && t.edits == 0 && !slices.ContainsFunc(analyzed(t.words), func(w term) bool { return !w.common })
}

// isPlain reports whether a text is a single word that stands in no field.
func (t text) isPlain() bool {
	return t.field == "" && !t.phrase && !t.begins && t.edits == 0 && len(analyzed(t.words)) == 1
}

// ranksOf returns the fields in which a text is looked for.
func ranksOf(field string) []rank {
	if field == "" {
		return ranks
	}
	for _, r := range ranks {
		if r.field == field {
			return []rank{r}
		}
	}
	return nil
}

func (b *builder) text(t text) (search.Searcher, error) {
	words := analyzed(t.words)
	last := words[len(words)-1]
	switch {
	case t.edits > 0:
		return b.expanded(t, func(field string) (search.Searcher, error) {
			return searcher.NewFuzzySearcher(b.ctx, b.reader, last.folded, 0, t.edits, field, 1, b.unranked())
		})
	case !t.begins:
		return b.words(t.field, words)
	}
	beginning, err := b.expanded(t, func(field string) (search.Searcher, error) {
		return searcher.NewTermPrefixSearcher(b.ctx, b.reader, last.folded, field, 1, b.unranked())
	})
	if err != nil || len(words) == 1 {
		return beginning, err
	}
	before, err := b.words(t.field, words[:len(words)-1])
	if err != nil {
		return nil, err
	}
	return b.combine(parts{all: []search.Searcher{before, beginning}})
}

// expanded finds what stands for many words in each field.
func (b *builder) expanded(t text, find func(field string) (search.Searcher, error)) (search.Searcher, error) {
	var l lookedFor
	for _, r := range ranksOf(t.field) {
		s, err := b.keep(find(r.field))
		if err != nil {
			return nil, err
		}
		l.add(&source{rank: r, matches: s})
	}
	return b.leaf(fmt.Sprintf("%s:%s~%d", t.field, t.words, t.edits), l)
}

// lookedFor is where one thing is looked for, and how often that is there.
type lookedFor struct {
	sources []*source // those that have it
	counts  []uint64  // of all
}

func (l *lookedFor) add(s *source) {
	l.sources, l.counts = append(l.sources, s), append(l.counts, s.count())
}

// words finds words that stand one after the other.
func (b *builder) words(field string, words []term) (search.Searcher, error) {
	var l lookedFor
	name := field + ":"
	for _, w := range words {
		name += w.folded + " "
	}
	for _, r := range ranksOf(field) {
		var err error
		if len(words) == 1 {
			err = b.addWord(&l, r, words[0])
		} else {
			err = b.addPhrase(&l, r, words)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.leaf(name, l)
}

// leaf ranks by how often what is looked for, which has a name, is there.
func (b *builder) leaf(name string, l lookedFor) (search.Searcher, error) {
	counts := l.counts
	if b.query.noted != nil {
		b.query.noted.Found[name] = counts
	}
	if given := b.query.given; given != nil {
		if counts = given.Found[name]; len(counts) != len(l.counts) {
			return nil, errOtherRelease
		}
	}
	var found uint64
	for _, n := range counts {
		found = max(found, n)
	}
	return b.keep(newLeaf(l.sources, b.documents, found), nil)
}

func (b *builder) addWord(l *lookedFor, r rank, w term) error {
	if w.common && !hasCommon(r.field) {
		return nil
	}
	add := func(term string, r rank) error {
		ranked := b.query.noted == nil // else it is counted alone
		reader, err := b.reader.TermFieldReader(b.ctx, []byte(term), r.field, ranked, ranked, false)
		if err != nil {
			return err
		}
		if reader.Count() == 0 {
			l.counts = append(l.counts, 0)
			return reader.Close() // a stem of another language, most often
		}
		l.add(&source{rank: r, terms: reader})
		return nil
	}
	for _, stem := range w.stems {
		if err := add(stem, r); err != nil {
			return err
		}
	}
	if slices.Contains(w.stems, w.folded) {
		return nil
	}
	r.weight *= exactly
	return add(w.folded, r)
}

func (b *builder) addPhrase(l *lookedFor, r rank, words []term) error {
	positions := make([][]string, 0, len(words))
	for _, w := range words {
		if w.common && !hasCommon(r.field) {
			if len(positions) > 0 {
				positions = append(positions, []string{""}) // anything
			}
			continue
		}
		forms := slices.Clone(w.stems)
		if !slices.Contains(forms, w.folded) {
			forms = append(forms, w.folded)
		}
		positions = append(positions, forms)
	}
	for len(positions) > 0 && positions[len(positions)-1][0] == "" {
		positions = positions[:len(positions)-1]
	}
	if len(positions) == 0 {
		return nil
	}
	s, err := b.keep(searcher.NewMultiPhraseSearcher(b.ctx, b.reader, positions, 0, false, r.field, 1, search.SearcherOptions{}))
	if err == nil {
		l.add(&source{rank: r, matches: s})
	}
	return err
}

// near finds words that stand one after the other in a document as they do in the query, though the query
// is no phrase; nil if there are none. In bodies, looking for each pair would cost more than all the
// rest: phrases that matter have a heading.
func (b *builder) near(all allOf) (search.Searcher, error) {
	var l lookedFor
	name := "near "
	var before *term
	for _, n := range all.nodes {
		t, ok := n.(text)
		if !ok || !t.isPlain() {
			before = nil
			continue
		}
		word := analyzed(t.words)[0]
		if before != nil && !(before.common && word.common) {
			name += before.folded + " " + word.folded + " "
			for _, r := range ranks {
				if !hasCommon(r.field) {
					continue
				}
				if err := b.addPhrase(&l, r, []term{*before, word}); err != nil {
					return nil, err
				}
			}
		}
		before = &word
	}
	if len(l.sources) == 0 {
		return nil, nil
	}
	return b.leaf(name, l)
}
