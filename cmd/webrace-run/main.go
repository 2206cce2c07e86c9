// Command webrace-run runs pipelines declared in pipelines.toml, and looks at them without running. Called as
// webrace-store, by a link, it looks into their stores.
package main

//go:generate sh -c "go run . schema > ../../docs/pipelines.schema.json"
//go:generate sh -c "go run . stages --markdown > ../../docs/stages.md"

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	_ "github.com/webrace/webrace/cmd/internal/quickstart" // first of all
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/pipeline/finding"
	_ "github.com/webrace/webrace/stages/all"
)

func main() {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == storecmd.Name {
		os.Exit(cli.Main(storecmd.New(os.Args[1:])))
	}
	os.Exit(cli.Main(newRoot()))
}

func newRoot() *cobra.Command {
	var globals cli.Globals
	var run runFlags
	root := &cobra.Command{
		Use:   "webrace-run [run] NAME…",
		Short: "run pipelines of stages that crawl and annotate",
		Long: `webrace-run runs pipelines declared in pipelines.toml: graphs of stages that crawl
for everybody's interests at once, and tell each owner what matters to them.

Several pipelines run in one process, so that they share a data directory.
Ctrl-C finishes what is in flight; a second one stops at once, and nothing that
was accepted is lost either way.`,
		Example: `  webrace-run demo                                   see it work, with nothing to set up
  webrace-run crawl https://example.org/ --depth 2 --keyword news:4
  webrace-run webrace search --urds interests.xml    crawl for URDs, and index what comes
  webrace-run webrace search --continuous            and go on, each crawl when it is due`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: globals.CompletePipelines,
		RunE: func(c *cobra.Command, names []string) error {
			if len(names) == 0 {
				return c.Help()
			}
			return withCommands(c, names[0], runPipelines(c, &globals, run, names, nothingMore))
		},
	}
	globals.AddFlags(root)
	root.PersistentFlags().StringVar(&globals.Memory, "memory", "", "about how much memory the process uses, a `SIZE` such as 1GiB (default what WEBRACE_MEMORY says, or the configuration, or as the machine allows)")
	run.addFlags(root)
	root.AddCommand(
		newRun(&globals), newCrawl(&globals), newTry(&globals), newRead(&globals), newDemo(&globals),
		newList(&globals), newLint(&globals), newCheck(&globals), newTest(&globals), newGraph(&globals), newTap(&globals), newTop(&globals), newStages(), newSchema(),
	)
	root.AddCommand(newNewStage(), newBuild(), newConformance(&globals), newStage(&globals), storecmd.Within())
	cli.Versioned(root)
	completeSet(root, &globals)
	cli.Strict(root)
	return root
}

// completeSet makes shells complete --set wherever there is one that sets options of pipelines.
func completeSet(c *cobra.Command, globals *cli.Globals) {
	if _, known := c.GetFlagCompletionFunc("set"); c.Flags().Lookup("set") != nil && !known {
		if err := c.RegisterFlagCompletionFunc("set", globals.CompleteSet); err != nil {
			panic(err) // there is a flag, and it has no completion yet
		}
	}
	for _, sub := range c.Commands() {
		completeSet(sub, globals)
	}
}

// withCommands adds to an error what command may have been meant by the name of a pipeline there is not.
func withCommands(root *cobra.Command, name string, err error) error {
	var findings finding.List
	if !errors.As(err, &findings) || findings[0].Code != finding.CodeUnknownPipeline || findings[0].Hint != "" {
		return err
	}
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(name); len(near) > 0 {
		findings[0].Hint = "the command " + near[0]
	}
	return findings
}
