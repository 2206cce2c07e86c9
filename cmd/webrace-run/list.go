package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/config"
)

func newList(globals *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "list the pipelines",
		Example: "  webrace-run list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := globals.Load(config.LoadOptions{})
			if err != nil {
				return err
			}
			if asJSON {
				return listJSON(c.OutOrStdout(), loaded.Pipelines)
			}
			w := cli.Prose(c.OutOrStdout())
			for _, p := range loaded.Pipelines {
				fmt.Fprintf(w, "%-12s %s\n", p.Name, p.Title)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	return c
}

// listJSON writes a line for each pipeline.
func listJSON(w io.Writer, pipelines []config.PipelineInfo) error {
	encoder := cli.NewEncoder(w)
	for _, p := range pipelines {
		line := struct {
			Name  string `json:"name"`
			Title string `json:"title"`
		}{p.Name, p.Title}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
