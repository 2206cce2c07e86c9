package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/room"
	"github.com/webrace/webrace/xmlschema"
)

// runFlags are those of everything that runs pipelines.
type runFlags struct {
	set      []string
	urds     string
	owner    string
	requests []*xmlschema.URD // stored before the run, which is not restricted to them
	report   string
	log      string
	logLevel string

	drainLimit time.Duration
	trace      traceFlags

	continuous bool
	face       faceFlags
	reload     reloadFlags
}

func (f *runFlags) addFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "override an option: `STAGE.OPTION=VALUE`, as often as needed")
	c.Flags().StringVar(&f.urds, "urds", "", "import the URDs of an XML `FILE`, and run for these alone")
	c.Flags().StringVar(&f.owner, "owner", "", "the owner of imported URDs that name none")
	c.Flags().BoolVar(&f.continuous, "continuous", false, "go on until told to stop: a round of each crawl whenever it is due")
	f.addOutputFlags(c)
}

func (f *runFlags) addOutputFlags(c *cobra.Command) {
	f.reload.addFlags(c)
	c.Flags().StringVar(&f.report, "report", "", "write what the run did to a `FILE` as JSON")
	c.Flags().DurationVar(&f.drainLimit, "drain-limit", 0, "how long what is in flight may take to end after Ctrl-C or SIGTERM (default no limit)")
	c.Flags().StringVar(&f.logLevel, "log-level", "", "from which `LEVEL` on to log (debug, info, warn, error), also of a stage or stage type: warn,fetch=debug")
	f.trace.add(c)
	c.Flags().StringVar(&f.log, "log", "", "log as `text or json` on stderr (default: a progress line on a terminal, text elsewhere)")
	f.face.addFlags(c)
}

func newRun(place *cli.Place) *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "run NAME…",
		Short: "run pipelines by name, also one that is called like a subcommand",
		Example: `  webrace-run run webrace search
  webrace-run run list --set fetch.workers=8         a pipeline that is called like a command`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: place.CompletePipelines,
		RunE:              func(c *cobra.Command, names []string) error { return runPipelines(c, place, flags, names, nothingMore) },
	}
	flags.addFlags(c)
	return c
}

// after is what a command does with the stores when the pipelines have ended.
type after func(dir *storage.Dir, reports []*pipeline.Report) error

// runPipelines checks everything before it starts anything, then runs the pipelines to their end.
func runPipelines(c *cobra.Command, place *cli.Place, flags runFlags, names []string, then after) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return cli.Wrongf("pipeline %s is named twice", name)
		}
	}
	set := flags.set
	load := func() (*pipeline.Config, error) { return place.Load(pipeline.LoadOptions{Run: names, Set: set}) }
	config, err := load()
	if err != nil {
		return err
	}
	var graphs []*pipeline.Graph
	for _, name := range names {
		graph, err := config.Graph(name)
		if err != nil {
			return cli.Wrong(err)
		}
		graphs = append(graphs, graph)
	}
	out, err := newOutput(c.ErrOrStderr(), flags.log, flags.logLevel, graphs...)
	if err != nil {
		return err
	}
	door, err := flags.face.door()
	if err != nil {
		return err
	}
	urds, err := readURDs(c.ErrOrStderr(), flags.urds, flags.owner)
	if err != nil {
		return err
	}
	if err := mustBeWritable(flags.report); err != nil {
		return err
	}
	face := admin.New()
	closeDoor, err := openDoor(door, face, out)
	if err != nil {
		return err
	}
	defer closeDoor()
	face.Await("the data directory " + config.Data + " to be free")
	watch := room.New(room.Options{Dir: config.Data, Notify: out.paused})
	out.room = watch
	dir, err := cli.OpenDirWaiting(config.Data, watch)
	if err != nil {
		return err
	}
	defer dir.Close()
	if _, err := importURDs(c.Context(), dir, flags.requests); err != nil {
		return err
	}
	if flags.urds != "" {
		ids, err := importURDs(c.Context(), dir, urds)
		if err != nil {
			return err
		}
		set = append(set, restrictTo(config, names, ids)...)
		if config, err = load(); err != nil {
			return err
		}
	}
	defer closeDoor() // before the directory is
	tracer, endTrace, err := flags.trace.open()
	if err != nil {
		return err
	}
	s := &session{dir: dir, out: out, room: watch, face: face, continuous: flags.continuous, drainLimit: flags.drainLimit, tracer: tracer}
	s.reloads = &reloads{flags: flags.reload, out: out, continuous: flags.continuous, load: load}
	reports, runErr := s.run(c.Context(), config, names)
	runErr = errors.Join(runErr, endTrace())
	if reports == nil {
		return runErr
	}
	summarize(c.OutOrStdout(), dir, reports)
	return errors.Join(runErr, writeReport(flags.report, reports), then(dir, reports))
}

// nothingMore is the end of a command that only runs pipelines.
func nothingMore(*storage.Dir, []*pipeline.Report) error { return nil }

// restrictTo returns the overrides that make the urds stages of these pipelines read only some URDs.
func restrictTo(config *pipeline.Config, names, ids []string) []string {
	var set []string
	for _, name := range names {
		graph, err := config.Graph(name)
		if err != nil {
			continue // what is wrong with it is said when it is run
		}
		for _, stage := range graph.Stages {
			if stage.Spec.Type == "urds" {
				set = append(set, fmt.Sprintf("%s.%s.ids=%s", name, stage.Name, tomlList(ids)))
			}
		}
	}
	return set
}
