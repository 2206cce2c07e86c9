package fulltext

import (
	"context"
	"fmt"
	"iter"

	"github.com/blevesearch/bleve/v2"
)

// Indexed is a document that is in the index.
type Indexed struct {
	URL     string
	Version int
}

// eachPage is how many documents are read at a time.
const eachPage = 1000

// Each returns every document, in the order of URLs.
func (s *Store) Each(ctx context.Context) iter.Seq2[Indexed, error] {
	return func(yield func(Indexed, error) bool) {
		var after []string
		for {
			page, err := s.page(ctx, after)
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
			after = []string{page[len(page)-1].URL}
		}
	}
}

// page returns the documents behind one.
func (s *Store) page(ctx context.Context, after []string) (page []Indexed, err error) {
	request := bleve.NewSearchRequestOptions(bleve.NewMatchAllQuery(), eachPage, 0, false)
	request.Fields = []string{"version"}
	request.SortBy([]string{"_id"})
	if after != nil {
		request.SetSearchAfter(after)
	}
	err = s.use(func(ix bleve.Index) error {
		found, err := ix.SearchInContext(ctx, request)
		if err != nil {
			return err
		}
		for _, hit := range results(found).Hits {
			page = append(page, Indexed{hit.URL, hit.Version})
		}
		return nil
	})
	return page, err
}
