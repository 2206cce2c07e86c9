package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/diskspace"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// session runs several pipelines over one data directory.
type session struct {
	dir   *storage.Dir
	out   *output
	room  *diskspace.Watch
	admin *admin.Handler

	memory     *pipeline.Memory // that what flows takes from
	continuous bool             // until a signal
	tracer     pipeline.Tracer  // nil: requests are not traced
	drainLimit time.Duration    // how long a drain may take; 0 has no limit
	reloads    *reloads
	dry        *pipeline.Dry // nil: what is run has its effects

	around func(*pipeline.Graph) (*pipeline.Graph, error) // puts a stage of the command into each pipeline; nil: none
}

// run starts the pipelines and waits for all. Those that follow a store end once the others have and they
// have caught up. A first signal drains, which waits for room if the disk is full; a second one cancels.
func (s *session) run(ctx context.Context, loaded *config.Config, names []string) ([]*pipeline.Report, error) {
	budget := budgetOf(loaded)
	budget.apply(budget.room(indexes(loaded, names)))
	s.memory = pipeline.NewMemory(budget.flow())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	runs, err := s.start(ctx, loaded, names)
	if err != nil {
		cancel()
		waitAll(runs)
		return nil, err
	}
	byName := make(map[string]*pipeline.Run, len(runs))
	for i, run := range runs {
		byName[names[i]] = run
	}
	stopReloads, err := s.reloads.begin(ctx, loaded, byName)
	if err != nil {
		cancel()
		waitAll(runs)
		return nil, err
	}
	defer stopReloads()
	s.admin.OnReload(s.reloads.reload)
	s.admin.Show(byName)
	defer s.serveSocket()()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waitAll(runs)
	}()
	interrupted := s.watch(runs, signals, ended, cancel)
	s.out.end()
	return s.results(runs, interrupted)
}

// start starts all pipelines, or returns those that it had started when one would not.
func (s *session) start(ctx context.Context, loaded *config.Config, names []string) ([]*pipeline.Run, error) {
	letters, err := openDeadLetters(s.dir)
	if err != nil {
		return nil, err
	}
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, s.dir)
	pipeline.Provide[pipeline.OpenStates](resources, func() (pipeline.States, error) { return s.dir.States() })
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return s.dir.Control() })
	pipeline.Provide[httprequest.Open](resources, func() (httprequest.Source, error) { return s.dir.Control() })
	upstream := make(chan struct{})
	options := pipeline.RunOptions{Resources: resources, Logger: s.out.logger, DeadLetters: letters, Upstream: upstream, Continuous: s.continuous, Tracer: s.tracer,
		Memory: s.memory, Around: s.around, Dry: s.dry}

	var runs []*pipeline.Run
	var feeders sync.WaitGroup
	for _, name := range names {
		graph, err := loaded.Graph(name)
		if err != nil {
			return runs, cli.Wrong(err)
		}
		s.admin.Await("the stages of " + name + " to open")
		run, err := graph.Start(ctx, options)
		if err != nil {
			return runs, &cli.Error{Status: cli.Environment, Err: err}
		}
		runs = append(runs, run)
		if !follows(graph) {
			feeders.Go(func() { <-run.Done() })
		}
	}
	go func() {
		feeders.Wait()
		close(upstream)
	}()
	return runs, nil
}

// indexes reports whether one of the pipelines makes pages searchable. One without a graph is found out when it starts.
func indexes(loaded *config.Config, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		g, err := loaded.Graph(name)
		return err == nil && slices.ContainsFunc(g.Stages, func(s *pipeline.Stage) bool { return s.Spec.Type == "index" })
	})
}

func follows(g *pipeline.Graph) bool {
	for _, stage := range g.Stages {
		if stage.Spec.Follows {
			return true
		}
	}
	return g.Continues()
}

// watch shows progress until everything has ended, and obeys signals. It reports whether a second one
// cut the drain short.
func (s *session) watch(runs []*pipeline.Run, signals <-chan os.Signal, ended <-chan struct{}, cancel func()) (interrupted bool) {
	tick := time.NewTicker(s.out.every)
	defer tick.Stop()
	draining := false
	var limit <-chan time.Time
	for {
		select {
		case <-ended:
			return interrupted
		case <-tick.C:
			s.out.progress(runs, draining)
		case <-limit:
			interrupted = true
			s.stop(fmt.Sprintf("stopping after %v (--drain-limit), with items in %s", s.drainLimit, cmp.Or(holding(runs), "the stores")), cancel)
		case <-signals:
			if draining {
				interrupted = true
				s.stop("stopping at once", cancel)
				continue
			}
			draining = true
			if s.drainLimit > 0 {
				limit = time.After(s.drainLimit)
			}
			s.out.note("finishing what is in flight%s%s; again to stop at once", inBrackets(holding(runs)), s.condition())
			for _, run := range runs {
				run.Drain()
			}
		}
	}
}

// stop ends what is in flight.
func (s *session) stop(why string, cancel func()) {
	s.out.note("%s; what is in flight will be repeated, where its source waits for its end", why)
	s.room.Close()
	cancel()
}

// condition returns what else has to come for a drain to end.
func (s *session) condition() string {
	if s.room.State().Paused {
		return " once there is room on the disk"
	}
	return ""
}

// holding names the stages that still have items; empty if none has, and what is left is on its way to the disk.
func holding(runs []*pipeline.Run) string {
	var names []string
	for _, run := range runs {
		names = append(names, run.Holding()...)
	}
	return strings.Join(names, ", ")
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func (s *session) results(runs []*pipeline.Run, interrupted bool) ([]*pipeline.Report, error) {
	var reports []*pipeline.Report
	var errs []error
	for _, run := range runs {
		report, err := run.Wait()
		reports = append(reports, report)
		errs = append(errs, err)
	}
	if interrupted {
		return reports, &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted before everything in flight was finished; the next run goes on from here")}
	}
	return reports, errors.Join(errs...)
}

func waitAll(runs []*pipeline.Run) {
	for _, run := range runs {
		<-run.Done()
	}
}
