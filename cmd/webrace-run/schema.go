package main

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/pipeline/config"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "print the JSON Schema of pipelines.toml, for editors",
		Example: "  webrace-run schema > pipelines.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			schema, err := config.Schema(nil)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(append(schema, '\n'))
			return err
		},
	}
}
