package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/pipeline/finding"
)

// checkCycles reports cycles that pass no queue, which would fill up and stop, and cycles that pass two,
// of which neither could tell when the other has nothing left for it.
func (l *linter) checkCycles() {
	for _, component := range l.components() {
		var queues []string
		decidable := true
		for _, name := range component {
			decidable = decidable && l.known(name)
			if l.known(name) && l.stages[name].Spec.Queue {
				queues = append(queues, name)
			}
		}
		if !decidable {
			continue
		}
		if len(queues) > 1 {
			within := setOf(component)
			there := l.path(queues[0], queues[1], within)
			back := l.path(queues[1], queues[0], within)
			l.reportCycle(append(there, back[1:]...), "cycle with two queues, of which neither could tell when it is finished")
			continue
		}
		if cycle := l.cycleWithout(queues, component); cycle != nil {
			l.reportCycle(cycle, "cycle without a queue, which would fill up and stop")
			continue
		}
		for _, queue := range queues {
			l.checkWaits(queue, component)
		}
	}
}

// checkWaits reports a queue in a cycle that waits when it is full: nothing would make room.
func (l *linter) checkWaits(queue string, component []string) {
	s := l.stages[queue]
	waiter, tells := s.Options.(interface{ Waits() (option string) })
	cycle := l.path(queue, queue, setOf(component))
	if !tells || cycle == nil || waiter.Waits() == "" {
		return
	}
	option := waiter.Waits()
	found := l.reportCycle(cycle, fmt.Sprintf("cycle through a queue that waits when it is full, and would stop then: choose another %s.%s", queue, option))
	l.at(found, s, option)
}

func (l *linter) reportCycle(cycle []string, what string) *finding.Finding {
	pos := l.stages[cycle[0]].Pos
	for _, e := range l.next[cycle[len(cycle)-2]] {
		if e.To == cycle[len(cycle)-1] {
			pos = e.ToPos // where the flow closes the cycle
		}
	}
	return l.add(pos, finding.CodeCycle, len(cycle[0]), "%s: %s", what, strings.Join(cycle, " > "))
}

// cycleWithout returns a shortest cycle among the stages that avoids all queues, as a path that ends
// where it begins.
func (l *linter) cycleWithout(queues, component []string) []string {
	within := setOf(component)
	for _, queue := range queues {
		delete(within, queue)
	}
	var shortest []string
	for _, name := range component {
		if cycle := l.path(name, name, within); cycle != nil && (shortest == nil || len(cycle) < len(shortest)) {
			shortest = cycle
		}
	}
	return shortest
}

// path returns a shortest path of at least one edge between two stages, through stages of within.
func (l *linter) path(from, to string, within map[string]bool) []string {
	came := make(map[string]string)
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, e := range l.next[queue[0]] {
			if _, seen := came[e.To]; seen || !within[e.To] {
				continue
			}
			came[e.To] = queue[0]
			if e.To != to {
				queue = append(queue, e.To)
				continue
			}
			path := []string{to}
			for at := came[to]; at != from; at = came[at] {
				path = append(path, at)
			}
			path = append(path, from)
			slices.Reverse(path)
			return path
		}
	}
	return nil
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// components returns the sets of stages that all lead to each other, in the order of the flow (Tarjan's
// strongly connected components). A stage in no cycle is a component of its own.
func (l *linter) components() [][]string {
	t := tarjan{l: l, index: make(map[string]int), low: make(map[string]int), onStack: make(map[string]bool)}
	for _, s := range l.g.Stages {
		if _, seen := t.index[s.Name]; !seen {
			t.visit(s.Name)
		}
	}
	return t.found
}

type tarjan struct {
	l          *linter
	index, low map[string]int
	stack      []string
	onStack    map[string]bool
	found      [][]string
}

func (t *tarjan) visit(name string) {
	t.index[name], t.low[name] = len(t.index), len(t.index)
	t.stack, t.onStack[name] = append(t.stack, name), true
	for _, e := range t.l.next[name] {
		if _, seen := t.index[e.To]; !seen {
			t.visit(e.To)
			t.low[name] = min(t.low[name], t.low[e.To])
		} else if t.onStack[e.To] {
			t.low[name] = min(t.low[name], t.index[e.To])
		}
	}
	if t.low[name] != t.index[name] {
		return
	}
	at := slices.Index(t.stack, name)
	component := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, member := range component {
		t.onStack[member] = false
	}
	t.found = append(t.found, component)
}
