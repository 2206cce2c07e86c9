package fulltext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"
)

// Part is one or several of the indexes that are searched as one, here or elsewhere, as a [Store] is.
type Part interface {
	// Answers returns the answer of each of them.
	Answers(ctx context.Context, q Question) ([]Answer, error)
}

// Question is what a part is asked: how often it has what a query looks for, what it finds, or what it knows of a word.
type Question struct {
	Query   Query       `json:"query"`
	Given   *Statistics `json:"given,omitempty"`   // of all parts, by which is ranked; nil: those of this part are asked for
	Relaxed bool        `json:"relaxed,omitempty"` // any of the words will do

	Word string `json:"word,omitempty"` // instead of a query
	Far  int    `json:"far,omitempty"`  // how many letters of it differ; 0: whether it is known
}

// Answer is what a part says.
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

// Answers answers as a part of what is searched.
func (s *Store) Answers(ctx context.Context, q Question) ([]Answer, error) {
	var a Answer
	var err error
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
	return []Answer{a}, err
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
	r, err := s.search(ctx, q.Query, c)
	if err != nil {
		return Results{}, fmt.Errorf("search %q: %w", q.Query.Text, err)
	}
	return r, nil
}

// SearchParts is [Store.Search] of several indexes, none of which has a document that another has: what it finds, and
// in which order, is what one index of all their documents would.
func SearchParts(ctx context.Context, q Query, parts []Part) (Results, error) {
	started := time.Now()
	if q.Now.IsZero() {
		q.Now = started
	}
	c, err := q.compile()
	if err != nil {
		return Results{}, err
	}
	sum, err := statisticsOf(ctx, q, parts)
	if err != nil {
		return Results{}, err
	}
	r, err := foundIn(ctx, Question{Query: q, Given: sum}, parts)
	if all, ok := c.root.(allOf); err == nil && r.Total == 0 && ok && !all.explicit {
		r, err = foundIn(ctx, Question{Query: q, Given: sum, Relaxed: true}, parts)
		r.Relaxed = r.Total > 0
	}
	r.Took = time.Since(started)
	return r, err
}

func statisticsOf(ctx context.Context, q Query, parts []Part) (*Statistics, error) {
	answers, err := askAll(ctx, Question{Query: q}, parts)
	if err != nil {
		return nil, err
	}
	sum := &Statistics{Found: map[string][]uint64{}}
	for _, a := range answers {
		if a.Statistics == nil {
			return nil, errOtherRelease
		}
		if err := sum.add(a.Statistics); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// askAll asks all parts at the same time.
func askAll(ctx context.Context, q Question, parts []Part) ([]Answer, error) {
	answers, errs := make([][]Answer, len(parts)), make([]error, len(parts))
	var asking sync.WaitGroup
	for i, p := range parts {
		asking.Go(func() { answers[i], errs[i] = p.Answers(ctx, q) })
	}
	asking.Wait()
	return slices.Concat(answers...), errors.Join(errs...)
}

// foundIn puts together what the parts find.
func foundIn(ctx context.Context, q Question, parts []Part) (r Results, err error) {
	answers, err := askAll(ctx, q, parts)
	if err != nil {
		return r, err
	}
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
	slices.SortFunc(r.Hits, q.Query.Sort.compare)
	r.Hits = r.Hits[min(q.Query.From, len(r.Hits)):min(q.Query.From+q.Query.Size, len(r.Hits))]
	if q.Query.Facets > 0 {
		r.Facets = map[string]Facet{}
		for _, name := range Facets {
			r.Facets[name] = facetOf(name, counts[name], q.Query.Facets)
		}
	}
	return r, nil
}

// facetOf returns as many values of a facet as are wanted, as an index returns them.
func facetOf(name string, counts map[string]int, size int) (f Facet) {
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		f.Counts = append(f.Counts, Count{value, counts[value]})
	}
	if name == "date" {
		return spans(f.Counts, size)
	}
	slices.SortStableFunc(f.Counts, func(a, b Count) int { return cmp.Compare(b.Count, a.Count) })
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
func SuggestFromParts(ctx context.Context, query string, parts []Part) (string, error) {
	return suggestFrom(ctx, query, lexicons(parts))
}

type lexicons []Part

func (v lexicons) knows(ctx context.Context, word string) (bool, error) {
	answers, err := askAll(ctx, Question{Word: word}, v)
	return slices.ContainsFunc(answers, func(a Answer) bool { return a.Known }), err
}

func (v lexicons) near(ctx context.Context, word string, far int) (map[string]uint64, error) {
	answers, err := askAll(ctx, Question{Word: word, Far: far}, v)
	sum := map[string]uint64{}
	for _, a := range answers {
		for near, n := range a.Near {
			sum[near] += n
		}
	}
	return sum, err
}
