package storecmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
)

func newSearch(place *cli.Place) *cobra.Command {
	var query fulltext.Query
	var asJSON bool
	c := &cobra.Command{
		Use:   "search WORDS…",
		Short: "find documents in full text",
		Long: `search finds documents by words in all their forms. +word must occur, -word must
not (write -- in front of the query), "a phrase", word* for beginnings, word~ for
misspellings, title:word for a field: title, headings, body, url, host, language,
type, date. The pipeline named search fills the index.`,
		Example: `  webrace-store search annual report
  webrace-store search -- '+"annual report" -draft host:example.org'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, words []string) error {
			query.Text = strings.Join(words, " ")
			return withDir(place, func(dir *storage.Dir) error { return search(c, dir, query, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	c.Flags().IntVarP(&query.Size, "number", "n", 10, "how many")
	c.Flags().IntVar(&query.From, "from", 0, "how many better ones to leave out")
	return c
}

// hitView is a hit as a JSON line.
type hitView struct {
	URL      string  `json:"url"`
	Title    string  `json:"title"`
	Version  int     `json:"version"`
	Score    float64 `json:"score"`
	Fragment string  `json:"fragment"`
}

func search(c *cobra.Command, dir *storage.Dir, query fulltext.Query, asJSON bool) error {
	if query.Size < 1 {
		return cli.Wrongf("-n %d: it is at least 1", query.Size)
	}
	index, err := dir.Fulltext()
	if err != nil {
		return err
	}
	results, err := find(c.Context(), index, query)
	if err != nil {
		return err
	}
	if len(results.Hits) == 0 {
		return sayWhyNothing(c, index, query, results.Total)
	}
	cache, err := dir.Objects()
	if err != nil {
		return err
	}
	encoder := newEncoder(c.OutOrStdout())
	for _, hit := range results.Hits {
		fragment, err := fragmentOf(cache, hit, query.Text)
		if err != nil {
			return err
		}
		if asJSON {
			err = encoder.Encode(hitView{hit.URL, hit.Title, hit.Version, hit.Score, fragment})
		} else {
			err = printHit(c, hit, fragment)
		}
		if err != nil {
			return err
		}
	}
	note(c, "%d to %d of %d", query.From+1, query.From+len(results.Hits), results.Total)
	return nil
}

func find(ctx context.Context, index *fulltext.Store, query fulltext.Query) (fulltext.Results, error) {
	results, err := index.Search(ctx, query)
	if errors.Is(err, fulltext.ErrQuery) {
		return results, cli.Wrong(err)
	}
	return results, err
}

func sayWhyNothing(c *cobra.Command, index *fulltext.Store, query fulltext.Query, total uint64) error {
	n, err := index.Count()
	switch {
	case err != nil:
		return err
	case n == 0:
		note(c, "nothing is indexed yet: webrace-run search fills the index")
	case total > 0:
		note(c, "no more than %s found by %s", plural(int(total), "document"), query.Text)
	default:
		note(c, "none of %s is found by %s; webrace-run search brings the index up to date", plural(int(n), "document"), query.Text)
	}
	return nil
}

func printHit(c *cobra.Command, hit fulltext.Hit, fragment string) error {
	title := oneLine(hit.Title)
	if title == "" {
		title = "(no title)"
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "%s\n  %s  (score %.2f)\n", title, hit.URL, hit.Score)
	if fragment != "" && err == nil {
		_, err = fmt.Fprintf(c.OutOrStdout(), "  %s\n", fragment)
	}
	return err
}

// fragmentOf returns the part of the indexed version that answers the query best; empty when that version
// is no longer kept.
func fragmentOf(cache *objects.Store, hit fulltext.Hit, query string) (string, error) {
	version, err := cache.Get(hit.URL, hit.Version)
	if errors.Is(err, objects.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	body, header, err := cache.Body(version)
	if err != nil {
		return "", err
	}
	r, err := extract.Document(body, extract.ContentType(header, version.MediaType), hit.URL, extract.Options{MaxLinks: 1})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, block := range r.Text.Blocks {
		if block.Field != webrace.FieldTitle { // it is shown above
			text.Write(r.Text.Slice(block))
			text.WriteByte('\n')
		}
	}
	return fulltext.Fragment(text.String(), query), nil
}
