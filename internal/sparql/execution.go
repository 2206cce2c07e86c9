package sparql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql/value"
)

// Limits are what a query may take. Zero fields are the defaults.
type Limits struct {
	Time   time.Duration // 30 s, from Run to the last result
	Memory int64         // 256 MiB, for all that is kept: hash tables, groups, what is sorted, what was visited

	// Pay, if it is set, is told of the steps that were taken, some hundreds at a time and the rest at the end. Its error
	// ends the query. The same query over the same dataset takes the same steps, but for what it asks of the time.
	Pay func(steps int) error
}

// The limits of a query that names none.
const (
	DefaultTime   = 30 * time.Second
	DefaultMemory = 256 << 20
)

// execution is the state of one run. What goes wrong is kept in err, and ends all loops.
type execution struct {
	ctx     context.Context
	dataset Dataset
	env     *value.Env
	err     error

	count  int // steps that were not looked at yet
	pay    func(steps int) error
	memory int64 // limit
	kept   int64 // bytes
	most   int64 // of them at once

	restricted    bool // the graphs are those that the query or its caller names
	defaults      []ID // whose merge is the default graph
	named         []ID
	graphs        []ID // all named graphs, once asked for
	isGraph       map[ID]bool
	graphsAreRead bool

	cursors []Cursor // all of them
	idle    [2 * unionShape][]*finder
	ids     map[webrace.Term]ID // terms that were computed or stand in the query
	local   []webrace.Term      // those that the dataset does not have, by id
	passing []webrace.Term      // values of SELECT that are not kept, by variable
	terms   map[ID]webrace.Term // a cache
	cached  int                 // bytes in it
}

// Marks of ids that are not of the dataset.
const (
	localID   ID = 1 << 63         // of a term that the dataset does not have
	passingID ID = localID | 1<<62 // of the value that a variable has now: it does not compare
)

const maxCached = 4 << 20

func (x *execution) fail(err error) bool {
	if x.err == nil && err != nil {
		x.err = err
	}
	return false
}

const (
	// stepsPerLook are taken between two looks at whether the query has ended.
	stepsPerLook = 256
	// bytesPerStep of a text, and instructionsPerStep of a regular expression, on a byte each, cost as much as a step.
	bytesPerStep        = 32
	instructionsPerStep = 8
)

// step counts a step, and reports whether to go on.
func (x *execution) step() bool {
	if x.count++; x.count >= stepsPerLook {
		return x.look()
	}
	return x.err == nil
}

// read counts the steps that a text costs: none, if it is short.
func (x *execution) read(t webrace.Term) {
	if len(t) >= bytesPerStep {
		x.spend(len(t) / bytesPerStep)
	}
}

// called counts the steps that a function took, besides those for its texts.
func (x *execution) called() {
	if n := x.env.Instructions; n > 0 {
		x.env.Instructions = 0
		x.spend(n / instructionsPerStep)
	}
}

func (x *execution) spend(steps int) {
	if x.count += steps; x.count >= stepsPerLook {
		x.look()
	}
}

// look pays for what was done, and reports whether to go on.
func (x *execution) look() bool {
	steps := x.count
	x.count = 0
	if x.pay != nil {
		x.fail(x.pay(steps))
	}
	if x.ctx.Err() != nil {
		x.fail(context.Cause(x.ctx))
	}
	return x.err == nil
}

// keep counts bytes that are kept, and reports whether they may be. Negative: they are given back.
func (x *execution) keep(bytes int) bool {
	x.kept += int64(bytes)
	if x.most = max(x.most, x.kept); x.kept > x.memory {
		return x.fail(&LimitError{fmt.Sprintf("what it has to keep would take more than %d MiB of memory", x.memory>>20)})
	}
	return x.err == nil
}

// id returns what stands for a term: zero for none.
func (x *execution) id(t webrace.Term) ID {
	if t == "" {
		return 0
	}
	if id, ok := x.ids[t]; ok {
		return id
	}
	id, err := x.dataset.Find(t)
	if err != nil {
		x.fail(err)
		return 0
	}
	if id == 0 {
		id = localID | ID(len(x.local))
		x.local = append(x.local, t)
	}
	x.keep(len(t) + 64)
	x.ids[t] = id
	return id
}

func (x *execution) term(id ID) webrace.Term {
	if id == 0 {
		return ""
	}
	if id&passingID == passingID {
		return x.passing[id&^passingID]
	}
	if id&localID != 0 {
		return x.local[id&^localID]
	}
	if t, ok := x.terms[id]; ok {
		return t
	}
	t, err := x.dataset.Term(id)
	if err != nil {
		x.fail(err)
		return ""
	}
	if x.cached += len(t) + 32; x.cached > maxCached {
		clear(x.terms)
		x.cached = len(t) + 32
	}
	x.terms[id] = t
	return t
}

func (x *execution) close() {
	var err error
	for _, c := range x.cursors {
		err = errors.Join(err, c.Close())
	}
	x.cursors = nil
	x.fail(err)
}

// GraphLister is a Dataset that knows the names of its graphs, also of empty ones. Of others, all quads are read where
// a query needs them.
type GraphLister interface {
	Graphs(ctx context.Context) ([]ID, error)
}

// isNamed reports whether a graph is one of those that GRAPH ?g goes through.
func (x *execution) isNamed(id ID) bool {
	if x.isGraph == nil {
		graphs := x.namedGraphs()
		x.keep(40 * len(graphs))
		x.isGraph = make(map[ID]bool, len(graphs))
		for _, g := range graphs {
			x.isGraph[g] = true
		}
	}
	return x.isGraph[id]
}

// namedGraphs returns the graphs that GRAPH ?g goes through.
func (x *execution) namedGraphs() []ID {
	switch {
	case x.restricted:
		return x.named
	case x.graphsAreRead:
		return x.graphs
	}
	x.graphsAreRead = true
	if lister, ok := x.dataset.(GraphLister); ok {
		var err error
		x.graphs, err = lister.Graphs(x.ctx)
		x.fail(err)
		x.keep(8 * len(x.graphs))
		return x.graphs
	}
	seen := map[ID]bool{}
	x.each(Pattern{}, []ID{0}, func(q Pattern) bool {
		if !seen[q.Graph] {
			seen[q.Graph] = true
			x.graphs = append(x.graphs, q.Graph)
			return x.keep(40)
		}
		return true
	})
	return x.graphs
}
