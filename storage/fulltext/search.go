package fulltext

import (
	"context"
	"fmt"
	"time"

	"github.com/blevesearch/bleve/v2"
)

const (
	defaultSize = 10
	maxReach    = 10_000 // hits that can be paged through; each costs memory in every search before it
)

// Query asks for documents.
type Query struct {
	Text   string // in the language of the package comment
	Size   int    // how many hits; 10 when 0
	From   int    // how many better hits to leave out
	Facets int    // how many values of host, language and type to count; none when 0
}

// Results answer a query.
type Results struct {
	Total  uint64 // documents that match
	Hits   []Hit  // the best first
	Took   time.Duration
	Facets map[string][]Count // by field, the commonest values first
}

// Hit is a document that matches.
type Hit struct {
	URL     string
	Version int
	Title   string
	Score   float64
}

// Count is how many of the matching documents have a value.
type Count struct {
	Value string
	Count int
}

// Search returns the documents that match a query, or [ErrQuery] with what is wrong with it.
func (s *Store) Search(ctx context.Context, q Query) (Results, error) {
	if q.Size == 0 {
		q.Size = defaultSize
	}
	if q.Size < 0 || q.From < 0 || q.Facets < 0 || q.Size > maxReach || q.From > maxReach-q.Size || q.Facets > maxReach {
		return Results{}, fmt.Errorf("%w: only the first %d hits can be looked at", ErrQuery, maxReach)
	}
	parsed, err := parse(q.Text)
	if err != nil {
		return Results{}, err
	}
	request := bleve.NewSearchRequestOptions(parsed, q.Size, q.From, false)
	request.Fields = []string{"title", "version"}
	if q.Facets > 0 {
		for _, field := range facetFields {
			request.AddFacet(field, bleve.NewFacetRequest(field, q.Facets))
		}
	}
	var found *bleve.SearchResult
	err = s.use(func(ix bleve.Index) error {
		found, err = ix.SearchInContext(ctx, request)
		return err
	})
	if err != nil {
		return Results{}, fmt.Errorf("search %q: %w", q.Text, err)
	}
	return results(found), nil
}

func results(found *bleve.SearchResult) Results {
	r := Results{Total: found.Total, Took: found.Took}
	for _, match := range found.Hits {
		hit := Hit{URL: match.ID, Score: match.Score}
		if version, ok := match.Fields["version"].(float64); ok {
			hit.Version = int(version)
		}
		hit.Title, _ = match.Fields["title"].(string)
		r.Hits = append(r.Hits, hit)
	}
	for field, facet := range found.Facets {
		if r.Facets == nil {
			r.Facets = map[string][]Count{}
		}
		r.Facets[field] = []Count{}
		for _, term := range facet.Terms.Terms() {
			if term.Term != "" {
				r.Facets[field] = append(r.Facets[field], Count{term.Term, term.Count})
			}
		}
	}
	return r
}
