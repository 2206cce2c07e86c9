package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/pointer"
)

// Change is what a reload has done, by the names of stages in the order of the flow.
type Change struct {
	Added        []string // stages that there were not
	Removed      []string // stages that there are no more
	Replaced     []string // stages that were made anew, because their type, their options or their files have changed
	Reconfigured []string // stages that run on with other options
	Rewired      []string // stages that are as they were, but lead elsewhere
}

// IsEmpty reports whether nothing has changed.
func (c Change) IsEmpty() bool { return c.String() == "nothing" }

// String describes it in a line: "added tidy; replaced fetch, render".
func (c Change) String() string {
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"added", c.Added}, {"removed", c.Removed}, {"replaced", c.Replaced}, {"reconfigured", c.Reconfigured}, {"rewired", c.Rewired}} {
		if len(p.names) > 0 {
			parts = append(parts, p.what+" "+strings.Join(p.names, ", "))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

// Reload makes the run go on with another graph of the same pipeline, which has been checked. Nothing that
// is in flight is lost, nor dealt with twice.
//
// A stage of the same name, type and options runs on as it is: with what it holds open, what it has counted
// and where it stands; a source that is exhausted stays so. Options that are the runtime's (buffer, on_error,
// batch) are no reason to make a stage anew, nor is another number of workers for a queue. A stage whose own
// options have changed is reconfigured if it is a [Reconfigurer]. All others that differ, and those whose files
// hold something else by now (see [OutdatedReporter]), are replaced, and with them those that hold one of them as
// their [Peer]. A stage made by [Graph.AddStage] is known by its name, its Spec and its Options alone.
//
// New stages are made and opened first. Then sources and queues are held back until nothing is in flight,
// or ctx ends; then stages are reconfigured, and the new ones take the places of the old, which are closed.
// If anything goes wrong up to there, the run goes on as it was, and the error tells what it was; what goes
// wrong when old stages are closed is no reason to go back, and is part of the error of the run.
//
// A queue that has been told that nothing more will come (see [Queue]) cannot be fed again, and a stage
// that is [Unreloadable] cannot be taken out: such a graph is refused.
func (r *Run) Reload(ctx context.Context, g *Graph) (Change, error) {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	change, err := r.reload(ctx, g)
	if err != nil {
		r.failedReloads.Add(1)
		return Change{}, fmt.Errorf("reload pipeline %s: %w", r.graph.Name, err)
	}
	r.reloads.Add(1)
	return change, nil
}

func (r *Run) reload(ctx context.Context, g *Graph) (Change, error) {
	if r.over || r.drainCtx.Err() != nil {
		return Change{}, ErrEnded
	}
	l, err := r.plan(g)
	if err != nil || l.change.IsEmpty() {
		return Change{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	defer r.hold(open)
	err = l.prepare(ctx)
	if err == nil {
		err = l.quiesce(ctx)
	}
	if err == nil {
		err = l.possible()
	}
	if err == nil {
		err = l.reconfigure(ctx)
	}
	if err != nil {
		l.giveBack()
		return Change{}, errors.Join(err, closeAll(l.made))
	}
	l.commit()
	return l.change, nil
}

// prepare makes and opens the new stages, which know each other and those that are kept as their peers.
func (l *reload) prepare(ctx context.Context) error {
	// What a stage opens may live as long as the run, and not only as long as the reload.
	opening, cancel := context.WithCancel(l.run.ctx)
	defer context.AfterFunc(ctx, cancel)()
	for i, n := range l.nodes {
		if n != nil {
			continue
		}
		made, err := l.makeNode(l.graph.Stages[i])
		if made.impl != nil {
			l.nodes[i] = made
			l.made = append(l.made, made)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range l.made {
		if err := n.open(opening); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (l *reload) makeNode(stage *Stage) (*node, error) {
	n := prepareNode(l.run, stage)
	pointer.Store(&n.env.next, l)
	return n, n.make()
}

// quiesce holds back whatever hands something out, and returns when nothing is in flight: then nothing is,
// until the valve is opened.
func (l *reload) quiesce(ctx context.Context) error {
	r := l.run
	for {
		r.hold(openToOperators)
		err := l.settle(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("waiting for what is in flight: %s: %w", l.holding(), err)
		}
		r.hold(shut)
		if l.isSettled() {
			return nil
		}
	}
}

// holding returns what keeps items in flight.
func (l *reload) holding() string {
	var names []string
	for _, n := range l.run.nodes {
		if _, source := n.impl.(Source); !source && n.holding() {
			names = append(names, n.name)
		}
	}
	if len(names) == 0 {
		return "an effect that a stage waits for is not yet durable"
	}
	return "items are in " + strings.Join(names, ", ")
}

// reconfigure gives stages their new options. If one refuses, those before it get their old ones back.
func (l *reload) reconfigure(ctx context.Context) error {
	for i, n := range l.turned {
		err := n.reconfigure(ctx, l.stages[n].Options)
		if err == nil {
			continue
		}
		err = fmt.Errorf("reconfigure stage %s: %w", n.name, err)
		for _, done := range slices.Backward(l.turned[:i]) {
			if back := done.reconfigure(l.run.ctx, done.stage.Options); back != nil {
				back = fmt.Errorf("give stage %s its former options back: %w", done.name, back)
				l.run.fail(back) // it is neither what it was nor what it should be
				err = errors.Join(err, back)
			}
		}
		return err
	}
	return nil
}

func (n *node) reconfigure(ctx context.Context, options any) (err error) {
	defer recovered(n.name, &err)
	return n.impl.(Reconfigurer).Reconfigure(ctx, options)
}

// commit puts the new stages in the places of the old. It cannot fail.
func (l *reload) commit() {
	r := l.run
	r.endGeneration()
	l.stopSources()
	parked := l.takeParked()
	for _, n := range l.made {
		if old := r.byName[n.name]; old != nil && old.stage.Spec.Type == n.stage.Spec.Type {
			n.continueCounting(old)
		}
		pointer.Store(&n.env.next, nil)
	}
	if err := closeAll(l.gone); err != nil {
		r.logger.Error("a stage that was taken out did not end well", "error", err)
		r.late = append(r.late, err)
	}
	r.wiring.Lock()
	defer r.wiring.Unlock()
	r.layout.Lock()
	for n, stage := range l.stages {
		n.stage = stage
	}
	r.graph, r.nodes, r.byName = l.graph, l.nodes, byName(l.nodes)
	r.wire()
	r.layout.Unlock()
	for _, n := range l.gone {
		n.taps.end(ErrTapReplaced)
	}
	l.handOver(parked)
	r.startGeneration()
}

// patience is how long a source may take to stop before that is logged.
const patience = 10 * time.Second

// stopSources waits for the sources that are taken out: those that have something to emit are told that they
// cannot.
func (l *reload) stopSources() {
	for _, n := range l.gone {
		if n.running == nil {
			continue
		}
		n.running.stop()
		late := time.AfterFunc(patience, func() {
			l.run.logger.Warn("a reload waits for a source to stop, whose context has ended", "stage", n.name)
		})
		<-n.running.ended
		late.Stop()
	}
}

// closeAll closes stages, those at the end of the flow first.
func closeAll(nodes []*node) error {
	var errs []error
	for _, n := range slices.Backward(nodes) {
		errs = append(errs, n.close())
	}
	return errors.Join(errs...)
}

// continueCounting makes the figures of a stage those of its predecessor, so that none of them falls.
func (n *node) continueCounting(before *node) {
	n.stats.add(&before.stats)
	n.env.counters.add(before.env.counters)
}
