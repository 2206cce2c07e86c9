package storecmd

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/quads"
)

type quadStatsJSON struct {
	Contexts   int64  `json:"contexts"`
	Quads      int64  `json:"quads"`
	Provenance int64  `json:"provenance"`
	Terms      int64  `json:"terms"`
	Revision   uint64 `json:"revision"`
	Bytes      int64  `json:"bytes"`
}

func newQuadsStats(globals *cli.Globals) *cobra.Command {
	var void, asJSON bool
	var limits queryLimits
	c := &cobra.Command{
		Use:   "stats",
		Short: "count contexts, quads, terms and bytes; or what is said, by class and property",
		Long: `stats counts what the store holds. --void describes what is said in the Vocabulary of
Interlinked Datasets, as Turtle: how many triples there are, and how many things of each
class and triples of each property.`,
		Example: `  webrace-store quads stats
  webrace-store quads stats --void`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if void && asJSON {
				return cli.Wrongf("choose --void, which is Turtle, or --json")
			}
			if err := limits.check(); err != nil {
				return err
			}
			return lookIntoQuads(c, globals, func(ctx context.Context, s *quads.Snapshot) error {
				if !void {
					return printQuadStats(c, s.Stats(), asJSON)
				}
				triples, err := s.Describe(ctx, limits.limits())
				if err != nil {
					return limits.ended(err)
				}
				return rdf.WriteTriples(c.OutOrStdout(), rdf.Turtle, cli.Each(triples))
			})
		},
	}
	c.Flags().BoolVar(&void, "void", false, "describe what is said, as Turtle")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	limits.addFlags(c.Flags())
	return c
}

func printQuadStats(c *cobra.Command, s quads.Stats, asJSON bool) error {
	if asJSON {
		return cli.NewEncoder(c.OutOrStdout()).Encode(quadStatsJSON(s))
	}
	return WriteTable(c.OutOrStdout(), nil, [][]any{
		{"contexts", s.Contexts}, {"quads", s.Quads}, {"quads about contexts", s.Provenance}, {"terms", s.Terms},
		{"revision", s.Revision}, {"bytes", s.Bytes},
	})
}
