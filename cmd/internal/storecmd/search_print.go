package storecmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
)

// shownFragments is how many parts of a text are shown.
const shownFragments = 2

// hitJSON is a hit as a JSON line.
type hitJSON struct {
	URL        string   `json:"url"`
	Title      string   `json:"title"`
	Version    int      `json:"version"`
	Superseded bool     `json:"superseded,omitempty"`
	Date       string   `json:"date,omitempty"`
	Language   string   `json:"language,omitempty"`
	Type       string   `json:"type,omitempty"`
	Score      float64  `json:"score"`
	Fragments  []string `json:"fragments"`
}

// facetsJSON is the JSON line behind the hits.
type facetsJSON struct {
	Total  uint64                 `json:"total"`
	Facets map[string][]countJSON `json:"facets"`
	Others map[string]int         `json:"others,omitempty"`
}

type countJSON struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// hitPrinter shows hits and facets.
type hitPrinter interface {
	hit(h fulltext.Hit, fragments []string) error
	facets(r fulltext.Results) error
	marks() fulltext.Marks
}

func (o *searchOptions) print(c *cobra.Command, s searched, r fulltext.Results) (err error) {
	out := bufio.NewWriter(c.OutOrStdout())
	defer func() { err = errors.Join(err, out.Flush()) }()
	var printer hitPrinter = plainHits{out}
	switch {
	case o.json:
		printer = jsonHits{out}
	case cli.IsTerminal(c.OutOrStdout()):
		out.Reset(cli.Exact(c.OutOrStdout()))
		printer = &screenHits{w: out, width: min(max(cli.Width(c.OutOrStdout()), 40), 100), n: o.query.From}
	}
	read, err := s.fragments(c.Context(), r.Hits, printer.marks())
	if err != nil {
		return err
	}
	for i, hit := range r.Hits {
		if read[i].Unread != "" {
			note(c, "the text of %s version %d cannot be read: %s", hit.URL, hit.Version, read[i].Unread)
		}
		hit.Title = terminal.Line(hit.Title)
		if err := printer.hit(hit, read[i].Fragments); err != nil {
			return err
		}
	}
	if o.facets {
		return printer.facets(r)
	}
	return nil
}

// fragmentsFrom returns the parts of the version that answer the query best.
func fragmentsFrom(cache *objects.Store, secret string, h *fulltext.Highlighter, hit fulltext.Hit, marks fulltext.Marks) ([]string, error) {
	version, err := cache.Get(objects.View(secret, hit.URL), hit.Version)
	if err != nil {
		return nil, err
	}
	r, err := explain.Read(context.Background(), cache, version)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, block := range r.Text.Blocks {
		if block.Field == webrace.FieldTitle || block.Field == webrace.FieldNavigation {
			continue // the one is shown above, the other adds nothing
		}
		text.WriteString(terminal.Line(string(r.Text.Slice(block))) + fulltext.BlockEnd)
	}
	return h.Fragments(text.String(), hit.Language, shownFragments, marks), nil
}

func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// jsonHits shows an object a line.
type jsonHits struct{ w io.Writer }

func (jsonHits) marks() fulltext.Marks { return fulltext.Guillemets }

func (p jsonHits) hit(h fulltext.Hit, fragments []string) error {
	if fragments == nil {
		fragments = []string{}
	}
	return cli.NewEncoder(p.w).Encode(hitJSON{
		h.URL, h.Title, h.Version, h.Superseded, wording.Moment(h.Date), h.Language, h.Type, h.Score, fragments,
	})
}

func (p jsonHits) facets(r fulltext.Results) error {
	view := facetsJSON{Total: r.Total, Facets: map[string][]countJSON{}, Others: map[string]int{}}
	for name, facet := range r.Facets {
		view.Facets[name] = []countJSON{}
		for _, c := range facet.Counts {
			view.Facets[name] = append(view.Facets[name], countJSON(c))
		}
		if facet.Others > 0 {
			view.Others[name] = facet.Others
		}
	}
	return cli.NewEncoder(p.w).Encode(view)
}

// plainHits shows a few lines a hit, as long as they are, and facets between tabs.
type plainHits struct{ w io.Writer }

func (plainHits) marks() fulltext.Marks { return fulltext.Guillemets }

func (p plainHits) hit(h fulltext.Hit, fragments []string) error {
	title, version := cmp.Or(h.Title, "(no title)"), ""
	if h.Superseded {
		version = fmt.Sprintf("  (version %d, superseded)", h.Version)
	}
	_, err := fmt.Fprintf(p.w, "%s\n  %s%s  (score %.2f)\n", title, h.URL, version, h.Score)
	for _, fragment := range fragments {
		if _, err := fmt.Fprintf(p.w, "  %s\n", fragment); err != nil {
			return err
		}
	}
	return err
}

func (p plainHits) facets(r fulltext.Results) error {
	for _, name := range fulltext.Facets {
		for _, c := range r.Facets[name].Counts {
			if _, err := fmt.Fprintf(p.w, "%s\t%s\t%d\n", name, c.Value, c.Count); err != nil {
				return err
			}
		}
	}
	return nil
}
