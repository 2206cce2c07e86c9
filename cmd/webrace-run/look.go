package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
)

func newList(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list the pipelines",
		Example: "  webrace-run list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := place.Load(pipeline.LoadOptions{})
			if err != nil {
				return err
			}
			for _, p := range config.Pipelines {
				fmt.Fprintf(c.OutOrStdout(), "%-12s %s\n", p.Name, p.Title)
			}
			return nil
		},
	}
}

func newLint(place *cli.Place) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "lint",
		Short: "check the configuration, and show everything that is wrong with it",
		Example: `  webrace-run lint
  webrace-run lint --config my.toml --json`,
		Long: "lint reads pipelines.toml and what it includes. It touches neither the network nor a store.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := place.Load(pipeline.LoadOptions{})
			if asJSON {
				return findingsJSON(c, err, cli.Usage)
			}
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s, nothing wrong\n", cli.Count(len(config.Pipelines), "pipeline"))
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "findings as a JSON list on standard output")
	return c
}

// findingsJSON writes findings for a program, and ends with a status if there are any.
func findingsJSON(c *cobra.Command, err error, status int) error {
	findings := pipeline.Findings{}
	if err != nil && !errors.As(err, &findings) {
		return err
	}
	encoder := json.NewEncoder(c.OutOrStdout())
	encoder.SetIndent("", "  ")
	if encodeErr := encoder.Encode(findings); encodeErr != nil || len(findings) == 0 {
		return encodeErr
	}
	return &cli.Error{Status: status, Err: errors.New(cli.Count(len(findings), "finding"))}
}

func newGraph(place *cli.Place) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:               "graph NAME",
		Short:             "draw a pipeline as DOT or Mermaid",
		Example:           "  webrace-run graph webrace | dot -Tsvg > webrace.svg",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: place.CompletePipelines,
		RunE: func(c *cobra.Command, args []string) error {
			if format != "dot" && format != "mermaid" {
				return cli.Wrongf("--format %s: it is dot or mermaid", format)
			}
			config, err := place.Load(pipeline.LoadOptions{Run: args})
			if err != nil {
				return err
			}
			graph, err := config.Graph(args[0])
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

func newStages() *cobra.Command {
	var markdown bool
	c := &cobra.Command{
		Use:   "stages [TYPE]",
		Short: "list the stage types, or tell all about one",
		Example: `  webrace-run stages
  webrace-run stages fetch`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cli.CompleteTypes,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				text, err := pipeline.DefaultRegistry.Describe(args[0])
				if err != nil {
					return cli.Wrong(err)
				}
				fmt.Fprint(c.OutOrStdout(), text)
				return nil
			}
			if markdown {
				_, err := c.OutOrStdout().Write(pipeline.Reference(nil))
				return err
			}
			for _, typ := range pipeline.Types() {
				spec, _ := pipeline.Lookup(typ)
				fmt.Fprintf(c.OutOrStdout(), "%-16s %s\n", typ, spec.Summary)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "the reference of all types as a page of Markdown")
	return c
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "print the JSON Schema of pipelines.toml, for editors",
		Example: "  webrace-run schema > pipelines.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			schema, err := pipeline.Schema(nil)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(append(schema, '\n'))
			return err
		},
	}
}
