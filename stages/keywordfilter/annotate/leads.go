package annotate

import (
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/series"
)

// LeadsOn returns whether a block of a document has but words that links to other pages of its list are called by, by
// their addresses or as one takes the place of a next page.
func LeadsOn(d *webrace.Document, pages []Page) func(block []byte) bool {
	var words map[string]bool
	return func(block []byte) bool {
		if words == nil {
			words = wordsOfPager(d, pages)
		}
		all := true
		analyze.Words(block, func(_, _ int, folded []byte) bool {
			all = words[string(folded)]
			return all
		})
		return all
	}
}

func wordsOfPager(d *webrace.Document, pages []Page) map[string]bool {
	words := make(map[string]bool)
	r, err := extract.Document(d.Body, extract.ContentType(d.Header, d.MediaType), d.URL, extract.Options{Anchors: true})
	if err != nil {
		return words
	}
	for i, link := range r.Links[:min(len(r.Links), len(r.Anchors))] {
		isNext := func(p Page) bool { return p.Next && series.Alike(link, p.URL) }
		if series.Same(link, d.URL) || slices.ContainsFunc(pages, isNext) {
			analyze.Words([]byte(r.Anchors[i]), func(_, _ int, folded []byte) bool {
				words[string(folded)] = true
				return true
			})
		}
	}
	return words
}
