package admin

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// State is how a pipeline stands.
type State struct {
	Name    string                `json:"name"`
	State   string                `json:"state"`   // running, paused, draining or ended
	Seconds float64               `json:"seconds"` // since it was started
	Holding []string              `json:"holding"` // the stages that have items in front of them or in work
	Stages  map[string]StageState `json:"stages"`
	Flow    []string              `json:"flow"`   // their names, in the order of the flow
	Memory  pipeline.MemoryState  `json:"memory"` // of all pipelines of the process
	Reloads
}

// StageState counts what went through a stage, and what is in it.
type StageState struct {
	In          int64            `json:"in"`
	Out         int64            `json:"out"`
	Errors      int64            `json:"errors"`
	DeadLetters int64            `json:"dead_letters"` // of the errors, those kept as dead letters
	Retried     int64            `json:"retried"`
	Dropped     int64            `json:"dropped"`
	Waiting     int              `json:"waiting"`   // items in front of it
	Capacity    int              `json:"capacity"`  // items that fit there
	Busy        int              `json:"busy"`      // items in work
	Workers     int              `json:"workers"`   // items that can be
	Spent       float64          `json:"spent_s"`   // by its workers in its calls, since the start; an estimate where these are short
	Held        float64          `json:"held_s"`    // of that, waiting for the next stages
	Starved     float64          `json:"starved_s"` // waiting for memory
	Starving    int              `json:"starving"`  // calls that wait for memory
	P50         float64          `json:"p50_ms"`
	P99         float64          `json:"p99_ms"`
	Counters    map[string]int64 `json:"counters,omitempty"` // what the stage counts itself
}

// Detail is a pipeline's state, and what it consists of.
type Detail struct {
	State
	Title string `json:"title,omitempty"`
	Graph Graph  `json:"graph"`
}

// Graph is what a pipeline consists of, in the order of its flow.
type Graph struct {
	Stages []Stage `json:"stages"`
	Edges  []Edge  `json:"edges"`
}

// Stage is a stage of a graph.
type Stage struct {
	Name    string           `json:"name"`
	Type    string           `json:"type"`
	Summary string           `json:"summary,omitempty"`
	Source  bool             `json:"source"` // it takes no input
	Queue   bool             `json:"queue"`  // it stores its input
	Ports   []string         `json:"ports"`  // its outputs, "" for the default one
	Options []config.Setting `json:"options"`
}

// Edge leads from an output port to a stage.
type Edge struct {
	From string `json:"from"`
	Port string `json:"port,omitempty"` // "" is the default one
	To   string `json:"to"`
}

// The states of a pipeline.
const (
	running  = "running"
	paused   = "paused"
	draining = "draining"
	ended    = "ended"
)

var states = []string{running, paused, draining, ended}

func (r namedRun) state() string {
	switch {
	case isClosed(r.Done()):
		return ended
	case isClosed(r.Draining()):
		return draining
	case r.Paused():
		return paused
	}
	return running
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (h *Handler) servePipelines(w http.ResponseWriter, _ *http.Request) {
	states := []State{}
	for _, run := range h.pipelines() {
		states = append(states, stateOf(run))
	}
	serveJSON(w, states)
}

func (h *Handler) serveDetail(w http.ResponseWriter, _ *http.Request, run namedRun) {
	serveJSON(w, detailOf(run))
}

func serveJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) // a client that went away does not read it
}

func stateOf(run namedRun) State {
	report := run.Snapshot()
	s := State{
		Name: run.name, State: run.state(), Seconds: report.Duration.Seconds(),
		Holding: append([]string{}, run.Holding()...), Stages: make(map[string]StageState), Flow: report.Flow,
		Reloads: run.reloads(report.Reloads, report.FailedReloads), Memory: run.Memory().State(),
	}
	for stage, r := range report.Stages {
		s.Stages[stage] = StageState{
			In: r.In, Out: r.Out, Errors: r.Errors, DeadLetters: r.Buried, Retried: r.Retried, Dropped: r.Dropped,
			Waiting: r.Waiting, Capacity: r.Capacity, Busy: r.Busy, Workers: r.Workers,
			Spent: r.Spent.Seconds(), Held: r.Held.Seconds(),
			Starved: r.Starved.Seconds(), Starving: r.Starving,
			P50: milliseconds(r.P50), P99: milliseconds(r.P99), Counters: r.Counters,
		}
	}
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func detailOf(run namedRun) Detail {
	state := stateOf(run) // first: a client that sees more reloads than before may see another graph
	graph := run.Graph()
	return Detail{State: state, Title: graph.Title, Graph: graphOf(graph)}
}

func graphOf(graph *pipeline.Graph) Graph {
	g := Graph{Stages: []Stage{}, Edges: []Edge{}}
	for _, s := range graph.Stages {
		stage := Stage{
			Name: s.Name, Type: s.Spec.Type, Summary: s.Spec.Summary, Source: s.IsSource(), Queue: s.Spec.Queue,
			Ports: []string{}, Options: append([]config.Setting{}, config.Settings(s)...),
		}
		for _, port := range s.Ports() {
			stage.Ports = append(stage.Ports, port.Name)
		}
		g.Stages = append(g.Stages, stage)
	}
	for _, e := range graph.Edges {
		g.Edges = append(g.Edges, Edge{e.From, e.Port, e.To})
	}
	return g
}
