// Package admin is the face of a process that runs pipelines: what they are doing, and a way to end them
// gently, over HTTP. It knows pipelines and nothing of what flows in them; the program mounts what it has
// to show besides.
//
//	GET  /healthz                 200 as long as the process answers
//	GET  /readyz                  200 once its pipelines run; 503 before
//	GET  /pipelines               the state of every pipeline as JSON, see [State]
//	GET  /pipelines/NAME/tap      items as they pass a stage, see [TapQuery]
//	POST /pipelines/NAME/drain    lets a pipeline finish what is in flight and end; 202, or 404
//
// Nothing here asks who is there: whoever can connect may do all of it. So a server listens on a socket
// that its own user alone can connect to ([Listen]).
package admin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// Handler answers for the pipelines it is told of. Its methods may be called concurrently.
type Handler struct {
	mux *http.ServeMux

	mu    sync.RWMutex
	runs  map[string]*pipeline.Run
	ready bool
}

// New returns a handler that knows no pipeline yet.
func New() *Handler {
	h := &Handler{mux: http.NewServeMux(), runs: make(map[string]*pipeline.Run)}
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	h.mux.HandleFunc("GET /readyz", h.serveReady)
	h.mux.HandleFunc("GET /pipelines", h.servePipelines)
	h.mux.HandleFunc("POST /pipelines/{name}/drain", h.drain)
	h.mux.HandleFunc("GET /pipelines/{name}/tap", h.tap)
	return h
}

// Handle mounts what the program has to show besides, under a pattern of [http.ServeMux].
func (h *Handler) Handle(pattern string, handler http.Handler) { h.mux.Handle(pattern, handler) }

// Show tells the handler of the pipelines of this process, by their names. From then on it is ready.
func (h *Handler) Show(runs map[string]*pipeline.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs, h.ready = runs, true
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

func (h *Handler) serveReady(w http.ResponseWriter, _ *http.Request) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.ready {
		http.Error(w, "the pipelines are being started", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// State is how a pipeline stands.
type State struct {
	Name    string                `json:"name"`
	State   string                `json:"state"`   // running, paused, draining or ended
	Seconds float64               `json:"seconds"` // since it was started
	Holding []string              `json:"holding"` // the stages that have items in front of them or in work
	Stages  map[string]StageState `json:"stages"`
	Flow    []string              `json:"flow"` // their names, in the order of the flow
}

// StageState counts what went through a stage, and what is in it.
type StageState struct {
	In       int64            `json:"in"`
	Out      int64            `json:"out"`
	Errors   int64            `json:"errors"`
	Retried  int64            `json:"retried"`
	Dropped  int64            `json:"dropped"`
	Waiting  int              `json:"waiting"`  // items in front of it
	Capacity int              `json:"capacity"` // items that fit there
	Busy     int              `json:"busy"`     // items in work
	Workers  int              `json:"workers"`  // items that can be
	Spent    float64          `json:"spent_s"`  // by its workers in its calls, since the start; an estimate where these are short
	Held     float64          `json:"held_s"`   // of that, waiting for the next stages
	P50      float64          `json:"p50_ms"`
	P99      float64          `json:"p99_ms"`
	Counters map[string]int64 `json:"counters,omitempty"` // what the stage counts itself
}

func (h *Handler) servePipelines(w http.ResponseWriter, _ *http.Request) {
	h.mu.RLock()
	states := make([]State, 0, len(h.runs))
	for name, run := range h.runs {
		states = append(states, stateOf(name, run))
	}
	h.mu.RUnlock()
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.Name, b.Name) })
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(states) // who went away does not read it
}

func stateOf(name string, run *pipeline.Run) State {
	report := run.Snapshot()
	s := State{Name: name, State: "running", Seconds: report.Duration.Seconds(), Holding: run.Holding(), Stages: make(map[string]StageState), Flow: report.Flow}
	switch {
	case isClosed(run.Done()):
		s.State = "ended"
	case isClosed(run.Draining()):
		s.State = "draining"
	case run.Paused():
		s.State = "paused"
	}
	for stage, r := range report.Stages {
		s.Stages[stage] = StageState{
			In: r.In, Out: r.Out, Errors: r.Errors, Retried: r.Retried, Dropped: r.Dropped,
			Waiting: r.Waiting, Capacity: r.Capacity, Busy: r.Busy, Workers: r.Workers, Spent: r.Spent.Seconds(), Held: r.Held.Seconds(),
			P50: milliseconds(r.P50), P99: milliseconds(r.P99), Counters: r.Counters,
		}
	}
	return s
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (h *Handler) drain(w http.ResponseWriter, r *http.Request) {
	h.mu.RLock()
	run := h.runs[r.PathValue("name")]
	h.mu.RUnlock()
	if run == nil {
		http.Error(w, fmt.Sprintf("no pipeline %q runs here", r.PathValue("name")), http.StatusNotFound)
		return
	}
	run.Drain()
	w.WriteHeader(http.StatusAccepted)
}
