package admin

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/pipeline/config"
)

// The page is made here and complete as it comes: tables, forms and pictures that need no script. Its script
// only brings the numbers up to date, and does what its forms do without leaving the page.

//go:embed page
var pageFiles embed.FS

// assetPath is where what the page needs besides is served.
const assetPath = "/page/"

func assets() http.Handler {
	files := http.FileServerFS(pageFiles)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stat, err := fs.Stat(pageFiles, r.URL.Path[1:]); err != nil || stat.IsDir() || isTemplate(stat.Name()) {
			http.NotFound(w, r)
			return
		}
		files.ServeHTTP(w, r)
	})
}

func isTemplate(name string) bool { return strings.HasSuffix(name, ".html") }

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"count": count, "refused": refused, "duration": shortDuration, "milliseconds": shortMilliseconds, "rate": rate, "share": share,
}).ParseFS(pageFiles, "page/*.html"))

// contentPolicy lets a page have nothing but what is served here, and speak to no other server.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// showPage answers with a page.
func showPage(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := templates.ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", contentPolicy)
	w.WriteHeader(status)
	page.WriteTo(w) // a client that went away does not read it
}

// pageData is what the page is made of.
type pageData struct {
	Waits     string // what the process waits for before its pipelines run
	Reloads   bool   // it can be told to read its configuration again
	Nodes     []Node // of the cluster that the process is a node of
	NoNodes   string // why they are not known
	Pipelines []pagePipeline
}

type pagePipeline struct {
	Detail
	Number  int // of those on the page
	Drawing drawing
	Stages  []pageStage // in the order of the flow
	Taps    bool        // its stages can be watched
}

// pageStage is a stage wherever the page shows it.
type pageStage struct {
	Stage
	StageState
	Box       box
	ID        string // of its row
	PerSecond float64
}

// Flow describes in a few words what went through the stage, or waits in it: what a queue stores is its counter
// "queued".
func (s pageStage) Flow() string {
	queued, counts := s.Counters["queued"]
	switch {
	case s.Source:
		return count(s.Out) + " out"
	case s.Queue && counts:
		return count(queued) + " queued · " + count(s.Out) + " out"
	}
	return count(s.In) + " in · " + count(s.Out) + " out"
}

// Chosen returns the options that the configuration chose, and Usual the others.
func (s pageStage) Chosen() []config.Setting { return s.options(false) }

// Usual is told of at [pageStage.Chosen].
func (s pageStage) Usual() []config.Setting { return s.options(true) }

func (s pageStage) options(usual bool) []config.Setting {
	return slices.DeleteFunc(slices.Clone(s.Options), func(o config.Setting) bool { return o.Default != usual })
}

func (h *Handler) servePage(w http.ResponseWriter, r *http.Request) {
	data := pageData{Waits: h.waitsFor(), Reloads: h.answers(http.MethodPost, "/reload")}
	data.Nodes, data.NoNodes = h.pageNodes(r.Context())
	for i, run := range h.pipelines() {
		data.Pipelines = append(data.Pipelines, h.pagePipeline(i, run))
	}
	showPage(w, http.StatusOK, "page.html", data)
}

func (h *Handler) pagePipeline(number int, run namedRun) pagePipeline {
	p := pagePipeline{Detail: detailOf(run), Number: number, Taps: h.answers(http.MethodGet, "/pipelines/x/tap")}
	p.Drawing = draw(p.Graph)
	for i, stage := range p.Graph.Stages {
		state := p.State.Stages[stage.Name]
		through := state.In
		if stage.Source || stage.Queue {
			through = state.Out
		}
		p.Stages = append(p.Stages, pageStage{
			Stage: stage, StageState: state, Box: p.Drawing.Boxes[i],
			ID:        "p" + strconv.Itoa(number) + "s" + strconv.Itoa(i),
			PerSecond: float64(through) / max(p.Seconds, 1),
		})
	}
	return p
}

// answers reports whether something is mounted at a path, besides what every handler has.
func (h *Handler) answers(method, path string) bool {
	request, err := http.NewRequest(method, path, nil)
	if err != nil {
		return false
	}
	_, pattern := h.mux.Handler(request)
	return pattern != ""
}
