package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/pipeline/finding"
)

// Answering is when a source answers those who send it items.
type Answering struct {
	Within Duration // how long an answer waits for the items to be dealt with; 0: it does not, so that a crash loses them
	Option string   // that sets it
}

// Answerer is implemented by option structs (by value) of a [Source] whose senders are told what became of their items;
// [Graph.Warnings] compares when that is with what comes behind it.
type Answerer interface{ Answers() Answering }

// Warnings finds what works, and may yet not be what is meant: sources that answer before a queue has their items, and
// those that give up before the stages behind them let go of theirs. It is for a graph in which [Graph.Check] finds
// nothing wrong, and tells nothing about others.
func (g *Graph) Warnings() finding.List {
	if slices.ContainsFunc(g.Stages, func(s *Stage) bool { return s.Make == nil }) {
		return nil // it is not known what comes behind a source
	}
	l := newLinter(g)
	for _, s := range g.Stages {
		answerer, tells := s.Options.(Answerer)
		switch {
		case !tells || !s.IsSource():
		case answerer.Answers().Within == 0:
			l.checkKept(s, answerer.Answers())
		default:
			l.checkInTime(s, answerer.Answers())
		}
	}
	for i := range l.findings {
		l.findings[i].Warning = true
	}
	return l.findings.Sorted(func(string) int { return 0 })
}

// checkKept reports a source that answers before its items are done, where they come to the end of the flow through no
// queue.
func (l *linter) checkKept(source *Stage, a Answering) {
	var ends []string
	for _, e := range l.behind(source, func(s *Stage) bool { return !s.Spec.Queue }) {
		to := l.stages[e.To]
		if to.Spec.Queue || to.Spec.Type == "drop" || slices.ContainsFunc(l.g.Edges, func(e Edge) bool { return e.From == to.Name && e.Port != errorsPort }) {
			continue
		}
		ends = append(ends, fmt.Sprintf("%q", to.Name))
	}
	if len(ends) == 0 {
		return
	}
	found := l.add(source.Pos, finding.CodeLossy, len(source.Name),
		"stage %q answers before its items are done (option %s), and no queue stands between it and %s: a crash loses what is in flight: put a queue behind it, or let the answer wait",
		source.Name, a.Option, strings.Join(ends, ", "))
	l.at(found, source, a.Option)
}

// checkInTime reports stages that keep the items of a source for longer than its answer waits for them.
func (l *linter) checkInTime(source *Stage, a Answering) {
	descend := func(s *Stage) bool {
		_, tells := s.Options.(Holder)
		letsGo := tells && holding(s).For == 0 // what it emits later is no part of the item any more
		return !s.Spec.Queue && !letsGo
	}
	for _, e := range l.behind(source, descend) {
		s := l.stages[e.To]
		h := holding(s)
		if s.Spec.Queue || h.Items == 1 || h.For < a.Within {
			continue
		}
		long := "for " + h.For.String()
		if h.For == UntilMore {
			long = "until more comes"
		}
		l.add(e.ToPos, finding.CodeTimeout, len(s.Name),
			"stage %q keeps items %s, and %q answers after %v (option %s): its sender sends them again, and each repeat is counted: put a queue between them, or let the answer wait for longer",
			s.Name, long, source.Name, a.Within, a.Option)
	}
}

// behind returns the first edge to each stage that the items of a source come to, as long as they descend from the one
// before it, which descend reports. What leaves at a port errors is not followed: it has failed.
func (l *linter) behind(source *Stage, descend func(*Stage) bool) (edges []Edge) {
	seen := map[string]bool{source.Name: true}
	for next := []string{source.Name}; len(next) > 0; next = next[1:] {
		for _, e := range l.g.Edges {
			if e.From != next[0] || e.Port == errorsPort || seen[e.To] {
				continue
			}
			seen[e.To] = true
			edges = append(edges, e)
			if descend(l.stages[e.To]) {
				next = append(next, e.To)
			}
		}
	}
	return edges
}
