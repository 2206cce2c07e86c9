package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/descriptors"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/stages/writefile/writable"
	"github.com/webrace/webrace/storage"
)

func newCheck(globals *cli.Globals) *cobra.Command {
	var set []string
	var asJSON bool
	var limit time.Duration
	c := &cobra.Command{
		Use:   "check [NAME…]",
		Short: "find out whether pipelines would run: files, connections, programs, stores",
		Long: `check does what lint does, and then makes every stage of the pipelines and tries
what it needs: files, proxies, servers of names, a browser, the stores. Nothing
flows, and no store is changed. Everything that is in the way is shown at once;
the exit status is then 3, and 2 if it is the configuration. Where no pipeline is
named, one that lacks nothing but the environment variables by which it is set up
is said to be not set up, and is in no way.`,
		Example: `  webrace-run check                                  all pipelines
  webrace-run check webrace --set fetch.proxy=socks5://127.0.0.1:9050`,
		ValidArgsFunction: globals.CompletePipelines,
		RunE: func(c *cobra.Command, names []string) error {
			k := checker{c: c, limit: limit, quiet: asJSON}
			loaded, err := k.load(globals, set, names)
			if err != nil {
				if asJSON {
					return findingsJSON(c, err, cli.Usage)
				}
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			found, err := k.check(ctx, loaded)
			switch {
			case err != nil:
				return err
			case asJSON:
				return findingsJSON(c, found, cli.Environment)
			case len(found) > 0:
				return &cli.Error{Status: cli.Environment, Err: found}
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&set, "set", nil, "override an option: `STAGE.OPTION=VALUE`, as often as needed")
	c.Flags().BoolVar(&asJSON, "json", false, "what is in the way as a JSON list on standard output, as lint --json has it")
	c.Flags().DurationVar(&limit, "limit", 30*time.Second, "how long one stage may take over what it tries")
	return c
}

// checker tries pipelines.
type checker struct {
	c     *cobra.Command
	limit time.Duration // for each stage
	quiet bool          // nothing is told of what is not in the way

	names []string
	unset map[string]string // why those of the pipelines are not set up that need not be; nil: all that are tried are judged
}

// load reads the configuration of what is to be tried: the pipelines that are named, or all.
func (k *checker) load(globals *cli.Globals, set, names []string) (*config.Config, error) {
	if k.names = names; len(names) > 0 {
		return globals.Load(config.LoadOptions{Set: set, Run: names})
	}
	k.unset = make(map[string]string)
	known, err := globals.Load(config.LoadOptions{Run: []string{}})
	if err != nil {
		return nil, err
	}
	for _, p := range known.Pipelines {
		k.names = append(k.names, p.Name)
	}
	loaded, err := globals.Load(config.LoadOptions{Set: set})
	var found finding.List
	if err == nil || !errors.As(err, &found) {
		return loaded, err
	}
	var run []string
	for _, name := range k.names {
		if k.unset[name] = needsVariable(found, name); k.unset[name] == "" {
			delete(k.unset, name)
			run = append(run, name)
		}
	}
	if len(run) == len(k.names) {
		return nil, err
	}
	if loaded, others := globals.Load(config.LoadOptions{Set: set, Run: run}); others == nil {
		return loaded, nil
	}
	return nil, err
}

// needsVariable returns what is wrong with a pipeline if that is a variable that is not set, and nothing else.
func needsVariable(found finding.List, name string) (message string) {
	for _, f := range found {
		if !strings.HasPrefix(f.Path, "pipeline."+name+".") {
			continue
		}
		if f.Code != finding.CodeUnsetVariable {
			return ""
		}
		message = f.Message
	}
	return message
}

// check tries the pipelines, and tells of those that nothing is in the way of.
func (k *checker) check(ctx context.Context, loaded *config.Config) (finding.List, error) {
	over, err := openProbed(cli.PlaceOf(loaded))
	if err != nil {
		return nil, err
	}
	defer over.close()
	found := over.found
	if over.note != "" && !k.quiet {
		fmt.Fprintln(cli.Prose(k.c.ErrOrStderr()), over.note)
	}
	k.tell("memory", budgetOf(loaded).String())
	if limit := descriptors.Limit(); limit < descriptors.Enough {
		k.tell("descriptors", fmt.Sprintf("the system lets this process have %d files and connections open, which is few: "+
			"give it %d (ulimit -n %[2]d, or LimitNOFILE=%[2]d of systemd)", limit, descriptors.Enough))
	}
	for _, name := range k.names {
		if k.unset[name] != "" {
			k.tell(name, "not set up: "+k.unset[name])
			continue
		}
		graph, err := loaded.Graph(name)
		if err != nil {
			return nil, err
		}
		wrong, notes := graph.Probe(ctx, pipeline.RunOptions{Resources: over.resources()}, k.limit)
		switch variable := notSetUp(wrong); {
		case len(wrong) == 0:
			k.tell(name, wording.Count(len(graph.Stages), "stage")+", nothing in the way")
			for _, n := range notes {
				k.tell(name+"."+n.Stage, n.Says)
			}
			if err := k.tellUnasked(ctx, name, graph, over); err != nil {
				return nil, err
			}
		case k.unset != nil && variable != "":
			k.tell(name, "not set up: "+variable+" is not set")
		default:
			found = append(found, wrong...)
		}
	}
	return found, ctx.Err()
}

// tellUnasked tells how many URDs have a question for a model where a pipeline that matches them asks none.
func (k *checker) tellUnasked(ctx context.Context, name string, graph *pipeline.Graph, over *probedDir) error {
	if over.inUse || k.quiet || !cli.HasStage(graph, "keyword-filter") || cli.HasStage(graph, "ask") {
		return nil
	}
	store, err := over.stores.Control()
	if err != nil {
		return nil // which is among what was found
	}
	asking := 0
	for _, err := range store.Query(ctx, "/urd[ask]") {
		if err != nil {
			return err
		}
		asking++
	}
	if asking > 0 {
		k.tell(name, wording.Count(asking, "URD")+" with a question for a model (urd/ask): the pipeline has no stage ask before aci-emit, so that all is told, unjudged")
	}
	return nil
}

func (k *checker) tell(name, what string) {
	if !k.quiet {
		fmt.Fprintf(cli.Prose(k.c.OutOrStdout()), "%-12s %s\n", name, what)
	}
}

// notSetUp returns the variable that is not set where nothing else is in the way of a pipeline.
func notSetUp(wrong finding.List) (variable string) {
	for _, f := range wrong {
		if variable = f.Unset; variable == "" {
			return ""
		}
	}
	return variable
}

// probedDir is a data directory over which stages can be tried: the one that is configured, read-only, with
// its missing stores in a directory that is removed again.
type probedDir struct {
	stores  *cli.Stores
	scratch string
	inUse   bool         // by another process, so that all stores are scratch
	note    string       // about the directory, for the user
	found   finding.List // what is wrong with it
}

func openProbed(at cli.Place) (*probedDir, error) {
	scratch, err := os.MkdirTemp("", "webrace-check-")
	if err != nil {
		return nil, &cli.Error{Status: cli.Environment, Err: err}
	}
	r := &probedDir{scratch: scratch}
	if r.openReal(at); r.stores == nil {
		var dir *storage.Dir
		dir, err = storage.Open(scratch, storage.Options{Fatal: func(err error) { panic(err) }})
		r.stores = &cli.Stores{Dir: dir}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(scratch))
	}
	return r, nil
}

// openReal opens the directory if there is one, and looks whether it can be written.
func (r *probedDir) openReal(at cli.Place) {
	path := at.Data
	wrong := writable.Dir(path)
	if _, err := os.Stat(filepath.Join(path, "format")); err == nil { // otherwise a run makes it
		r.stores, err = at.OpenToTry(r.scratch)
		var locked *storage.LockedError
		if r.inUse = errors.As(err, &locked); r.inUse {
			r.note = fmt.Sprintf("data directory %s is in use by %s: what it holds is not tried", path, locked.Owner)
			err = nil
		}
		wrong = errors.Join(wrong, err)
	} else {
		wrong = errors.Join(wrong, at.TryControl())
	}
	if wrong != nil {
		r.found = append(r.found, finding.Finding{Code: finding.CodeEnvironment, Message: fmt.Sprintf("data directory %s: %v", path, wrong)})
	}
}

// resources lends the directory to stages.
func (r *probedDir) resources() *pipeline.Resources {
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, r.stores.Dir)
	pipeline.Provide(resources, pipeline.StatesInMemory()) // nothing flows, so nothing is remembered
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) {
		if r.inUse {
			return nil, fmt.Errorf("the data directory is in use: %w", pipeline.ErrUntried)
		}
		return r.stores.Control()
	})
	pipeline.Provide[portal.OpenReader](resources, func() (portal.Reader, error) {
		if r.inUse {
			return nil, fmt.Errorf("the data directory is in use: %w", pipeline.ErrUntried)
		}
		return openPortalReader(r.stores.Dir, asConfigured{})
	})
	return resources
}

func (r *probedDir) close() {
	r.stores.Close() // nothing was promised of what is in it
	os.RemoveAll(r.scratch)
}
