package fulltext

import (
	"context"
	"fmt"
	"iter"

	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"
)

// Indexed is a document that is in the index.
type Indexed struct {
	URL        string
	Version    int
	Superseded bool
}

// eachPage is how many documents are read at a time.
const eachPage = 1000

// Each returns every document, in the order of URLs, the latest version of each before the others.
func (s *Store) Each(ctx context.Context) iter.Seq2[Indexed, error] {
	return func(yield func(Indexed, error) bool) {
		var after []string
		for {
			page, last, err := s.page(ctx, after)
			if err != nil {
				yield(Indexed{}, fmt.Errorf("list full-text index: %w", err))
				return
			}
			for _, d := range page {
				if !yield(d, nil) {
					return
				}
			}
			if len(page) < eachPage {
				return
			}
			after = []string{last}
		}
	}
}

// page returns the documents behind one, and the id of the last of them.
func (s *Store) page(ctx context.Context, after []string) (page []Indexed, last string, err error) {
	q := request{size: eachPage, order: []string{"_id"}, after: after, fields: []string{fieldVersion}}
	q.find = func(ctx context.Context, r index.IndexReader, o search.SearcherOptions) (search.Searcher, error) {
		return searcher.NewMatchAllSearcher(ctx, r, 1, o)
	}
	err = s.use(func(ix *bleveIndex) error {
		found, err := ix.search(ctx, q)
		if err != nil {
			return err
		}
		for _, hit := range found.hits {
			url, superseded := splitID(hit.ID)
			version, _ := hit.Fields[fieldVersion].(float64)
			page, last = append(page, Indexed{url, int(version), superseded > 0}), hit.ID
		}
		return nil
	})
	return page, last, err
}
