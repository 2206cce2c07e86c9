package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/stages/exec"
	"github.com/webrace/webrace/stages/print"
)

func newStage(globals *cli.Globals) *cobra.Command {
	var flags stageFlags
	c := &cobra.Command{
		Use:   "stage TYPE",
		Short: "do the work of one stage for an exec stage, here or by ssh",
		Long: `stage speaks the protocol of exec stages on standard input and output, and does
with each item what a stage of that type does in a pipeline: in processes of its
own, or on other machines. It is no command for a terminal, but one for the
option command of an exec stage, whose table options it takes for the stage's.

Sources, queues, stages that need the data directory, that keep items or that
tell the frontier what became of them do not run so: they are refused.`,
		Example: `  webrace-run stage transform                        in exec: command = ["webrace-run", "stage", "transform"]
  webrace-run stage extract --set fields.title=css:h1
  ssh node2 webrace-run stage transform              in exec: on = ["", "ssh node2"]`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeServed,
		RunE: func(c *cobra.Command, args []string) error {
			return flags.serve(c, globals, args[0])
		},
	}
	c.Flags().StringArrayVar(&flags.set, "set", nil, "set an option of the stage: `OPTION=VALUE`, as often as needed")
	c.Flags().StringVar(&flags.like, "like", "", "begin with the options of the stage of that type in a pipeline of the configuration, `PIPELINE` or PIPELINE.STAGE")
	for flag, complete := range map[string]cobra.CompletionFunc{"set": completeOptions, "like": globals.CompletePipelines} {
		if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // there is a flag, and it has no completion yet
		}
	}
	return c
}

// stageFlags are those of webrace-run stage.
type stageFlags struct {
	set  []string
	like string
}

// serve answers frames until there are no more.
func (f stageFlags) serve(c *cobra.Command, globals *cli.Globals, typ string) error {
	if err := servable(typ); err != nil {
		return err
	}
	o := config.SingleOptions{Set: f.set}
	var err error
	if f.like != "" {
		if o.From, err = f.likened(globals, typ); err != nil {
			return err
		}
	}
	var found finding.List
	if _, err := config.Single(typ, o); errors.As(err, &found) { // what is missing may come with the greeting
		return found
	}
	if cli.IsTerminal(c.InOrStdin()) {
		return cli.Wrongf("standard input is a terminal: %s reads the frames of an exec stage, which names it as its command", c.CommandPath())
	}
	stdout, restore := claimStdout(c.OutOrStdout())
	defer restore()
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, print.Output{Writer: c.ErrOrStderr()})
	server := exec.Server{
		Logger: slog.New(slog.NewTextHandler(c.ErrOrStderr(), nil)), Resources: resources,
		Stage: func(options pipeline.Table) (*pipeline.Stage, error) {
			o.Table = options
			return config.Single(typ, o)
		},
	}
	return server.Serve(c.Context(), c.InOrStdin(), stdout)
}

// claimStdout lets nothing but frames be written to standard output: what a library prints goes to standard error.
func claimStdout(out io.Writer) (stdout io.Writer, restore func()) {
	before := os.Stdout
	os.Stdout = os.Stderr
	return cli.Exact(out), func() { os.Stdout = before }
}

// Why stages do not run by themselves.
const (
	needsData  = "it needs the data directory, which one process has open"
	tellsQueue = "it tells the frontier what became of each request, which a program cannot"
	keepsItems = "it keeps items, and emits later what it makes of them"
)

// unservable holds why processors do not run by themselves. What is a source, a queue or takes items in groups is known
// of its type.
var unservable = map[string]string{
	"batch": keepsItems, "throttle": keepsItems, "window": keepsItems,
	"ask": needsData, "cache": needsData, "chunk": needsData, "keyword-filter": needsData, "quad-index": needsData, "quad-links": needsData,
	"mail-out": "it needs the secrets of the data directory, which one process has open",
	"fetch":    tellsQueue, "imap": tellsQueue, "nntp": tellsQueue, "sql": tellsQueue, "normalize": tellsQueue, "sitemap-parse": tellsQueue,
	"render": "it asks for what pages load by the connections of fetch, which are in the process of the pipeline",
	"dedupe": "it forgets the key of an item that fails in the end, which a program is not told",
}

// servable returns why a stage of the type cannot be served; nil if it can.
func servable(typ string) error {
	spec, known := pipeline.DefaultRegistry.Lookup(typ)
	if !known {
		_, err := config.Single(typ, config.SingleOptions{})
		return err
	}
	why := unservable[typ]
	switch {
	case len(spec.In) == 0:
		why = "it is a source, and takes no items"
	case spec.Queue:
		why = "it is a queue, and keeps items"
	case why == "" && spec.Batch != (pipeline.Batch{}):
		why = "it takes items in groups, and the protocol of exec gives them one by one"
	}
	if why == "" {
		return nil
	}
	return cli.Wrongf("a stage of type %s cannot run by itself: %s", typ, why)
}

// likened returns the options of the stage of that type in a pipeline.
func (f stageFlags) likened(globals *cli.Globals, typ string) (any, error) {
	name, stage, named := strings.Cut(f.like, ".")
	if named {
		s, err := loadStage(globals, name, stage, nil)
		if err == nil && s.Spec.Type != typ {
			err = cli.Wrongf("--like %s: stage %s is of type %s, not %s", f.like, stage, s.Spec.Type, typ)
		}
		if err != nil {
			return nil, err
		}
		return s.Options, nil
	}
	loaded, err := globals.Load(config.LoadOptions{Run: []string{name}})
	if err != nil {
		return nil, err
	}
	graph, err := loaded.Graph(name)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	var of []*pipeline.Stage
	var names []string
	for _, s := range graph.Stages {
		if s.Spec.Type == typ {
			of, names = append(of, s), append(names, name+"."+s.Name)
		}
	}
	switch len(of) {
	case 0:
		return nil, cli.Wrongf("--like %s: the pipeline has no stage of type %s", f.like, typ)
	case 1:
		return of[0].Options, nil
	}
	return nil, cli.Wrongf("--like %s: it has several of type %s: say --like %s", f.like, typ, suggest.Or(names))
}

// completeServed completes the types that can be served.
func completeServed(c *cobra.Command, given []string, begun string) ([]string, cobra.ShellCompDirective) {
	all, directive := cli.CompleteTypes(c, given, begun)
	return slices.DeleteFunc(all, func(typ string) bool {
		typ, _, _ = strings.Cut(typ, "\t")
		return servable(typ) != nil
	}), directive
}

// completeOptions completes OPTION= of the type that is named before it.
func completeOptions(_ *cobra.Command, given []string, begun string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	var all []string
	if len(given) == 0 || strings.Contains(begun, "=") {
		return nil, directive
	}
	for _, option := range config.Options(nil, given[0]) {
		if name := option.Name + "="; !strings.Contains(name, "[") && strings.HasPrefix(name, begun) {
			all = append(all, cobra.CompletionWithDesc(name, option.Doc))
		}
	}
	slices.Sort(all)
	return all, directive
}
