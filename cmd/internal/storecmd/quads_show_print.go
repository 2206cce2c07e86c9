package storecmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/quads"
)

// print writes what is said of a thing.
func (f *showFlags) print(c *cobra.Command, s *quads.Snapshot, t *thing) error {
	sources, err := sourcesOf(s, t.urls)
	switch {
	case err != nil:
		return err
	case f.json:
		return cli.NewEncoder(c.OutOrStdout()).Encode(t.json(sources))
	case cli.IsTerminal(c.OutOrStdout()):
		return t.onScreen(c, sources)
	}
	var rows [][]any
	for i, said := range t.said {
		for _, p := range said {
			for _, url := range p.saidBy {
				source := sources[t.known[url]-1]
				rows = append(rows, []any{sections[i].field, p.pathOf(textOf), textOf(p.value), url, number(source.Version), source.At})
			}
		}
	}
	return WriteTable(c.OutOrStdout(), nil, rows)
}

// sourcesOf returns what is known of documents.
func sourcesOf(s *quads.Snapshot, urls []string) ([]quads.Record, error) {
	records := make([]quads.Record, len(urls))
	for i, url := range urls {
		r, found, err := s.Context(url)
		if err != nil {
			return nil, err
		}
		if !found {
			r.URL = url
		}
		records[i] = r
	}
	return records, nil
}

// onScreen writes it for a person: documents go by numbers, which a list at the end explains.
func (t *thing) onScreen(c *cobra.Command, sources []quads.Record) error {
	w := cli.Prose(c.OutOrStdout())
	if len(t.said[labels]) > 0 {
		fmt.Fprintln(w, shownOf(t.said[labels][0].value))
	}
	for _, name := range t.names {
		fmt.Fprintln(w, textOf(name))
	}
	fmt.Fprintln(w)
	var rows [][]any
	for i, said := range t.said {
		for _, p := range said {
			rows = append(rows, []any{sections[i].field, p.pathOf(shownOf), t.numbers(p.saidBy), shownOf(p.value)})
		}
	}
	if err := WriteTable(c.OutOrStdout(), []string{"what", "property", "by", "value"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	rows = nil
	for i, r := range sources {
		rows = append(rows, []any{i + 1, r.URL, number(r.Version), r.At})
	}
	return WriteTable(c.OutOrStdout(), []string{"no.", "document", "version", "date"}, rows)
}

// shownNumbers is how many documents are named beside a statement.
const shownNumbers = 8

// numbers names documents by their places in the list.
func (t *thing) numbers(urls []string) string {
	var all []string
	for i, url := range urls {
		if i == shownNumbers {
			all = append(all, "…")
			break
		}
		all = append(all, strconv.Itoa(t.known[url]))
	}
	return strings.Join(all, " ")
}

type thingJSON struct {
	Names      []termJSON     `json:"names"`
	Labels     []propertyJSON `json:"labels"`
	Types      []propertyJSON `json:"types"`
	Properties []propertyJSON `json:"properties"`
	From       []propertyJSON `json:"from"`
	Sources    []contextJSON  `json:"sources"`
	Whole      bool           `json:"whole"` // nothing was left out
}

type propertyJSON struct {
	Path   []termJSON `json:"path"`
	Value  termJSON   `json:"value"`
	SaidBy []string   `json:"said_by"`
}

func (t *thing) json(sources []quads.Record) thingJSON {
	j := thingJSON{Names: jsonOfTerms(t.names), Whole: t.cut == [len(sections)]bool{}, Sources: []contextJSON{}}
	for i, to := range [...]*[]propertyJSON{labels: &j.Labels, types: &j.Types, properties: &j.Properties, pointers: &j.From} {
		*to = []propertyJSON{}
		for _, p := range t.said[i] {
			*to = append(*to, propertyJSON{jsonOfTerms(p.path), jsonOfTerm(p.value), p.saidBy})
		}
	}
	for _, r := range sources {
		j.Sources = append(j.Sources, jsonOfContext(r))
	}
	return j
}

func jsonOfTerms(terms []webrace.Term) []termJSON {
	all := make([]termJSON, len(terms))
	for i, t := range terms {
		all[i] = jsonOfTerm(t)
	}
	return all
}
