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
	root, err := parse(query)
	if err != nil {
		return "", err
	}
	suggested := query
	err = s.read(func(r index.IndexReader) error {
		for _, word := range plainWords(root) {
			if err := ctx.Err(); err != nil {
				return err
			}
			better, err := nearestWord(r, analyzed(word)[0])
			if err != nil {
				return err
			}
			if better != "" {
				suggested = replaceWord(suggested, word, better)
			}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("suggest another query than %q: %w", query, err)
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

// nearestWord returns the word of the index that was probably meant by one that is not in there; "" if it
// is, or if none is like it.
func nearestWord(r index.IndexReader, w term) (string, error) {
	letters := utf8.RuneCountInString(w.folded)
	fuzzy, ok := r.(index.IndexReaderFuzzy)
	if !ok || w.common || letters < 4 {
		return "", nil
	}
	for _, form := range append([]string{w.folded}, w.stems...) {
		if known, err := isKnown(r, form); known || err != nil {
			return "", err
		}
	}
	for far := 1; far <= min(maxFuzziness, letters/3); far++ {
		best, err := commonestNear(fuzzy, w.folded, far)
		if best != "" || err != nil {
			return best, err
		}
	}
	return "", nil
}

func isKnown(r index.IndexReader, word string) (known bool, err error) {
	for _, rank := range ranks {
		reader, err := r.TermFieldReader(context.Background(), []byte(word), rank.field, false, false, false)
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

// commonestNear returns the commonest word of all that differ from one by so many letters. Of stems, which
// the index has as well, the words have it that they are stems of.
func commonestNear(r index.IndexReaderFuzzy, word string, far int) (best string, err error) {
	counts := map[string]uint64{}
	for _, field := range []string{fieldTitle, fieldHeadings, fieldBody} {
		if err := countNear(r, field, word, far, counts); err != nil {
			return "", err
		}
	}
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
	return best, nil
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
