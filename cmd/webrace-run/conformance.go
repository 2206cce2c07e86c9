package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/stages/kinds"
)

func newConformance(globals *cli.Globals) *cobra.Command {
	var set []string
	var items string
	var patience time.Duration
	c := &cobra.Command{
		Use:   "conformance PIPELINE STAGE",
		Short: "try whether a stage keeps what every stage owes to its pipelines",
		Long: `conformance runs a stage as pipelines.toml has it through the suite that stages in
Go are tested with: every item acknowledged once, also when it is cancelled;
nothing emitted but what is declared; closed twice without harm; and more. It is
meant for programs (type exec). What the stage does besides, it does.

It is tried on samples of the kinds that it takes, or on those of --items: a JSON
object a line, with kind, value and, if it is text, body. A run may have some twenty
of them in work when it is told to end: --patience is for a stage that needs its time.`,
		Example: "  webrace-run conformance news shout\n  webrace-run conformance news translate --patience 5m",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if patience <= 0 {
				return cli.Wrongf("--patience %v: it is the longest to wait for the stage, as 30s or 5m", patience)
			}
			stage, err := loadStage(globals, args[0], args[1], set)
			if err != nil {
				return err
			}
			inputs, err := inputsOf(stage, items)
			if err != nil {
				return err
			}
			broken := stagetest.Check(stagetest.Case{Type: stage.Spec.Type, Options: stage.Options, Inputs: inputs, Patience: patience})
			for _, violation := range broken {
				fmt.Fprintln(cli.Prose(c.OutOrStdout()), violation)
			}
			if len(broken) > 0 {
				return fmt.Errorf("stage %s breaks %s", stage.Name, wording.Count(len(broken), "rule"))
			}
			fmt.Fprintf(cli.Prose(c.OutOrStdout()), "stage %s keeps all rules, tried on %s\n", stage.Name, wording.Count(len(inputs), "item"))
			return nil
		},
	}
	c.Flags().StringArrayVar(&set, "set", nil, "override an option: `STAGE.OPTION=VALUE`, as often as needed")
	c.Flags().DurationVar(&patience, "patience", 10*time.Second, "the longest that the stage may take over a run, its end, or anything else")
	c.Flags().StringVar(&items, "items", "", "try it on the items of a `FILE`")
	return c
}

// loadStage returns a stage of a pipeline, with its options.
func loadStage(globals *cli.Globals, name, stage string, set []string) (*pipeline.Stage, error) {
	loaded, err := globals.Load(config.LoadOptions{Run: []string{name}, Set: set})
	if err != nil {
		return nil, err
	}
	graph, err := loaded.Graph(name)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	i := slices.IndexFunc(graph.Stages, func(s *pipeline.Stage) bool { return s.Name == stage })
	if i < 0 {
		var names []string
		for _, s := range graph.Stages {
			names = append(names, s.Name)
		}
		return nil, cli.Wrongf("pipeline %s has no stage %q, only %s", name, stage, suggest.Choices(stage, names))
	}
	return graph.Stages[i], nil
}

// inputsOf returns what a stage is tried on.
func inputsOf(stage *pipeline.Stage, file string) ([]any, error) {
	if file != "" {
		return readItems(file)
	}
	var inputs []any
	for _, kind := range stage.Spec.In {
		inputs = append(inputs, kinds.Samples(kind)...)
	}
	if inputs == nil && !stage.IsSource() {
		return nil, cli.Wrongf("there are no samples of what stage %s takes: name some with --items FILE", stage.Name)
	}
	return inputs, nil
}

// readItems reads values, one a line.
func readItems(path string) ([]any, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	defer file.Close()
	var values []any
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var item struct {
			Kind  string
			Value json.RawMessage
			Body  string
		}
		err := json.Unmarshal(lines.Bytes(), &item)
		var value any
		if err == nil {
			value, err = codec.Decode(item.Kind, item.Value, []byte(item.Body))
		}
		if err != nil {
			return nil, cli.Wrongf("%s:%d: %v", path, n, err)
		}
		values = append(values, value)
	}
	return values, lines.Err()
}
