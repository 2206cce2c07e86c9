// Package admin is the face of a process that runs pipelines: what they are doing, and a way to hold them or
// end them gently, over HTTP. It knows pipelines and nothing of what flows in them; the program mounts what
// it has to show besides.
//
//	GET  /                        one page for people: the graphs, with what goes through them
//	GET  /healthz                 200 as long as the process answers
//	GET  /readyz                  200 once its pipelines run; 503 before, with what it waits for
//	GET  /metrics                 everything that is counted, for Prometheus
//	GET  /pipelines               the state of every pipeline as JSON, see [State]
//	GET  /pipelines/NAME/tap      items as they pass a stage, see [TapQuery]
//	GET  /pipelines/NAME          that of one, with its graph and its options, see [Detail]
//	POST /pipelines/NAME/pause    sources and queues hand out nothing more, until resume; 202, or 404
//	POST /pipelines/NAME/resume   they go on
//	POST /pipelines/NAME/drain    what is in flight is finished, and the pipeline ends
//	GET  /cluster                 the nodes of the cluster that it is one of, see [Handler.OnCluster]
//	GET  /debug/pprof/            profiles of the process
//
// A [Handler] does not ask who is there: a client that can connect may do all of it. So a program serves it at a
// socket that its own user alone can connect to ([Listen]), or behind an [Endpoint]; [Serve] bounds how long a
// connection may take for what it sends.
package admin

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/pprof"
	"slices"
	"sync"

	"github.com/webrace/webrace/pipeline"
)

// Handler answers for the pipelines it is told of. Its methods may be called concurrently.
type Handler struct {
	mux routes

	mu    sync.RWMutex
	runs  map[string]*pipeline.Run
	waits string // what it waits for; "" once it is ready

	cluster *cluster // of which the process is a node; nil: of none

	refused  int64                    // reloads that came to no pipeline
	failures map[string]*failedReload // the last one of each pipeline that failed
}

// New returns a handler that knows no pipeline yet.
func New() *Handler {
	h := &Handler{
		runs: make(map[string]*pipeline.Run), failures: make(map[string]*failedReload),
		waits: "the pipelines to be started",
	}
	h.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	h.mux.HandleFunc("GET /readyz", h.serveReady)
	h.mux.Handle("GET /metrics", h.newMetrics())
	h.mux.HandleFunc("GET /pipelines", h.servePipelines)
	h.mux.HandleFunc("GET /pipelines/{name}/tap", h.ofPipeline(h.tap))
	h.mux.HandleFunc("GET /pipelines/{name}", h.ofPipeline(h.serveDetail))
	for name, action := range actions {
		h.mux.HandleFunc("POST /pipelines/{name}/"+name, h.ofPipeline(action.serve))
	}
	h.mux.HandleFunc("GET /{$}", h.servePage)
	h.mux.Handle("GET "+assetPath, assets())
	h.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	h.mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	h.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	h.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	h.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return h
}

// routes is a mux that can tell its patterns, so that a test asks for each.
type routes struct {
	http.ServeMux
	patterns []string
}

// Handle registers the handler of a pattern.
func (m *routes) Handle(pattern string, handler http.Handler) {
	m.patterns = append(m.patterns, pattern)
	m.ServeMux.Handle(pattern, handler)
}

// HandleFunc is Handle for a function.
func (m *routes) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, http.HandlerFunc(handler))
}

// Handle mounts what the program has to show besides, under a pattern of [http.ServeMux].
func (h *Handler) Handle(pattern string, handler http.Handler) { h.mux.Handle(pattern, handler) }

// Await sets what has to come before the pipelines run, as "the stages of webrace to open".
func (h *Handler) Await(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waits = what
}

// Show tells the handler of the pipelines of this process, by their names. From then on it is ready.
func (h *Handler) Show(runs map[string]*pipeline.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs, h.waits = maps.Clone(runs), ""
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

func (h *Handler) serveReady(w http.ResponseWriter, _ *http.Request) {
	if waits := h.waitsFor(); waits != "" {
		http.Error(w, "waits for "+waits, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (h *Handler) waitsFor() string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.waits
}

// namedRun is a pipeline that runs here.
type namedRun struct {
	name string
	*pipeline.Run
	refused int64
	failure *failedReload
}

// named wants the lock.
func (h *Handler) named(name string, run *pipeline.Run) namedRun {
	return namedRun{name, run, h.refused, h.failures[name]}
}

// pipelines returns all that run here, by their names.
func (h *Handler) pipelines() []namedRun {
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := make([]namedRun, 0, len(h.runs))
	for name, run := range h.runs {
		all = append(all, h.named(name, run))
	}
	slices.SortFunc(all, func(a, b namedRun) int { return cmp.Compare(a.name, b.name) })
	return all
}

// ofPipeline finds the pipeline that a path names.
func (h *Handler) ofPipeline(serve func(http.ResponseWriter, *http.Request, namedRun)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		h.mu.RLock()
		run := h.named(name, h.runs[name])
		h.mu.RUnlock()
		if run.Run == nil {
			http.Error(w, fmt.Sprintf("no pipeline %q runs here", name), http.StatusNotFound)
			return
		}
		serve(w, r, run)
	}
}
