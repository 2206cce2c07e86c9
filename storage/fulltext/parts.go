package fulltext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"
)

// Question is what one of several indexes that are searched as one is asked: how often it has what a query looks for,
// what it finds, or what it knows of a word.
type Question struct {
	Query   Query       `json:"query"`
	Given   *Statistics `json:"given,omitempty"`   // of all parts, by which is ranked; nil: those of this part are asked for
	Relaxed bool        `json:"relaxed,omitempty"` // any of the words will do
	Last    *Hit        `json:"last,omitempty"`    // of hits that come behind it none is wanted

	Word string `json:"word,omitempty"` // instead of a query
	Far  int    `json:"far,omitempty"`  // how many letters of it differ; 0: whether it is known
}

// Answer is what it says, or what several of them do, as [Merge] has it.
type Answer struct {
	Statistics *Statistics       `json:"statistics,omitempty"`
	Results    Results           `json:"results"` // the first hits, with all values of facets
	Known      bool              `json:"known,omitempty"`
	Near       map[string]uint64 `json:"near,omitempty"`
}

// Statistics are what ranks documents beside what they are themselves. Those of several indexes add up to those of one
// that has all their documents.
type Statistics struct {
	Documents uint64              `json:"documents"`
	Found     map[string][]uint64 `json:"found"` // how often each thing is there that a query looks for, in each place
}

var errOtherRelease = errors.New("its parts do not count the same: they are searched by different releases")

func (s *Statistics) add(other *Statistics) error {
	s.Documents += other.Documents
	for name, counts := range other.Found {
		sum, ok := s.Found[name]
		switch {
		case !ok:
			s.Found[name] = slices.Clone(counts)
		case len(sum) != len(counts):
			return errOtherRelease
		default:
			for i, n := range counts {
				sum[i] += n
			}
		}
	}
	return nil
}

// Answer answers as one of several indexes.
func (s *Store) Answer(ctx context.Context, q Question) (a Answer, err error) {
	switch {
	case q.Word != "":
		err = s.use(func(ix *bleveIndex) error {
			return ix.read(func(r index.IndexReader) error { return a.ofWord(ctx, r, q) })
		})
	case q.Given == nil:
		a.Statistics, err = s.statistics(ctx, q.Query)
	default:
		a.Results, err = s.found(ctx, q)
	}
	return a, err
}

func (a *Answer) ofWord(ctx context.Context, r index.IndexReader, q Question) (err error) {
	switch {
	case len(analyzed(q.Word)) != 1:
		err = fmt.Errorf("%w: %q is not one word", ErrQuery, q.Word)
	case q.Far == 0:
		a.Known, err = dictionary{r}.knows(ctx, q.Word)
	default:
		a.Near, err = dictionary{r}.near(ctx, q.Word, min(q.Far, maxFuzziness))
	}
	return err
}

// statistics returns how often the index has what a query looks for.
func (s *Store) statistics(ctx context.Context, q Query) (*Statistics, error) {
	c, err := q.compile()
	if err != nil {
		return nil, err
	}
	c.noted = &Statistics{Found: map[string][]uint64{}}
	err = s.use(func(ix *bleveIndex) error {
		return ix.read(func(r index.IndexReader) (err error) {
			if c.noted.Documents, err = r.DocCount(); err != nil {
				return err
			}
			searcher, err := c.Searcher(ctx, r, search.SearcherOptions{})
			if err != nil {
				return err
			}
			return searcher.Close()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", q.Text, err)
	}
	return c.noted, nil
}

// found returns what of the first hits of all parts this one can have.
func (s *Store) found(ctx context.Context, q Question) (Results, error) {
	c, err := q.Query.compile()
	if err != nil {
		return Results{}, err
	}
	c.given, c.relaxed = q.Given, q.Relaxed
	q.Query.Size, q.Query.From = q.Query.From+q.Query.Size, 0
	if q.Query.Facets > 0 {
		q.Query.Facets = everyDay
	}
	r, err := s.search(ctx, q.Query, c, q.Last)
	if err != nil {
		return Results{}, fmt.Errorf("search %q: %w", q.Query.Text, err)
	}
	return r, nil
}

// Merge makes one answer of those of several indexes, none of which has a document that another has. Merged answers
// may be merged again, in any order.
func Merge(q Question, answers []Answer) (sum Answer, err error) {
	switch {
	case q.Word != "":
		sum.Near = map[string]uint64{}
		for _, a := range answers {
			sum.Known = sum.Known || a.Known
			for near, n := range a.Near {
				sum.Near[near] += n
			}
		}
	case q.Given == nil:
		sum.Statistics = &Statistics{Found: map[string][]uint64{}}
		for _, a := range answers {
			if a.Statistics == nil {
				return sum, errOtherRelease
			}
			if err := sum.Statistics.add(a.Statistics); err != nil {
				return sum, err
			}
		}
	default:
		sum.Results = mergeResults(q.Query, answers)
	}
	return sum, nil
}

// mergeResults puts together what is found: the first hits that are wanted, and all values of facets.
func mergeResults(q Query, answers []Answer) (r Results) {
	counts := map[string]map[string]int{}
	for _, a := range answers {
		r.Total += a.Results.Total
		r.Hits = append(r.Hits, a.Results.Hits...)
		for name, f := range a.Results.Facets {
			if counts[name] == nil {
				counts[name] = map[string]int{}
			}
			for _, c := range f.Counts {
				counts[name][c.Value] += c.Count
			}
		}
	}
	slices.SortFunc(r.Hits, q.Sort.compare)
	r.Hits = r.Hits[:min(q.From+q.Size, len(r.Hits))]
	if q.Facets > 0 {
		r.Facets = map[string]Facet{}
		for _, name := range Facets {
			var f Facet
			for value, n := range counts[name] {
				f.Counts = append(f.Counts, Count{value, n})
			}
			r.Facets[name] = f
		}
	}
	return r
}

// Ask asks several indexes, as [Store.Answer], and merges their answers.
type Ask func(ctx context.Context, q Question) (Answer, error)

// SearchParts is [Store.Search] of several indexes: what it finds, and in which order, is what one index of all their
// documents would.
func SearchParts(ctx context.Context, q Query, ask Ask) (Results, error) {
	started := time.Now()
	if q.Now.IsZero() {
		q.Now = started
	}
	c, err := q.compile()
	if err != nil {
		return Results{}, err
	}
	counted, err := ask(ctx, Question{Query: q})
	if err != nil {
		return Results{}, err
	}
	r, err := foundIn(ctx, Question{Query: q, Given: counted.Statistics}, ask)
	if all, ok := c.root.(allOf); err == nil && r.Total == 0 && ok && !all.explicit {
		r, err = foundIn(ctx, Question{Query: q, Given: counted.Statistics, Relaxed: true}, ask)
		r.Relaxed = r.Total > 0
	}
	r.Took = time.Since(started)
	return r, err
}

// foundIn returns the page of hits and the values of facets that are wanted, of all that is found.
func foundIn(ctx context.Context, q Question, ask Ask) (Results, error) {
	a, err := ask(ctx, q)
	r := a.Results
	r.Hits = r.Hits[min(q.Query.From, len(r.Hits)):]
	for name, f := range r.Facets {
		r.Facets[name] = mostOf(name, f.Counts, q.Query.Facets)
	}
	return r, err
}

// mostOf returns as many values of a facet as are wanted, as an index returns them.
func mostOf(name string, all []Count, size int) (f Facet) {
	if name == "date" {
		return spans(all, size)
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value)) })
	f.Counts = all
	for len(f.Counts) > size {
		f.Others += f.Counts[len(f.Counts)-1].Count
		f.Counts = f.Counts[:len(f.Counts)-1]
	}
	return f
}

// compare orders hits as the library does: those without a date are the last in each order.
func (o Sort) compare(a, b Hit) int {
	undated := func(h Hit) int {
		if h.Date.IsZero() {
			return 1
		}
		return 0
	}
	var first int
	switch o {
	case ByDate:
		first = cmp.Or(undated(a)-undated(b), a.Date.Compare(b.Date))
	case ByNewest:
		first = cmp.Or(undated(a)-undated(b), b.Date.Compare(a.Date))
	case ByURL:
	case ByHost:
		first = strings.Compare(hostOf(a.URL), hostOf(b.URL))
	default:
		first = cmp.Compare(b.Score, a.Score)
	}
	return cmp.Or(first, strings.Compare(a.id(), b.id()))
}

// id is that of the hit in its index.
func (h Hit) id() string {
	if h.Superseded {
		return idOf(h.URL, h.Version)
	}
	return h.URL
}

// SuggestFromParts is [Store.Suggest] of several indexes.
func SuggestFromParts(ctx context.Context, query string, ask Ask) (string, error) {
	return suggestFrom(ctx, query, ask)
}

func (ask Ask) knows(ctx context.Context, word string) (bool, error) {
	a, err := ask(ctx, Question{Word: word})
	return a.Known, err
}

func (ask Ask) near(ctx context.Context, word string, far int) (map[string]uint64, error) {
	a, err := ask(ctx, Question{Word: word, Far: far})
	return a.Near, err
}
