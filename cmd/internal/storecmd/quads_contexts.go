package storecmd

import (
	"context"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/quads"
)

type contextJSON struct {
	URL       string         `json:"url"`
	Quads     int            `json:"quads"`
	Version   int            `json:"version,omitempty"` // that says them; none if nothing is indexed, or it is not known
	Date      string         `json:"date,omitempty"`
	MediaType string         `json:"media_type,omitempty"`
	Digest    webrace.Digest `json:"digest,omitzero"`
	Seen      int            `json:"seen,omitempty"` // the latest version that was looked at
	Imported  bool           `json:"imported,omitempty"`
	Problems  []string       `json:"problems"`
}

var contextListing = listing[quads.Record]{
	header: []string{"url", "quads", "version", "date", "media type", "seen", "problems"},
	row: func(r quads.Record) []any {
		return []any{r.URL, r.Quads, number(r.Version), r.At, r.MediaType, number(r.Seen), len(r.Problems)}
	},
	json: func(r quads.Record) any { return jsonOfContext(r) },
}

func jsonOfContext(r quads.Record) contextJSON {
	problems := r.Problems
	if problems == nil {
		problems = []string{}
	}
	return contextJSON{r.URL, r.Quads, r.Version, wording.Moment(r.At), r.MediaType, r.Digest, r.Seen, r.Imported, problems}
}

// number writes the number of a version, and none as nothing.
func number(version int) any {
	if version == 0 {
		return ""
	}
	return version
}

// contextProblem is why something of a version of a document is not indexed.
type contextProblem struct {
	url     string
	version int
	problem string
}

type contextProblemJSON struct {
	URL     string `json:"url"`
	Version int    `json:"version,omitempty"`
	Problem string `json:"problem"`
}

var problemListing = listing[contextProblem]{
	header: []string{"url", "version", "problem"},
	row:    func(p contextProblem) []any { return []any{p.url, number(p.version), p.problem} },
	json:   func(p contextProblem) any { return contextProblemJSON{p.url, p.version, p.problem} },
}

func newQuadsContexts(globals *cli.Globals) *cobra.Command {
	var problems, asJSON bool
	c := &cobra.Command{
		Use:   "contexts [PREFIX]",
		Short: "list the documents that say something: URL, quads, version, its date and media type, the version seen last, and its problems",
		Long: `contexts lists the documents whose URLs begin like this. Where the version that was seen
last is not the one whose quads there are, it was malformed or cut, and what the document
said before stays. --problems says why, and what of pages could not be read: a line each.`,
		Example: `  webrace-store quads contexts https://example.org/
  webrace-store quads contexts --problems`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			prefix := strings.Join(args, "")
			return lookIntoQuads(c, globals, func(ctx context.Context, s *quads.Snapshot) (err error) {
				n, none := 0, "no context"
				if problems {
					none = "nothing that could not be read"
					n, err = problemListing.print(c, asJSON, problemsOf(s.Contexts(ctx, prefix)))
				} else {
					n, err = contextListing.print(c, asJSON, s.Contexts(ctx, prefix))
				}
				if n == 0 && err == nil {
					noteNothing(c, s, "%s of a URL that begins with %q", none, prefix)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&problems, "problems", false, "list what could not be read, and why")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return c
}

func problemsOf(records iter.Seq2[quads.Record, error]) iter.Seq2[contextProblem, error] {
	return func(yield func(contextProblem, error) bool) {
		for r, err := range records {
			if err != nil {
				yield(contextProblem{}, err)
				return
			}
			for _, p := range r.Problems {
				if !yield(contextProblem{url: r.URL, version: max(r.Seen, r.Version), problem: p}, nil) {
					return
				}
			}
		}
	}
}
