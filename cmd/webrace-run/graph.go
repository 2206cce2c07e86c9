package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/config"
)

func newGraph(globals *cli.Globals) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:               "graph NAME",
		Short:             "draw a pipeline as DOT or Mermaid",
		Example:           "  webrace-run graph webrace | dot -Tsvg > webrace.svg",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: globals.CompletePipelines,
		RunE: func(c *cobra.Command, args []string) error {
			if format != "dot" && format != "mermaid" {
				return cli.Wrongf("--format %s: it is dot or mermaid", format)
			}
			loaded, err := globals.Load(config.LoadOptions{Run: args})
			if err != nil {
				return err
			}
			graph, err := loaded.Graph(args[0])
			if err != nil {
				return cli.Wrong(err)
			}
			picture := graph.DOT()
			if format == "mermaid" {
				picture = graph.Mermaid()
			}
			fmt.Fprint(c.OutOrStdout(), picture)
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "dot", "dot or mermaid")
	return c
}
