package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

func newLint(globals *cli.Globals) *cobra.Command {
	var asJSON, fix bool
	c := &cobra.Command{
		Use:   "lint [PIPELINE ...]",
		Short: "check the configuration, and show everything that is wrong with it",
		Example: `  webrace-run lint
  webrace-run lint webrace search                    these two alone: what others want may be missing here
  webrace-run lint --fix                             write what is deprecated as it is written now
  webrace-run lint --config my.toml --json`,
		Long: `lint reads pipelines.toml and what it includes. It touches neither the network nor a
store, and no file without --fix. What works, but is deprecated or may lose or repeat
something, is a warning.`,
		ValidArgsFunction: globals.CompletePipelines,
		RunE: func(c *cobra.Command, names []string) error {
			options := config.LoadOptions{Run: names}
			if len(names) == 0 {
				options.Run = nil // all
			}
			loaded, err := globals.Load(options)
			if fix {
				if err := fixDeprecated(c.ErrOrStderr(), warningsOf(loaded, err)); err != nil {
					return err
				}
				loaded, err = globals.Load(options)
			}
			if asJSON {
				if err == nil && len(loaded.Warnings) > 0 {
					err = loaded.Warnings
				}
				return findingsJSON(c, err, cli.Usage)
			}
			if err == nil {
				showWarnings(c, cmp.Or(len(names), len(loaded.Pipelines)), loaded.Warnings)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "findings as a JSON list on standard output")
	c.Flags().BoolVar(&fix, "fix", false, "write in the files what is deprecated as it is written now; all else in them stays as it is")
	return c
}

// showWarnings shows the warnings of a configuration with which nothing is wrong, of which so many pipelines were
// checked.
func showWarnings(c *cobra.Command, pipelines int, warnings finding.List) {
	said := "nothing wrong"
	if n := len(warnings); n > 0 {
		said = wording.Count(n, "warning")
		if slices.ContainsFunc(warnings, hasEdit) {
			said += "; lint --fix writes it as it is written now"
		}
		cli.Report(c.ErrOrStderr(), warnings)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s, %s\n", wording.Count(pipelines, "pipeline"), said)
}

// warningsOf returns the warnings about a configuration, with which something may be wrong besides.
func warningsOf(loaded *config.Config, err error) (warnings finding.List) {
	if err == nil {
		return loaded.Warnings
	}
	var found finding.List
	errors.As(err, &found)
	for _, f := range found {
		if f.Warning {
			warnings = append(warnings, f)
		}
	}
	return warnings
}

// findingsJSON writes findings for a program, and ends with a status if something is wrong.
func findingsJSON(c *cobra.Command, err error, status int) error {
	findings := finding.List{}
	if err != nil && !errors.As(err, &findings) {
		return err
	}
	encoder := json.NewEncoder(c.OutOrStdout())
	encoder.SetIndent("", "  ")
	encodeErr := encoder.Encode(findings)
	if encodeErr != nil || !slices.ContainsFunc(findings, func(f finding.Finding) bool { return !f.Warning }) {
		return encodeErr
	}
	return &cli.Error{Status: status, Err: errors.New(wording.Count(len(findings), "finding"))}
}
