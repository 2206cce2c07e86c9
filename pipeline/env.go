package pipeline

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace/internal/pointer"
)

// Env is what the runtime gives a stage when it is made: who it is, where it logs and counts, and what
// the program that runs it has opened for it.
type Env struct {
	Pipeline   string
	Stage      string
	Workers    int
	Logger     *slog.Logger    // carries pipeline and stage
	Continuous bool            // the run goes on until it is told to stop
	Dry        bool            // nothing is to be changed outside the stores: a position in a file of its own stays where it is
	Upstream   <-chan struct{} // closed when nothing in this process feeds followers any more

	resources *Resources
	counters  *counters
	run       *Run                   // nil outside a run
	alone     states                 // of a stage outside a run
	next      pointer.Atomic[reload] // that the stage is made for, as long as that is under way
	asked     peersAsked
	memory    struct {
		waiting atomic.Int32 // calls that wait for memory
		waited  atomic.Int64 // nanoseconds that they have
	}
	wanted pointer.Atomic[map[string][]Part] // of what leaves each port; nil before the stage is wired
}

// NewEnv returns an environment for a stage that is run outside a pipeline, as tests do.
func NewEnv(pipeline, stage string, resources *Resources) *Env {
	upstream := make(chan struct{})
	close(upstream)
	return &Env{
		Pipeline: pipeline, Stage: stage, Workers: 1,
		Logger: slog.New(slog.DiscardHandler), Upstream: upstream,
		resources: resources, counters: newCounters(),
	}
}

// Counter returns the stage's counter of that name, which the run's report shows: how many requests were
// answered by 304, how many links were refused, and so on.
func (e *Env) Counter(name string) *atomic.Int64 { return e.counters.get(name) }

// Level is Counter for a number that shows a state, such as how many URLs are queued, and may fall as well.
func (e *Env) Level(name string) *atomic.Int64 { return e.counters.level(name) }

// Counters returns the values of the stage's counters and levels by name.
func (e *Env) Counters() map[string]int64 { return e.counters.values() }

// Drain ends the run gently for a reason, which its report tells: see [Run.Drain]. It may be called from [Opener.Open]
// on, and waits for nothing.
func (e *Env) Drain(reason string) {
	if e.run != nil {
		e.run.drainFor(reason)
	}
}

// Draining is closed when the run drains: sources hand out nothing more, and a keeper that waits for time to pass
// may give back what it holds instead, by letting go of it with [context.Canceled]. Outside of a run it is
// nil.
func (e *Env) Draining() <-chan struct{} {
	if e.run == nil {
		return nil
	}
	return e.run.Draining()
}

// Reloading is closed when a reload waits for what is in flight: a [Queue] whose Put waits for room goes on then,
// because nothing is taken meanwhile. It is asked for anew for each wait. Outside of a run it is nil.
func (e *Env) Reloading() <-chan struct{} {
	if e.run == nil {
		return nil
	}
	return e.run.valves.reloading()
}

// Resources holds what a program opens once and lends to stages, by type: the data directory, a clock.
// The zero value holds nothing.
type Resources struct {
	mu        sync.RWMutex
	byType    map[reflect.Type]any
	listeners map[string]*sharedListener
	taps      tapBudget
}

// Provide lends v to the stages of a run, which find it by its type. A second value of the same type
// replaces the first.
func Provide[T any](r *Resources, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byType == nil {
		r.byType = make(map[reflect.Type]any)
	}
	r.byType[reflect.TypeFor[T]()] = v
}

// Resource returns what was provided for type T, or an error that tells what is missing.
func Resource[T any](e *Env) (T, error) {
	var none T
	if e.resources != nil {
		e.resources.mu.RLock()
		defer e.resources.mu.RUnlock()
		if v, ok := e.resources.byType[reflect.TypeFor[T]()]; ok {
			return v.(T), nil
		}
	}
	return none, fmt.Errorf("stage %s needs a %s, which this program does not provide", e.Stage, reflect.TypeFor[T]())
}

// Peer returns another stage of the same run as a T, an interface that it implements: by its name, or, if name is
// empty, the only stage that is one. So a stage can use what another keeps, such as its connections. It may be
// called from [Opener.Open] on, when all stages have been made, and the stage that is returned is closed after the
// one that asks if it stands before it in the flow. When a reload replaces it, the one that asked is replaced as
// well.
func Peer[T any](e *Env, name string) (T, error) {
	var found T
	var from string
	var of *node
	for _, n := range e.peers() {
		if n == nil {
			continue // not made yet
		}
		peer, ok := n.impl.(T)
		switch {
		case !ok || n.env == e || name != "" && n.name != name:
		case from != "":
			return found, fmt.Errorf("stage %s: both %s and %s are a %s: it has to be said which is meant", e.Stage, from, n.name, reflect.TypeFor[T]())
		default:
			found, from, of = peer, n.name, n
		}
	}
	switch {
	case from != "":
		e.remember(of)
		return found, nil
	case name != "":
		return found, fmt.Errorf("stage %s: the pipeline has no stage %s that is a %s", e.Stage, name, reflect.TypeFor[T]())
	}
	return found, fmt.Errorf("stage %s: the pipeline has no stage that is a %s", e.Stage, reflect.TypeFor[T]())
}

// peers returns the nodes of the run, or of what it is about to become; none outside one.
func (e *Env) peers() []*node {
	if next := pointer.Load(&e.next); next != nil {
		return next.nodes
	}
	if e.run == nil {
		return nil
	}
	e.run.layout.RLock()
	defer e.run.layout.RUnlock()
	return e.run.nodes
}

// peersAsked are the nodes whose stages a stage has got by [Peer].
type peersAsked struct {
	mu    sync.Mutex
	nodes []*node
}

func (e *Env) remember(peer *node) {
	e.asked.mu.Lock()
	defer e.asked.mu.Unlock()
	if !slices.Contains(e.asked.nodes, peer) {
		e.asked.nodes = append(e.asked.nodes, peer)
	}
}

// holds reports whether a peer that the stage has got is one of those.
func (e *Env) holds(those func(*node) bool) bool {
	e.asked.mu.Lock()
	defer e.asked.mu.Unlock()
	return slices.ContainsFunc(e.asked.nodes, those)
}
