package fulltext

import (
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
		return b.expanded(t.field, func(field string) (search.Searcher, error) {
			return searcher.NewFuzzySearcher(b.ctx, b.reader, last.folded, 0, t.edits, field, 1, b.unranked())
		})
	case !t.begins:
		return b.words(t.field, words)
	}
	beginning, err := b.expanded(t.field, func(field string) (search.Searcher, error) {
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
func (b *builder) expanded(field string, find func(field string) (search.Searcher, error)) (search.Searcher, error) {
	var sources []*source
	for _, r := range ranksOf(field) {
		s, err := b.keep(find(r.field))
		if err != nil {
			return nil, err
		}
		sources = append(sources, &source{rank: r, matches: s})
	}
	return b.leaf(sources)
}

// words finds words that stand one after the other.
func (b *builder) words(field string, words []term) (search.Searcher, error) {
	var sources []*source
	for _, r := range ranksOf(field) {
		var err error
		if len(words) == 1 {
			err = b.addWord(&sources, r, words[0])
		} else {
			err = b.addPhrase(&sources, r, words)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.leaf(sources)
}

// leaf ranks by what the sources have.
func (b *builder) leaf(sources []*source) (search.Searcher, error) {
	var found uint64
	for _, s := range sources {
		found = max(found, s.count())
	}
	return b.keep(newLeaf(sources, b.documents, found), nil)
}

func (b *builder) addWord(sources *[]*source, r rank, w term) error {
	if w.common && !hasCommon(r.field) {
		return nil
	}
	add := func(term string, r rank) error {
		reader, err := b.reader.TermFieldReader(b.ctx, []byte(term), r.field, true, true, false)
		if err != nil {
			return err
		}
		if reader.Count() == 0 {
			return reader.Close() // a stem of another language, most often
		}
		*sources = append(*sources, &source{rank: r, terms: reader})
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

func (b *builder) addPhrase(sources *[]*source, r rank, words []term) error {
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
		*sources = append(*sources, &source{rank: r, matches: s})
	}
	return err
}

// near finds words that stand one after the other in a document as they do in the query, though the query
// is no phrase; nil if there are none. In bodies, looking for each pair would cost more than all the
// rest: phrases that matter have a heading.
func (b *builder) near(all allOf) (search.Searcher, error) {
	var sources []*source
	var before *term
	for _, n := range all.nodes {
		t, ok := n.(text)
		if !ok || !t.isPlain() {
			before = nil
			continue
		}
		word := analyzed(t.words)[0]
		if before != nil && !(before.common && word.common) {
			for _, r := range ranks {
				if !hasCommon(r.field) {
					continue
				}
				if err := b.addPhrase(&sources, r, []term{*before, word}); err != nil {
					return nil, err
				}
			}
		}
		before = &word
	}
	if len(sources) == 0 {
		return nil, nil
	}
	return b.leaf(sources)
}
