package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/pipelinetest"
)

// testFlags are those of webrace-run test.
type testFlags struct {
	run     string
	asJSON  bool
	verbose bool
	limit   time.Duration
}

func newTest(globals *cli.Globals) *cobra.Command {
	var flags testFlags
	c := &cobra.Command{
		Use:   "test [FILE|NAME…]",
		Short: "run the tests of pipelines",
		Long: `test runs the [[test]] tables of pipelines.toml, of what it includes, and of the
files *_test.toml beside it: those in some of the files or of some of the pipelines, if any
are named. A test gives items to stages and says what they are to make of them.
It asks no network and uses a temporary data directory.`,
		Example: `  webrace-run test                                   all tests
  webrace-run test crawl --run 'robots|redirect' -v
  webrace-run test news_test.toml --json`,
		ValidArgsFunction: globals.CompletePipelines,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return flags.test(ctx, c, *globals, args)
		},
	}
	c.Flags().StringVar(&flags.run, "run", "", "only tests with names that match a `REGEXP`")
	c.Flags().BoolVar(&flags.asJSON, "json", false, "results as a JSON list on standard output")
	c.Flags().BoolVarP(&flags.verbose, "verbose", "v", false, "also tell of tests that pass")
	c.Flags().DurationVar(&flags.limit, "limit", 30*time.Second, "how long one test may take")
	return c
}

// test runs the tests that are meant, and ends with status 1 if one fails.
func (f testFlags) test(ctx context.Context, c *cobra.Command, globals cli.Globals, args []string) error {
	var files, names []string
	for _, arg := range args {
		if strings.HasSuffix(arg, ".toml") {
			files = append(files, filepath.Clean(arg))
		} else {
			names = append(names, arg)
		}
	}
	if len(files) > 0 && globals.Config == "" {
		globals.Config = configOf(files[0])
	}
	loaded, err := globals.Load(config.LoadOptions{Tests: true, Run: []string{}})
	if err != nil {
		return err
	}
	tests, err := f.choose(loaded, files, names)
	if err != nil {
		return err
	}
	o := testOptions(globals, f.limit)
	results := []pipelinetest.Result{}
	failed := 0
	for _, t := range tests {
		result := pipelinetest.Run(ctx, t, o)
		if ctx.Err() != nil {
			return &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted")}
		}
		results = append(results, result)
		if len(result.Failures) > 0 {
			failed++
		}
		if !f.asJSON {
			f.tell(c, result)
		}
	}
	if f.asJSON {
		encoder := json.NewEncoder(c.OutOrStdout())
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(results); err != nil {
			return err
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, wording.Count(len(tests), "test"))
	case !f.asJSON:
		fmt.Fprintf(c.OutOrStdout(), "%s passed\n", wording.Count(len(tests), "test"))
	}
	return nil
}

// configOf returns the configuration that a file of tests is beside.
func configOf(file string) string {
	if !strings.HasSuffix(file, "_test.toml") {
		return file
	}
	own := strings.TrimSuffix(file, "_test.toml") + ".toml"
	if _, err := os.Stat(own); err == nil {
		return own
	}
	return filepath.Join(filepath.Dir(file), cli.DefaultConfig)
}

// choose returns the tests in these files, of these pipelines, with these names.
func (f testFlags) choose(c *config.Config, files, names []string) ([]config.Test, error) {
	pattern, err := regexp.Compile(f.run)
	if err != nil {
		return nil, cli.Wrongf("--run %s: %w", f.run, err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(c.Pipelines, func(p config.PipelineInfo) bool { return p.Name == name }) {
			_, err := c.Graph(name)
			return nil, err
		}
	}
	var tests []config.Test
	for _, t := range c.Tests {
		in := len(files) == 0 || slices.Contains(files, filepath.Clean(t.At.Pos.File))
		of := len(names) == 0 || slices.Contains(names, t.Pipeline)
		if in && of && pattern.MatchString(t.Name) {
			tests = append(tests, t)
		}
	}
	if len(tests) == 0 {
		return nil, cli.Wrongf("there is no such test; tests are [[test]] tables in %s, and in files *_test.toml beside it", c.Files[0])
	}
	return tests, nil
}

// tell shows a result.
func (f testFlags) tell(c *cobra.Command, r pipelinetest.Result) {
	out := c.OutOrStdout()
	if len(r.Failures) == 0 {
		if f.verbose {
			fmt.Fprintf(cli.Prose(out), "ok    %s: %s (%.2fs)\n", r.Pipeline, r.Name, r.Seconds)
		}
		return
	}
	fmt.Fprintf(cli.Prose(out), "FAIL  %s: %s\n", r.Pipeline, r.Name)
	for _, failure := range r.Failures {
		cli.WriteFindings(out, finding.List{failure.Finding})
		fmt.Fprint(out, failure.Detail)
	}
}

// testOptions returns what tests of pipelines run over.
func testOptions(globals cli.Globals, limit time.Duration) pipelinetest.Options {
	return pipelinetest.Options{
		Load: globals.Load,
		Stores: func(ctx context.Context, dir string, t config.Test) (*pipeline.Resources, func() error, error) {
			return testStores(ctx, globals, dir, t)
		},
		Refuse: map[string]string{
			"fetch": "asks the network", "render": "asks the network",
		},
		Defaults: map[string]pipeline.Table{"document": fetchedPage},
		Complete: completeDocument,
		Limit:    limit,
	}
}
