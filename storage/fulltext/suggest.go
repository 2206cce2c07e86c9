package fulltext

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	index "github.com/blevesearch/bleve_index_api"

	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/suggest"
)

// Suggest returns a query with every word that no document has replaced by the commonest of the words that
// are spelt most alike; "" if there is none, or every word is known.
func (s *Store) Suggest(ctx context.Context, query string) (string, error) {
	suggested := ""
	err := s.read(func(r index.IndexReader) (err error) {
		suggested, err = suggestFrom(ctx, query, dictionary{r})
		return err
	})
	return suggested, err
}

// lexicon is the words of an index, or of several.
type lexicon interface {
	// knows reports whether a word is there in a form.
	knows(ctx context.Context, word string) (bool, error)
	// near counts in how many documents are which words that differ from one by so many letters.
	near(ctx context.Context, word string, far int) (map[string]uint64, error)
}

func suggestFrom(ctx context.Context, query string, v lexicon) (string, error) {
	root, err := parse(query)
	if err != nil {
		return "", err
	}
	suggested := query
	for _, word := range plainWords(root) {
		better, err := nearestWord(ctx, v, word)
		if err != nil {
			return "", fmt.Errorf("suggest another query than %q: %w", query, err)
		}
		if better != "" {
			suggested = replaceWord(suggested, word, better)
		}
	}
	if suggested == query {
		return "", nil
	}
	return suggested, nil
}

// plainWords returns the single words of a query that are to be found as they are.
func plainWords(n node) (words []string) {
	each := func(nodes []node) {
		for _, n := range nodes {
			words = append(words, plainWords(n)...)
		}
	}
	switch n := n.(type) {
	case allOf:
		each(n.nodes)
	case anyOf:
		each(n.nodes)
	case must:
		return plainWords(n.node)
	case text:
		for _, word := range strings.Fields(n.words) {
			if len(analyzed(word)) == 1 && !n.begins && n.edits == 0 {
				words = append(words, word)
			}
		}
	}
	return words
}

// replaceWord replaces a word where it stands alone.
func replaceWord(query, word, by string) string {
	for i := 0; ; {
		at := strings.Index(query[i:], word)
		if at < 0 {
			return query
		}
		at += i
		end := at + len(word)
		before, _ := utf8.DecodeLastRuneInString(query[:at])
		after, _ := utf8.DecodeRuneInString(query[end:])
		if (at == 0 || !analyze.InWord(before)) && (end == len(query) || !analyze.InWord(after)) {
			query = query[:at] + by + query[end:]
			i = at + len(by)
			continue
		}
		i = end
	}
}

// nearestWord returns the word that was probably meant by one that is not there; "" if it is, or if none is like it.
func nearestWord(ctx context.Context, v lexicon, word string) (string, error) {
	w := analyzed(word)[0]
	letters := utf8.RuneCountInString(w.folded)
	if w.common || letters < 4 {
		return "", nil
	}
	if known, err := v.knows(ctx, word); known || err != nil {
		return "", err
	}
	for far := 1; far <= min(maxFuzziness, letters/3); far++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		counts, err := v.near(ctx, w.folded, far)
		if err != nil {
			return "", err
		}
		if best := commonest(counts, w.folded, far); best != "" {
			return best, nil
		}
	}
	return "", nil
}

// commonest returns the commonest word of all that differ from one by so many letters. Of stems, which an index has as
// well, the words have it that they are stems of.
func commonest(counts map[string]uint64, word string, far int) (best string) {
	stems := map[string]bool{}
	for found := range counts {
		for _, stem := range analyzed(found)[0].stems {
			stems[stem] = stems[stem] || stem != found
		}
	}
	for found, n := range counts {
		if stems[found] || suggest.Edits(found, word) > far {
			continue
		}
		if best == "" || n > counts[best] || n == counts[best] && found < best {
			best = found
		}
	}
	return best
}

// dictionary is the words of one index.
type dictionary struct{ index.IndexReader }

func (d dictionary) knows(ctx context.Context, word string) (bool, error) {
	w := analyzed(word)[0]
	for _, form := range append([]string{w.folded}, w.stems...) {
		if known, err := d.has(ctx, form); known || err != nil {
			return known, err
		}
	}
	return false, nil
}

func (d dictionary) has(ctx context.Context, word string) (known bool, err error) {
	for _, rank := range ranks {
		reader, err := d.TermFieldReader(ctx, []byte(word), rank.field, false, false, false)
		if err != nil {
			return false, err
		}
		known = known || reader.Count() > 0
		if err := reader.Close(); err != nil {
			return false, err
		}
	}
	return known, nil
}

func (d dictionary) near(_ context.Context, word string, far int) (map[string]uint64, error) {
	counts := map[string]uint64{}
	fuzzy, ok := d.IndexReader.(index.IndexReaderFuzzy)
	if !ok {
		return nil, nil
	}
	for _, field := range []string{fieldTitle, fieldHeadings, fieldBody} {
		if err := countNear(fuzzy, field, word, far, counts); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

func countNear(r index.IndexReaderFuzzy, field, word string, far int, counts map[string]uint64) (err error) {
	dict, err := r.FieldDictFuzzy(field, word, far, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dict.Close()) }()
	for {
		entry, err := dict.Next()
		if err != nil || entry == nil {
			return err
		}
		if words := analyzed(entry.Term); len(words) == 1 && words[0].folded == entry.Term {
			counts[entry.Term] += entry.Count
		}
	}
}
