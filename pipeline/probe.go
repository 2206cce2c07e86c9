package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/pipeline/finding"
)

// Probe finds out whether the stages of a graph would run here and now, without anything flowing: it makes
// every stage, asks those that are a [Checker], opens the others that are an [Opener], and closes them all.
// A Checker is not opened, because it reports what opening would find without what opening would change.
//
// Whatever keeps a stage from running is a finding of the code [finding.CodeEnvironment], with the place of the
// option at fault if the stage names one ([OptionError]) and of the stage otherwise; all of them are found at
// once. What takes longer than limit is one too, and is left behind: it is for programs that end soon.
//
// What would keep none from running, but is worth a word, is noted by stages as [Untried].
func (g *Graph) Probe(ctx context.Context, o RunOptions, limit time.Duration) (found finding.List, notes []ProbeNote) {
	r := g.newRun(ctx, o)
	defer r.cancel(nil)
	p := &prober{run: r, limit: limit, stuck: make(map[*Stage]bool)}
	for _, stage := range g.Stages {
		var n *node
		if p.do(stage, "make", func(context.Context) (err error) {
			n, err = newNode(r, stage)
			return err
		}) {
			r.nodes, r.byName[stage.Name] = append(r.nodes, n), n
		}
	}
	for _, n := range r.nodes {
		switch impl := n.impl.(type) {
		case Checker:
			p.do(n.stage, "check", impl.Check)
		case Opener:
			p.do(n.stage, "open", impl.Open)
		}
	}
	for i := len(r.nodes) - 1; i >= 0; i-- {
		n := r.nodes[i]
		if closer, ok := n.impl.(Closer); ok && !p.stuck[n.stage] {
			p.do(n.stage, "close", func(context.Context) error { return closer.Close() })
		}
	}
	return p.found, p.notes
}

// ProbeNote is what a stage says of itself that a probe has found nothing wrong with.
type ProbeNote struct{ Stage, Says string }

// prober calls stages, and writes down what goes wrong.
type prober struct {
	run   *Run
	limit time.Duration
	found finding.List
	notes []ProbeNote
	stuck map[*Stage]bool // those that did not answer in time, and may be at work still
}

// do reports whether f did what it is for, in time.
func (p *prober) do(stage *Stage, doing string, f func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(p.run.ctx, p.limit)
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		var err error
		defer func() { answer <- err }()
		defer recovered(stage.Name, &err)
		err = f(ctx)
	}()
	select {
	case err := <-answer:
		p.report(stage, err)
		return err == nil
	case <-ctx.Done():
	}
	select {
	case err := <-answer: // a stage that obeys its context tells what it waited for
		p.report(stage, err)
		return err == nil
	case <-time.After(probeGrace):
	}
	p.stuck[stage] = true
	p.report(stage, fmt.Errorf("%s it: no answer within %v", doing, p.limit))
	return false
}

const probeGrace = time.Second

// report adds a finding for each of the errors that are joined.
func (p *prober) report(stage *Stage, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			p.report(stage, one)
		}
		return
	}
	var untried untriedError
	switch {
	case errors.As(err, &untried):
		p.notes = append(p.notes, ProbeNote{stage.Name, untried.Error()})
	case err != nil && !errors.Is(err, ErrUntried):
		p.found = append(p.found, stage.finding(finding.CodeEnvironment, p.run.graph.Name, err))
	}
}

// finding reports something about the stage, at the option that the error names.
func (s *Stage) finding(code finding.Code, pipeline string, err error) finding.Finding {
	f := finding.Finding{
		Pos: s.Pos, Code: code, Path: "pipeline." + pipeline + ".stage." + s.Name,
		Message: fmt.Sprintf("pipeline %q, stage %q: %v", pipeline, s.Name, err), Width: len(s.Name),
	}
	option := &OptionError{}
	if errors.As(err, &option) {
		f.Path += "." + option.Option
	}
	s.locate(&f, option.Option, nil)
	return f
}
