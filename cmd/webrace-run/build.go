package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/build"
)

func newBuild() *cobra.Command {
	var b build.Build
	c := &cobra.Command{
		Use:   "build --with MODULE@VERSION|DIRECTORY…",
		Short: "build a webrace-run that has stages of other modules",
		Long: `build makes a program that is webrace-run, and has the stages of other modules in
Go as well. It needs the go command.`,
		Example: `  webrace-run build --with example.org/shout@v1.2.0 --output ./webrace-run
  webrace-run build --with ./shout --with ./whisper`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b.Log = c.ErrOrStderr()
			b.Source = cmp.Or(b.Source, checkout(), sourceVersion(""))
			if err := b.Run(c.Context()); err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), b.Output)
			return nil
		},
	}
	c.Flags().StringArrayVar(&b.With, "with", nil, "a `MODULE@VERSION` or a directory that holds one, as often as needed")
	c.Flags().StringArrayVar(&b.Replace, "replace", nil, "`MODULE=DIRECTORY` or MODULE=MODULE@VERSION, as replace in a go.mod")
	c.Flags().StringVar(&b.Source, "source", "", "the `DIRECTORY` with the source of webrace, or its version (default: the checkout we are in, or this program's version)")
	c.Flags().StringVar(&b.Output, "output", "webrace-run", "the program to write, a `FILE`")
	return c
}
