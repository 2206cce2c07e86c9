package fulltext

import (
	"bytes"
	"errors"

	"github.com/blevesearch/bleve/v2/search"
	index "github.com/blevesearch/bleve_index_api"
)

// chosen are the documents of one searcher that some others do not have, and that rank the better the more
// welcome they are to further ones.
type chosen struct {
	unweighted
	all           search.Searcher
	welcome, none []*source
	ended         bool
}

func sourcesOf(searchers []search.Searcher) []*source {
	sources := make([]*source, len(searchers))
	for i, s := range searchers {
		sources[i] = &source{matches: s}
	}
	return sources
}

func (s *chosen) Next(c *search.SearchContext) (*search.DocumentMatch, error) {
	if s.ended {
		return nil, nil
	}
	match, err := s.all.Next(c)
	return s.choose(c, match, err)
}

// Advance is asked of a searcher that has ended too, and finds nothing then: its parts would begin anew.
func (s *chosen) Advance(c *search.SearchContext, to index.IndexInternalID) (*search.DocumentMatch, error) {
	if s.ended {
		return nil, nil
	}
	match, err := s.all.Advance(c, to)
	return s.choose(c, match, err)
}

// choose returns the first document from match on that is not to be left out.
func (s *chosen) choose(c *search.SearchContext, match *search.DocumentMatch, err error) (*search.DocumentMatch, error) {
	for err == nil && match != nil {
		var out bool
		if out, err = s.leavesOut(c, match.IndexInternalID); err != nil {
			return nil, err
		}
		if !out {
			return match, s.welcomes(c, match)
		}
		c.DocumentMatchPool.Put(match)
		match, err = s.all.Next(c)
	}
	s.ended = match == nil
	return match, err
}

func (s *chosen) leavesOut(c *search.SearchContext, id index.IndexInternalID) (bool, error) {
	for _, n := range s.none {
		if at, err := n.isAt(c, id); at || err != nil {
			return at, err
		}
	}
	return false, nil
}

func (s *chosen) welcomes(c *search.SearchContext, match *search.DocumentMatch) error {
	for _, w := range s.welcome {
		at, err := w.isAt(c, match.IndexInternalID)
		if err != nil {
			return err
		}
		if at {
			match.Score += w.match.Score
		}
	}
	return nil
}

// isAt moves a source that is behind a document on, and reports whether it has it.
func (s *source) isAt(c *search.SearchContext, id index.IndexInternalID) (bool, error) {
	if !s.started || s.at != nil && bytes.Compare(s.at, id) < 0 {
		s.started = true
		if err := s.advance(c, id); err != nil {
			return false, err
		}
	}
	return bytes.Equal(s.at, id), nil
}

func (s *chosen) Close() error {
	return errors.Join(s.all.Close(), closeAll(s.welcome), closeAll(s.none))
}

func (s *chosen) DocumentMatchPoolSize() int {
	return s.all.DocumentMatchPoolSize() + poolSize(s.welcome) + poolSize(s.none)
}

func (s *chosen) Count() uint64 { return s.all.Count() }
