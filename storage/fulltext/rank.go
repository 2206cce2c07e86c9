package fulltext

import (
	"bytes"
	"errors"
	"math"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"
)

// How good a document answers a query is the sum over the words and phrases of the query of
//
//	idf · f/(f + saturation),  f = Σ weight · occurrences / (1 − b + b·length/mean)
//
// over the fields (BM25F). Occurrences in all fields are added up before they saturate, so that a page
// with a word in its title and its text beats one that has it in its text alone, however often. Nothing in
// it depends on how the index is cut into segments, so an index that is rebuilt ranks alike.
const saturation = 8

// rank is what an occurrence in a field of words counts for.
type rank struct {
	field  string
	weight float64
	b      float64 // how much of it is lost in a field that is longer than the mean
	mean   float64 // words
}

// ranks are the fields in which a word is looked for that names none.
var ranks = []rank{
	{fieldTitle, 12, 0.6, 8},
	{fieldAddress, 4, 0.5, 6},
	{fieldHeadings, 6, 0.4, 30},
	{fieldBody, 1, 0.4, 800},
	{fieldNavigation, 0.1, 0.5, 60},
}

// exactly is what it counts in addition that a word stands as it was asked for, and not in another form.
const exactly = 0.3

// sourceOf is where occurrences of something in a field are read.
type source struct {
	rank
	terms   index.TermFieldReader // of a term, counted
	matches search.Searcher       // of something else, which is there or not

	posting index.TermFieldDoc
	match   *search.DocumentMatch
	at      index.IndexInternalID // nil at the end
	started bool                  // of one that follows another searcher
}

// leaf searches for one thing in several fields, and ranks it. It is a [search.Searcher] that composes
// with those of the library.
type leaf struct {
	unweighted
	sources []*source
	idf     float64
	started bool
	last    index.IndexInternalID // what was returned last
	score   float64
}

// newLeaf ranks what is in found of all documents.
func newLeaf(sources []*source, all, found uint64) *leaf {
	found = min(found, all)
	return &leaf{sources: sources, idf: math.Log(1 + (float64(all-found)+0.5)/(float64(found)+0.5))}
}

func (s *source) next(c *search.SearchContext) (err error) {
	if s.terms != nil {
		found, err := s.terms.Next(s.posting.Reset())
		return s.stand(found, err)
	}
	s.release(c)
	if s.match, err = s.matches.Next(c); err != nil || s.match == nil {
		s.at = nil
		return err
	}
	s.at = s.match.IndexInternalID
	return nil
}

func (s *source) advance(c *search.SearchContext, to index.IndexInternalID) (err error) {
	if s.terms != nil {
		found, err := s.terms.Advance(to, s.posting.Reset())
		return s.stand(found, err)
	}
	s.release(c)
	if s.match, err = s.matches.Advance(c, to); err != nil || s.match == nil {
		s.at = nil
		return err
	}
	s.at = s.match.IndexInternalID
	return nil
}

func (s *source) stand(found *index.TermFieldDoc, err error) error {
	s.at = nil
	if err == nil && found != nil {
		s.at = found.ID
	}
	return err
}

func (s *source) release(c *search.SearchContext) {
	if s.match != nil {
		c.DocumentMatchPool.Put(s.match)
		s.match = nil
	}
}

// frequency is what the document at which the source stands counts for.
func (s *source) frequency() float64 {
	if s.terms == nil {
		return s.weight
	}
	length := s.mean
	if n := s.posting.Norm; n > 0 {
		length = 1 / (n * n)
	}
	return s.weight * float64(s.posting.Freq) / (1 - s.b + s.b*length/s.mean)
}

func (l *leaf) Next(c *search.SearchContext) (*search.DocumentMatch, error) {
	if !l.started {
		l.started = true
		for _, s := range l.sources {
			if err := s.next(c); err != nil {
				return nil, err
			}
		}
	}
	return l.collect(c)
}

// Advance may be asked for the document that was returned last once more.
func (l *leaf) Advance(c *search.SearchContext, to index.IndexInternalID) (*search.DocumentMatch, error) {
	if l.last != nil && bytes.Compare(to, l.last) <= 0 {
		return l.result(c), nil
	}
	for _, s := range l.sources {
		if l.started && (s.at == nil || bytes.Compare(s.at, to) >= 0) {
			continue
		}
		if err := s.advance(c, to); err != nil {
			return nil, err
		}
	}
	l.started = true
	return l.collect(c)
}

// collect ranks the first document at which a source stands, and moves the sources on.
func (l *leaf) collect(c *search.SearchContext) (*search.DocumentMatch, error) {
	var first index.IndexInternalID
	for _, s := range l.sources {
		if s.at != nil && (first == nil || bytes.Compare(s.at, first) < 0) {
			first = s.at
		}
	}
	if first == nil {
		l.last = nil
		return nil, nil
	}
	l.last = append(l.last[:0], first...)
	f := 0.0
	for _, s := range l.sources {
		if s.at == nil || !bytes.Equal(s.at, l.last) {
			continue
		}
		f += s.frequency()
		if err := s.next(c); err != nil {
			return nil, err
		}
	}
	l.score = rounded(l.idf * f / (f + saturation))
	return l.result(c), nil
}

// rounded makes a score one of which many add up without a loss, in whatever order: the library adds them up by how
// often each thing is in an index, and those that are searched as one are to rank alike.
func rounded(score float64) float64 { return math.Round(score*(1<<32)) / (1 << 32) }

// exact rounds the scores of a searcher that may not be.
type exact struct{ search.Searcher }

func (e exact) Next(c *search.SearchContext) (*search.DocumentMatch, error) {
	return e.round(e.Searcher.Next(c))
}

func (e exact) Advance(c *search.SearchContext, to index.IndexInternalID) (*search.DocumentMatch, error) {
	return e.round(e.Searcher.Advance(c, to))
}

func (exact) round(match *search.DocumentMatch, err error) (*search.DocumentMatch, error) {
	if match != nil {
		match.Score = rounded(match.Score)
	}
	return match, err
}

func (l *leaf) result(c *search.SearchContext) *search.DocumentMatch {
	match := c.DocumentMatchPool.Get()
	match.IndexInternalID = append(match.IndexInternalID[:0], l.last...)
	match.Score = l.score
	return match
}

func (l *leaf) Close() error { return closeAll(l.sources) }

func closeAll(sources []*source) (err error) {
	for _, s := range sources {
		if s.terms != nil {
			err = errors.Join(err, s.terms.Close())
		} else {
			err = errors.Join(err, s.matches.Close())
		}
	}
	return err
}

func (l *leaf) Count() (n uint64) {
	for _, s := range l.sources {
		n += s.count()
	}
	return n
}

func (s *source) count() uint64 {
	if s.terms != nil {
		return s.terms.Count()
	}
	return s.matches.Count()
}

func (l *leaf) DocumentMatchPoolSize() int { return 1 + poolSize(l.sources) }

func poolSize(sources []*source) (n int) {
	for _, s := range sources {
		if s.matches != nil {
			n += 1 + s.matches.DocumentMatchPoolSize()
		}
	}
	return n
}

// unweighted is what a searcher answers the library of weights, which the ranking here does without.
type unweighted struct{}

func (unweighted) Weight() float64      { return 1 }
func (unweighted) SetQueryNorm(float64) {}
func (unweighted) Min() int             { return 0 }
func (unweighted) Size() int            { return 0 }
