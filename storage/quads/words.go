package quads

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// mostWords is how many words a query for words may have: each of them holds iterators.
const mostWords = 32

// stems returns the distinct stems of the words of a literal: a plain text, or one in a language. Numbers and dates
// have none.
func stems(t webrace.Term) []string {
	switch rdf.Datatype(t) {
	case rdf.XSDString, rdf.LangString:
	default:
		return nil
	}
	language := analyze.ParseLanguage(rdf.Language(t))
	seen := make(map[string]bool) // stemming costs more than anything else here
	var all []string
	analyze.Spellings([]byte(rdf.Value(t)), func(_, _ int, _, spelt []byte) bool {
		if !seen[string(spelt)] {
			seen[string(spelt)] = true
			all = append(all, analyze.StemIn(language, string(spelt)))
		}
		return true
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// setWords writes the words of a literal.
func setWords(b pebbledb.Batch, t webrace.Term, n id) error {
	for _, stem := range stems(t) {
		if err := b.Set(appendID(appendWord(nil, stem), n), nil); err != nil {
			return err
		}
	}
	return nil
}

// Words yields the literals that have all words of a query, each once, by their ids. A word of a query has no
// language: it stands for all that it may be a form of. A query without words finds nothing.
func (s *Snapshot) Words(ctx context.Context, query string) iter.Seq2[id, error] {
	return func(yield func(id, error) bool) {
		f := &finding{ctx: ctx, snapshot: s}
		defer f.close()
		if err := f.open(query); err != nil {
			yield(0, err)
			return
		}
		for n := f.from(0); n != 0; n = f.from(n + 1) {
			if !yield(n, nil) {
				return
			}
		}
		if f.err != nil {
			yield(0, f.err)
		}
	}
}

// finding looks for literals that have one stem of each word.
type finding struct {
	ctx      context.Context
	snapshot *Snapshot
	words    [][]*posting
	err      error
}

// posting goes through the literals that have a stem.
type posting struct {
	it     *pebbledb.Iterator
	prefix []byte
	at     id // before at the beginning, 0 at the end
}

// before is less than every id.
const before id = 1

func (f *finding) open(query string) error {
	var words [][]string
	analyze.Spellings([]byte(query), func(_, _ int, _, spelt []byte) bool {
		w := analyze.Stems(string(spelt))
		if !slices.ContainsFunc(words, func(o []string) bool { return slices.Equal(o, w) }) {
			words = append(words, w)
		}
		return len(words) <= mostWords
	})
	if len(words) > mostWords {
		return fmt.Errorf("a query for more than %d words at once: ask for fewer", mostWords)
	}
	for _, stems := range words {
		if err := f.add(stems); err != nil {
			return err
		}
	}
	return nil
}

// add adds a word that has one of some stems.
func (f *finding) add(stems []string) error {
	f.words = append(f.words, nil)
	word := &f.words[len(f.words)-1]
	for _, stem := range stems {
		prefix := appendWord(nil, stem)
		it, err := f.snapshot.state.NewIter(pebbledb.Under(prefix))
		if err != nil {
			return err
		}
		*word = append(*word, &posting{it: it, prefix: prefix, at: before})
	}
	return nil
}

func (f *finding) close() {
	for _, word := range f.words {
		for _, p := range word {
			_ = p.it.Close() // its error was looked at
		}
	}
}

// from returns the first literal of at least an id that has all words, 0 if there is none.
func (f *finding) from(least id) id {
	for len(f.words) > 0 && f.err == nil {
		if f.err = f.ctx.Err(); f.err != nil { // words that many literals have, and few have both, take long
			return 0
		}
		all := true
		for _, word := range f.words {
			n := f.first(word, least)
			if n == 0 {
				return 0
			}
			if n > least {
				least, all = n, false
			}
		}
		if all {
			return least
		}
	}
	return 0
}

// first returns the first literal of at least an id that has one of the stems of a word.
func (f *finding) first(word []*posting, least id) (lowest id) {
	for _, p := range word {
		if err := p.seek(least); err != nil {
			f.err = err
			return 0
		}
		if p.at != 0 && (lowest == 0 || p.at < lowest) {
			lowest = p.at
		}
	}
	return lowest
}

// seek goes to the first literal of at least an id.
func (p *posting) seek(least id) error {
	if p.at == 0 || p.at != before && p.at >= least {
		return nil
	}
	p.at = 0
	if !p.it.SeekGE(appendID(slices.Clip(p.prefix), least)) {
		return p.it.Error()
	}
	_, n, err := wordOf(p.it.Key())
	p.at = n
	return err
}
