package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/writable"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

func newCheck(place *cli.Place) *cobra.Command {
	var set []string
	var asJSON bool
	var limit time.Duration
	c := &cobra.Command{
		Use:   "check [NAME…]",
		Short: "find out whether pipelines would run: files, connections, programs, stores",
		Long: `check does what lint does, and then makes every stage of the pipelines and tries
what it needs: files, proxies, servers of names, a browser, the stores. Nothing
flows, and no store is changed. Everything that is in the way is shown at once;
the exit status is then 3, and 2 if it is the configuration.`,
		Example: `  webrace-run check                                  all pipelines
  webrace-run check webrace --set fetch.proxy=socks5://127.0.0.1:9050`,
		ValidArgsFunction: place.CompletePipelines,
		RunE: func(c *cobra.Command, names []string) error {
			o := pipeline.LoadOptions{Set: set}
			if len(names) > 0 {
				o.Run = names
			}
			config, err := place.Load(o)
			if err != nil {
				if asJSON {
					return findingsJSON(c, err, cli.Usage)
				}
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			found, err := checkPipelines(ctx, c, config, names, limit, asJSON)
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

// checkPipelines tries pipelines, all if none is named, and tells of those that nothing is in the way of.
func checkPipelines(ctx context.Context, c *cobra.Command, config *pipeline.Config, names []string, limit time.Duration, quiet bool) (pipeline.Findings, error) {
	over, err := openRehearsal(config.Data)
	if err != nil {
		return nil, err
	}
	defer over.close()
	found := over.found
	if over.note != "" && !quiet {
		fmt.Fprintln(c.ErrOrStderr(), over.note)
	}
	if len(names) == 0 {
		for _, p := range config.Pipelines {
			names = append(names, p.Name)
		}
	}
	if !quiet {
		fmt.Fprintf(c.OutOrStdout(), "%-12s %s\n", "memory", budgetOf(config))
	}
	for _, name := range names {
		graph, err := config.Graph(name)
		if err != nil {
			return nil, err
		}
		wrong := graph.Probe(ctx, pipeline.RunOptions{Resources: over.resources()}, limit)
		found = append(found, wrong...)
		if len(wrong) == 0 && !quiet {
			fmt.Fprintf(c.OutOrStdout(), "%-12s %s, nothing in the way\n", name, cli.Count(len(graph.Stages), "stage"))
		}
	}
	return found, ctx.Err()
}

// rehearsal is a data directory over which stages can be tried: the one that is configured, read-only, with
// its missing stores in a directory that is removed again.
type rehearsal struct {
	dir     *storage.Dir
	scratch string
	inUse   bool              // by another process, so that all stores are scratch
	note    string            // about the directory, for whoever asked
	found   pipeline.Findings // what is wrong with it
}

func openRehearsal(path string) (*rehearsal, error) {
	scratch, err := os.MkdirTemp("", "webrace-check-")
	if err != nil {
		return nil, &cli.Error{Status: cli.Environment, Err: err}
	}
	r := &rehearsal{scratch: scratch}
	if r.openReal(path); r.dir == nil {
		r.dir, err = storage.Open(scratch, storage.Options{Fatal: func(err error) { panic(err) }})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(scratch))
	}
	return r, nil
}

// openReal opens the directory if there is one, and looks whether it can be written.
func (r *rehearsal) openReal(path string) {
	wrong := writable.Dir(path)
	if _, err := os.Stat(filepath.Join(path, "format")); err == nil { // otherwise a run makes it
		r.dir, err = storage.Open(path, storage.Options{ReadOnly: true, Scratch: r.scratch})
		var locked *storage.LockedError
		if r.inUse = errors.As(err, &locked); r.inUse {
			r.note = fmt.Sprintf("data directory %s is in use by %s: what it holds is not tried", path, locked.Owner)
			err = nil
		}
		wrong = errors.Join(wrong, err)
	}
	if wrong != nil {
		r.found = append(r.found, pipeline.Finding{Code: pipeline.CodeEnvironment, Message: fmt.Sprintf("data directory %s: %v", path, wrong)})
	}
}

// resources lends the directory to stages.
func (r *rehearsal) resources() *pipeline.Resources {
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, r.dir)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) {
		if r.inUse {
			return nil, fmt.Errorf("the data directory is in use: %w", pipeline.ErrUntried)
		}
		return r.dir.Control()
	})
	return resources
}

func (r *rehearsal) close() {
	r.dir.Close() // nothing was promised of what is in it
	os.RemoveAll(r.scratch)
}
