package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

// reloadFlags determine when and how the configuration is read again.
type reloadFlags struct {
	watch bool
	limit time.Duration
}

func (f *reloadFlags) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&f.watch, "watch", false, "read the configuration again when its files change, and go on with it; SIGHUP does so at any time")
	c.Flags().DurationVar(&f.limit, "reload-limit", 2*time.Minute, "how long a reload waits for what is in flight before it is given up")
}

// reloads make the pipelines that run go on with the configuration as it is now.
type reloads struct {
	flags      reloadFlags
	load       func() (*config.Config, error) // as it was read for the start
	out        *output
	admin      *admin.Handler // which is told of what fails
	continuous bool

	mu     sync.Mutex
	config *config.Config           // what holds
	runs   map[string]*pipeline.Run // by the names that people know them by
}

// begin obeys SIGHUP and watches the files, if that is wanted, until the function that it returns is called.
func (r *reloads) begin(ctx context.Context, loaded *config.Config, runs map[string]*pipeline.Run) (stop func(), err error) {
	r.config, r.runs = loaded, runs
	ctx, cancel := context.WithCancel(ctx)
	var going sync.WaitGroup
	if r.flags.watch {
		files, err := watchFiles(loaded)
		if err != nil {
			cancel()
			return nil, err
		}
		going.Go(func() { files.watch(ctx, r) })
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	going.Go(func() {
		for {
			select {
			case <-hangups:
				r.hungUp(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		signal.Stop(hangups)
		cancel()
		going.Wait()
	}, nil
}

// hungUp reads the configuration again, as the sender of SIGHUP wants; but not if it was sent because the terminal
// has gone.
func (r *reloads) hungUp(ctx context.Context) {
	if !r.out.lost() {
		_, _ = r.reload(ctx) // which reports how it went
		return
	}
	for _, run := range r.runs {
		run.Drain()
	}
}

// reload reads the configuration, makes the pipelines go on with it, and reports how that went, on stderr too.
func (r *reloads) reload(ctx context.Context) (summary string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.note("reading the configuration again")
	loaded, err := r.load()
	if err == nil {
		err = r.fits(loaded)
	}
	if err != nil {
		r.admin.ReloadRefused(err)
	} else {
		summary, err = r.apply(ctx, loaded)
	}
	if err != nil {
		r.out.problem("the configuration cannot be used; everything goes on as before", err)
		return "", err
	}
	r.config = loaded
	r.out.note("going on with the configuration as it is now: %s", strings.ReplaceAll(summary, "\n", "; "))
	return summary, nil
}

// fits refuses what only another start can bring about.
func (r *reloads) fits(loaded *config.Config) error {
	if loaded.Data != r.config.Data {
		return fmt.Errorf("the data directory is %s now; it was %s, which is open: start anew", loaded.Data, r.config.Data)
	}
	if loaded.Control != r.config.Control {
		return errors.New("the control store is elsewhere now than the one that is open: start anew")
	}
	if before, now := r.config.Cluster, loaded.Cluster; (before == nil) != (now == nil) || now != nil && *before != *now {
		return errors.New("[cluster] is another now than the one that this process is a node of: start anew")
	}
	for _, run := range r.runs {
		name := run.Graph().Name
		before, err := r.config.Graph(name)
		if err != nil {
			return err
		}
		now, err := loaded.Graph(name)
		if err != nil {
			return err
		}
		if !r.continuous && follows(before) != follows(now) {
			return fmt.Errorf("pipeline %s begins or ceases to follow a store, by which the end of all is known: start anew, or run it with --continuous", name)
		}
	}
	return nil
}

// apply reloads all pipelines that have not ended. One that fails keeps no other from it.
func (r *reloads) apply(ctx context.Context, loaded *config.Config) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.flags.limit)
	defer cancel()
	var changes []string
	var errs []error
	for _, name := range r.inOrder(loaded) {
		run := r.runs[name]
		graph, err := loaded.Graph(run.Graph().Name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		change, err := run.Reload(ctx, graph)
		if err != nil {
			r.admin.ReloadFailed(name, err)
		}
		switch {
		case errors.Is(err, pipeline.ErrEnded):
			changes = append(changes, name+": it has ended, or is about to")
		case err != nil:
			errs = append(errs, err)
		default:
			changes = append(changes, name+": "+change.String())
		}
	}
	if len(errs) > 0 && len(changes) > 0 {
		errs = append(errs, fmt.Errorf("but %s", strings.Join(changes, "; ")))
	}
	return strings.Join(changes, "\n"), errors.Join(errs...)
}

// inOrder returns the names of what runs in the order of the configuration.
func (r *reloads) inOrder(loaded *config.Config) (names []string) {
	for _, info := range loaded.Pipelines {
		for _, name := range slices.Sorted(maps.Keys(r.runs)) {
			if r.runs[name].Graph().Name == info.Name {
				names = append(names, name)
			}
		}
	}
	return names
}

// problem prints what is wrong on stderr; findings come with the lines that they are about.
func (o *output) problem(what string, err error) {
	if !o.line {
		o.logger.Error(what, "error", err)
		if o.json {
			return
		}
	}
	w := lineWriter{o: o}
	if o.line {
		fmt.Fprintln(cli.Prose(w), strings.ToUpper(what[:1])+what[1:]+":")
	}
	var findings finding.List
	if o.line || errors.As(err, &findings) {
		cli.Report(w, err)
	}
}
