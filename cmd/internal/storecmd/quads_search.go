package storecmd

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/quads"
)

// textHit is a text that has the words, of a thing.
type textHit struct{ statement }

type textHitJSON struct {
	Thing    termJSON `json:"thing"`
	Property string   `json:"property"`
	Text     termJSON `json:"text"`
	SaidBy   []string `json:"said_by"`
}

// shownText is how much of a text a table has.
const shownText = 160

var textHits = listing[textHit]{
	header: []string{"thing", "property", "text", "said by"},
	row: func(h textHit) []any {
		return []any{textOf(h.Subject), textOf(h.Predicate), textOf(h.Object), strings.Join(h.saidBy, " ")}
	},
	json: func(h textHit) any {
		return textHitJSON{jsonOfTerm(h.Subject), rdf.Value(h.Predicate), jsonOfTerm(h.Object), h.saidBy}
	},
	screen: &view[textHit]{
		header: []string{"thing", "property", "text", "said by"},
		row: func(h textHit) []any {
			return []any{shownOf(h.Subject), shownOf(h.Predicate), beginning(shownOf(h.Object), shownText), someOf(h.saidBy)}
		},
	},
}

// beginning returns a text, cut if it is longer than so many characters.
func beginning(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// someOf names the first of some URLs.
func someOf(urls []string) string {
	if len(urls) > 1 {
		return fmt.Sprintf("%s and %d more", urls[0], len(urls)-1)
	}
	return strings.Join(urls, "")
}

func newQuadsSearch(globals *cli.Globals) *cobra.Command {
	var number int
	var asJSON bool
	c := &cobra.Command{
		Use:   "search WORDS…",
		Short: "find things by the words of what is said of them",
		Long: `search finds texts that have all the words, in all their forms, and shows of which thing
they are, by which property, and which documents say so. quads show says all of a thing.`,
		Example: `  webrace-store quads search harbour festival
  webrace-store quads show "$(webrace-store quads search -n 1 harbour | cut -f 1)"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, words []string) error {
			if number < 1 {
				return cli.Wrongf("-n %d: it is at least 1", number)
			}
			query := strings.Join(words, " ")
			return lookIntoQuads(c, globals, func(ctx context.Context, s *quads.Snapshot) error {
				more := false
				n, err := textHits.print(c, asJSON, textsWith(ctx, s, query, number, &more))
				switch {
				case err != nil:
				case n == 0:
					noteNothing(c, s, "no text has all of: %s", query)
				case more:
					note(c, "there are more than %d: -n shows them", number)
				}
				return err
			})
		},
	}
	c.Flags().IntVarP(&number, "number", "n", 20, "how many to show")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return c
}

// textsWith yields so many of the texts that have all words of a query, and reports whether there are more.
func textsWith(ctx context.Context, s *quads.Snapshot, query string, number int, more *bool) iter.Seq2[textHit, error] {
	return func(yield func(textHit, error) bool) {
		n, wanted := 0, true
		for literal, err := range s.Words(ctx, query) {
			if err == nil {
				err = eachStatement(ctx, s, 0, literal, func(found statement) (bool, error) {
					n++
					*more = n > number
					wanted = !*more && yield(textHit{found}, nil)
					return wanted, nil
				})
			}
			if err != nil && wanted {
				yield(textHit{}, err)
			}
			if err != nil || !wanted {
				return
			}
		}
	}
}
