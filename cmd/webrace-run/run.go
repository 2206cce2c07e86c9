package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/diskspace"
	"github.com/webrace/webrace/xmlschema"
)

// runFlags are those of everything that runs pipelines.
type runFlags struct {
	set      []string
	urds     string
	owner    string
	before   func(dir *storage.Dir) error
	report   string
	log      string
	logLevel string

	output *crawlOutput // of the documents of the run; nil: none

	drainLimit time.Duration
	trace      traceFlags

	continuous bool
	dry        dryFlags
	admin      adminFlags
	mcp        mcpFlags
	reload     reloadFlags
}

func (f *runFlags) addFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "override an option: `STAGE.OPTION=VALUE`, as often as needed")
	c.Flags().StringVar(&f.urds, "urds", "", "import the URDs of an XML `FILE`, and run for these alone")
	c.Flags().StringVar(&f.owner, "owner", "", "the owner of imported URDs that name none")
	c.Flags().BoolVar(&f.continuous, "continuous", false, "go on until told to stop: a round of each crawl whenever it is due")
	f.dry.addFlags(c)
	f.addOutputFlags(c)
}

func (f *runFlags) addOutputFlags(c *cobra.Command) {
	f.reload.addFlags(c)
	c.Flags().StringVar(&f.report, "report", "", "write what the run did to a `FILE` as JSON")
	c.Flags().DurationVar(&f.drainLimit, "drain-limit", 0, "how long what is in flight may take to end after Ctrl-C or SIGTERM (default no limit)")
	c.Flags().StringVar(&f.logLevel, "log-level", "", "from which `LEVEL` on to log (debug, info, warn, error), also of a stage or stage type: warn,fetch=debug")
	f.trace.add(c)
	c.Flags().StringVar(&f.log, "log", "", "log as `text or json` on stderr (default: a progress line on a terminal, text elsewhere)")
	f.admin.addFlags(c)
	f.mcp.addFlags(c)
}

func newRun(globals *cli.Globals) *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "run NAME…",
		Short: "run pipelines by name, also one that is called like a subcommand",
		Example: `  webrace-run run webrace search
  webrace-run run list --set fetch.workers=8         a pipeline that is called like a command`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: globals.CompletePipelines,
		RunE: func(c *cobra.Command, names []string) error {
			return runPipelines(c, globals, flags, names, nothingMore)
		},
	}
	flags.addFlags(c)
	return c
}

// after is what a command does with the stores when the pipelines have ended; without reports, none could begin.
type after func(dir *storage.Dir, reports []*pipeline.Report) error

// runPipelines checks everything before it starts anything, then runs the pipelines to their end.
func runPipelines(c *cobra.Command, globals *cli.Globals, flags runFlags, names []string, then after) error {
	l, err := prepare(c, globals, flags, names)
	if err != nil {
		return err
	}
	handler := admin.New()
	closeAdmin, err := serveAdmin(l.admin, handler, l.out)
	if err != nil {
		return err
	}
	defer closeAdmin()
	agents, err := flags.mcp.listen()
	if err != nil {
		return err
	}
	defer agents.close()
	handler.Await("the data directory " + l.config.Data + " to be free")
	watch, dir, closeDir, err := l.openData()
	if err != nil {
		return err
	}
	defer closeDir()
	defer closeAdmin() // before the directory is
	if err := l.store(c.Context(), dir); err != nil {
		return err
	}
	if err := l.dry.begin(c.Context(), dir); err != nil {
		return err
	}
	tracer, endTrace, err := l.tracing.open(l.out.logger)
	if err != nil {
		return err
	}
	if flags.before != nil {
		if err := flags.before(dir); err != nil {
			return errors.Join(err, endTrace())
		}
	}
	p := &process{
		out: l.out, room: watch, admin: handler, socket: dir.Path(storage.SocketName),
		continuous: flags.continuous, drainLimit: flags.drainLimit, tracer: tracer, dry: l.dry.options(),
	}
	closeSessions, err := l.sessions(c.Context(), p, dir)
	if err != nil {
		return errors.Join(err, endTrace())
	}
	defer closeSessions()
	l.showCluster(handler)
	closeAgents, err := agents.serve(l, dir)
	if err != nil {
		return errors.Join(err, endTrace())
	}
	defer closeAgents() // before the directory is
	if flags.output != nil {
		p.around = flags.output.around
	}
	p.reloads = &reloads{flags: flags.reload, out: l.out, admin: handler, continuous: flags.continuous, load: l.load}
	reports, runErr := p.run(c.Context(), l.config, names)
	runErr = errors.Join(runErr, endTrace())
	if reports == nil {
		return errors.Join(runErr, then(dir, nil))
	}
	reports = summed(reports)
	var unanswered unansweredStarts
	if runErr == nil && !flags.continuous {
		if unanswered, runErr = noStartAnswered(p.sessions, reports); runErr != nil {
			return runErr
		}
	}
	summarize(c.OutOrStdout(), p.sessions, l.config, reports, unanswered, l.dry != nil)
	runErr = errors.Join(runErr, l.dry.tell(c.Context(), dir), flags.output.end(runErr))
	return errors.Join(runErr, writeReport(flags.report, reports, l.dry != nil), then(dir, reports), unanswered.err())
}

// launch is a run that nothing has been found wrong with, and what it takes along.
type launch struct {
	globals *cli.Globals
	flags   runFlags
	names   []string
	set     []string // what options are set to, by the flags and by what is imported
	config  *config.Config
	out     *output
	dry     *dryRun // nil: the run does what it does
	admin   *admin.Endpoint
	tracing *tracing
	urds    []*xmlschema.URD // to be imported; the run is for these alone
}

// prepare reads and checks whatever was given, and changes nothing.
func prepare(c *cobra.Command, globals *cli.Globals, flags runFlags, names []string) (*launch, error) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, cli.Wrongf("pipeline %s is named twice", name)
		}
	}
	l := &launch{globals: globals, flags: flags, names: names, set: flags.set}
	err := flags.dry.check(c)
	if err != nil {
		return nil, err
	}
	if l.config, err = l.load(); err != nil {
		return nil, err
	}
	if err := l.fitsCluster(); err != nil {
		return nil, err
	}
	graphs := make([]*pipeline.Graph, len(names))
	for i, name := range names {
		if graphs[i], err = l.config.Graph(name); err != nil {
			return nil, cli.Wrong(err)
		}
	}
	if l.out, err = newOutput(c.ErrOrStderr(), flags.log, flags.logLevel, graphs...); err != nil {
		return nil, err
	}
	for _, warning := range l.config.Warnings {
		l.out.logger.Warn(warning.Message, "at", warning.Pos.String())
	}
	l.dry = newDryRun(flags.dry, c.OutOrStdout(), l.out, len(names) > 1)
	if l.admin, err = flags.admin.endpoint(); err != nil {
		return nil, err
	}
	if l.tracing, err = flags.trace.prepare(); err != nil {
		return nil, err
	}
	if l.urds, err = readURDs(c.ErrOrStderr(), globals, flags.urds, flags.owner); err != nil {
		return nil, err
	}
	return l, mustBeWritable(flags.report)
}

// load reads the configuration as it is now.
func (l *launch) load() (*config.Config, error) {
	return l.globals.Load(config.LoadOptions{Run: l.names, Set: l.set})
}

// openData opens the data directory; for a dry run, a copy of it that closeDir removes.
func (l *launch) openData() (watch *diskspace.Watch, dir *storage.Dir, closeDir func(), err error) {
	path, remove := l.config.Data, func() {}
	if l.dry != nil {
		if path, err = os.MkdirTemp("", "webrace-dry-"); err != nil {
			return nil, nil, nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("copy the data directory for a dry run: %w", err)}
		}
		remove = func() { os.RemoveAll(path) }
	}
	watch = diskspace.New(diskspace.Options{Dir: path, Notify: l.out.paused, Exhausted: l.out.exhausted, Away: l.out.away})
	l.out.room = watch
	var stores *cli.Stores
	options := storage.Options{DiskSpace: watch, Caches: budgetOf(l.config).caches()}
	if l.dry != nil {
		stores, err = cli.PlaceOf(l.config).OpenCopy(path, options)
	} else {
		stores, err = cli.PlaceOf(l.config).Open(options)
	}
	if err != nil {
		remove()
		return nil, nil, nil, err
	}
	return watch, stores.Dir, func() {
		stores.Close()
		remove()
	}, nil
}

// store imports the URDs of a file, and restricts the run to those.
func (l *launch) store(ctx context.Context, dir *storage.Dir) error {
	if l.flags.urds == "" {
		return nil
	}
	ids, err := importURDs(ctx, dir, l.urds)
	if err != nil {
		return err
	}
	l.set = append(slices.Clone(l.set), restrictTo(l.config, l.names, ids)...)
	l.config, err = l.load()
	return err
}

// nothingMore is the end of a command that only runs pipelines.
func nothingMore(*storage.Dir, []*pipeline.Report) error { return nil }

// restrictTo returns the overrides that make the urds stages of these pipelines read only some URDs.
func restrictTo(loaded *config.Config, names, ids []string) []string {
	var set []string
	for _, name := range names {
		graph, err := loaded.Graph(name)
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
