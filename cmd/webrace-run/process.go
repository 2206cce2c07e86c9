package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage/diskspace"
)

// process runs the same pipelines in one session or several. Of what a process has once, the sessions know nothing: the
// memory budget, signals, the socket, the admin page, reloads.
type process struct {
	sessions []*session
	out      *output
	room     *diskspace.Watch // of the disk that the data directories lie on
	admin    *admin.Handler

	socket   string                                 // where it answers
	commands func(context.Context, remote.Call) int // runs those of webrace-store that come there
	node     *storecmd.Node                         // of a cluster, that answers there too; nil: it is none

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
func (p *process) run(ctx context.Context, loaded *config.Config, names []string) ([]*pipeline.Report, error) {
	budget := budgetOf(loaded)
	budget.apply(budget.room(indexes(loaded, names)))
	p.memory = pipeline.NewMemory(budget.flow())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	runs, err := p.start(ctx, loaded, names)
	if err != nil {
		cancel()
		waitAll(runs)
		return nil, err
	}
	byName := p.byName()
	stopReloads, err := p.reloads.begin(ctx, loaded, byName)
	if err != nil {
		cancel()
		waitAll(runs)
		return nil, err
	}
	defer stopReloads()
	p.admin.OnReload(p.reloads.reload)
	p.admin.Show(byName)
	defer p.serveSockets()()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waitAll(runs)
	}()
	interrupted := p.watch(runs, signals, ended, cancel)
	p.out.end()
	return p.results(runs, interrupted)
}

// startedAtOnce is how many sessions start at the same time. They wait for the disk, above all.
const startedAtOnce = 8

// start starts the pipelines of all sessions, or returns those that it had started when one would not.
func (p *process) start(ctx context.Context, loaded *config.Config, names []string) (runs []*pipeline.Run, err error) {
	upstream := make(chan struct{})
	options := pipeline.RunOptions{
		Logger: p.out.logger, Upstream: upstream, Continuous: p.continuous, Tracer: p.tracer, Memory: p.memory, Around: p.around, Dry: p.dry,
	}
	if len(p.sessions) > 1 {
		options.Together = new(pipeline.Together)
	}
	errs := make([]error, len(p.sessions))
	var starting sync.WaitGroup
	room := make(chan struct{}, startedAtOnce)
	for i, s := range p.sessions {
		room <- struct{}{}
		starting.Go(func() {
			errs[i] = s.start(ctx, loaded, names, options, p.admin.Await)
			<-room
		})
	}
	starting.Wait()
	for _, s := range p.sessions {
		runs = append(runs, s.runs...)
	}
	if err := errors.Join(errs...); err != nil {
		return runs, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(runs, func(run *pipeline.Run) bool { return run.Graph().Name == name }) {
			p.out.note("pipeline %s does its work once for all, on another node of the cluster", name)
		}
	}
	var feeders sync.WaitGroup
	for _, run := range runs {
		if !follows(run.Graph()) {
			feeders.Go(func() { <-run.Done() })
		}
	}
	go func() {
		feeders.Wait()
		close(upstream)
	}()
	return runs, nil
}

// byName returns all pipelines that run, by the names that people know them by.
func (p *process) byName() map[string]*pipeline.Run {
	all := make(map[string]*pipeline.Run)
	for _, s := range p.sessions {
		for _, run := range s.runs {
			all[s.nameOf(run.Graph().Name)] = run
		}
	}
	return all
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

func (p *process) results(runs []*pipeline.Run, interrupted bool) ([]*pipeline.Report, error) {
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
