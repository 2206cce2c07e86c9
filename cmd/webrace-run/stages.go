package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

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
				text, err := config.Describe(pipeline.DefaultRegistry, args[0], cli.Columns(c.OutOrStdout()))
				if err != nil {
					return cli.Wrong(err)
				}
				fmt.Fprint(c.OutOrStdout(), text)
				return nil
			}
			if markdown {
				_, err := c.OutOrStdout().Write(config.Reference(nil))
				return err
			}
			if columns := cli.Columns(c.OutOrStdout()); columns > 0 {
				_, err := io.WriteString(c.OutOrStdout(), grouped(columns))
				return err
			}
			for _, typ := range pipeline.DefaultRegistry.Types() {
				spec, _ := pipeline.DefaultRegistry.Lookup(typ)
				fmt.Fprintf(c.OutOrStdout(), "%-16s %s\n", typ, spec.Summary)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "the reference of all types as a page of Markdown")
	return c
}

// groups are those in which stage types are listed to a person. A type that none names is a source if it takes
// nothing, goes out if it gives nothing, and is general otherwise.
var groups = []struct {
	name  string
	types []string
}{
	{"sources", nil},
	{"crawling", []string{"frontier", "fetch", "imap", "nntp", "sql", "render", "sitemap-parse", "feed-parse", "source-watch", "score"}},
	{"documents", []string{"normalize", "cache", "extract", "chunk", "index", "detect", "xslt", "transform", "quad-index", "quad-links", "gc"}},
	{"annotation", []string{"keyword-filter", "ask", "aci-emit"}},
	{"general", []string{"exec"}},
	{"out", []string{"drop", "print"}},
}

func groupOf(typ string) string {
	for _, g := range groups {
		if slices.Contains(g.types, typ) {
			return g.name
		}
	}
	switch spec, _ := pipeline.DefaultRegistry.Lookup(typ); {
	case len(spec.In) == 0:
		return "sources"
	case len(spec.Out) == 0:
		return "out"
	}
	return "general"
}

// grouped lists the stage types in their groups, within so many columns.
func grouped(columns int) string {
	var parts []string
	for _, g := range groups {
		var list []terminal.Definition
		for _, typ := range pipeline.DefaultRegistry.Types() {
			if spec, _ := pipeline.DefaultRegistry.Lookup(typ); groupOf(typ) == g.name {
				list = append(list, terminal.Definition{Term: fmt.Sprintf("%-14s", typ), Text: spec.Summary})
			}
		}
		parts = append(parts, g.name+"\n"+terminal.Definitions(list, 2, columns))
	}
	return strings.Join(parts, "\n")
}
