package render

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// local returns options for tests, and skips the test if there is no browser.
func local(t *testing.T) Options {
	t.Helper()
	if _, err := findBrowser(""); err != nil {
		t.Skip("no Chromium is installed")
	}
	o := defaults
	o.EmptyOnly, o.Sandbox = false, os.Geteuid() != 0
	o.Idle = pipeline.Duration(300 * time.Millisecond)
	return o
}

// site is a web server that notes what it is asked for.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]http.HandlerFunc
	asked []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{pages: make(map[string]http.HandlerFunc)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		handler := s.pages[r.URL.Path]
		s.mu.Unlock()
		if handler == nil {
			handler = http.NotFound
		}
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) handle(path string, h http.HandlerFunc) *site { s.pages[path] = h; return s }

func (s *site) serve(path, mediaType, body string) *site {
	return s.handle(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		fmt.Fprint(w, body)
	})
}

func (s *site) page(path, body string) *site {
	return s.serve(path, "text/html; charset=utf-8", "<!DOCTYPE html><title>T</title>"+body)
}

func (s *site) script(path, body string) *site { return s.serve(path, "text/javascript", body) }

// times returns how often something was asked for.
func (s *site) times(what string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, asked := range s.asked {
		if asked == what {
			n++
		}
	}
	return n
}

// results is what became of a run.
type results struct {
	documents map[string]webrace.Document // by path
	bodies    map[string]string
	links     []webrace.Links
	failures  []string // of pages with steps
	counters  map[string]int64
	log       string
}

// fetching returns options of fetch that let it ask for what is on this machine.
func fetching() fetch.Options {
	return fetch.Options{
		UserAgent: "test/1 (+https://example.org/contact)", Robots: true, AllowNetworks: []string{"loopback"},
		PolitenessOptions: fetch.PolitenessOptions{
			PerHost: 1, Backoff: pipeline.Duration(time.Second), MaxBackoff: pipeline.Duration(time.Second),
			CircuitWait: pipeline.Duration(time.Second), MaxCircuitWait: pipeline.Duration(time.Second),
		},
		ConnectTimeout: pipeline.Duration(5 * time.Second), HeaderTimeout: pipeline.Duration(10 * time.Second),
		Timeout: pipeline.Duration(20 * time.Second), MaxHeader: 1 << 16, MaxBody: 8e6, IdleConnections: 16,
	}
}

// run sends pages of a site through fetch and render.
func run(t *testing.T, o Options, s *site, paths ...string) *results {
	t.Helper()
	got, err := runWith(t, fetching(), o, s, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func runWith(t *testing.T, fetchOptions fetch.Options, o Options, s *site, paths ...string) (*results, error) {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	got := &results{documents: make(map[string]webrace.Document), bodies: make(map[string]string)}
	var log testutil.Buffer
	var env *pipeline.Env
	g := pipeline.NewGraph("test")
	request, document, links := pipeline.KindOf[webrace.Request](), pipeline.KindOf[*webrace.Document](), pipeline.KindOf[*webrace.Links]()
	g.AddStage("source", pipeline.Spec{Type: "source", Summary: "s", Out: []pipeline.Port{{Kind: request}}},
		func(*pipeline.Env) (any, error) { return source{s.URL, paths}, nil })
	g.Add("fetch", fetchOptions)
	g.Add("render", o)
	stage := g.Stages[len(g.Stages)-1]
	stage.Common.Workers = 1 // a browser takes longer to start than to load a page
	mk := stage.Make
	stage.Make = func(e *pipeline.Env) (any, error) {
		env = e
		env.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		return mk(e)
	}
	for _, name := range []string{"documents", "links"} {
		g.AddStage(name, pipeline.Spec{Type: name, Summary: "s", In: pipeline.Kinds(document, links), Needs: pipeline.NoParts},
			func(*pipeline.Env) (any, error) { return &taker{site: s.URL, into: got}, nil })
	}
	g.Connect("source", "", "fetch")
	g.Connect("fetch", "", "render")
	g.Connect("render", "", "documents")
	g.Connect("render", portRedirects, "links")
	if len(o.Steps) > 0 {
		g.AddStage("failures", pipeline.Spec{Type: "failures", Summary: "s", In: pipeline.Kinds(pipeline.KindOf[*pipeline.Failure]()), Needs: pipeline.NoParts},
			func(*pipeline.Env) (any, error) { return &taker{site: s.URL, into: got}, nil })
		g.Connect("render", "errors", "failures")
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, err := g.Run(ctx, pipeline.RunOptions{})
	got.counters, got.log = env.Counters(), log.String()
	if t.Failed() || testing.Verbose() {
		t.Log(got.counters, "\n", got.log)
	}
	return got, err
}

type source struct {
	site  string
	paths []string
}

func (s source) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, path := range s.paths {
		r := webrace.Request{URL: s.site + path, Reach: []webrace.Reach{{Crawl: "c", Distance: 1}}, Redirects: 2}
		if err := out.Emit(ctx, &pipeline.Item{Value: r}); err != nil {
			return err
		}
	}
	return nil
}

type taker struct {
	site string
	into *results
}

var taking sync.Mutex

func (k *taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	taking.Lock()
	defer taking.Unlock()
	switch v := it.Value.(type) {
	case *webrace.Document:
		path := strings.TrimPrefix(v.URL, k.site)
		k.into.documents[path] = *v
		k.into.bodies[path] = string(v.Body)
	case *webrace.Links:
		k.into.links = append(k.into.links, *v)
	case *pipeline.Failure:
		k.into.failures = append(k.into.failures, strings.TrimPrefix(v.Err.Error(), k.site))
	}
	return nil
}

// wants fails the test unless counters are as said; those that are not named do not matter.
func (r *results) wants(t *testing.T, counters map[string]int64) {
	t.Helper()
	for name, want := range counters {
		if r.counters[name] != want {
			t.Errorf("counter %s is %d, want %d; all: %v", name, r.counters[name], want, r.counters)
		}
	}
}

// shows fails the test unless the rendered page has, or has not, these words.
func (r *results) shows(t *testing.T, path string, has []string, hasNot ...string) {
	t.Helper()
	d, body := r.documents[path], r.bodies[path]
	if !d.Rendered {
		t.Errorf("%s was not rendered: %.300s\n%s", path, body, r.log)
	}
	for _, word := range has {
		if !strings.Contains(body, word) {
			t.Errorf("%s does not have %q: %.500s", path, word, body)
		}
	}
	for _, word := range hasNot {
		if strings.Contains(body, word) {
			t.Errorf("%s has %q: %.500s", path, word, body)
		}
	}
}

// processes returns how many processes run whose command line has this word.
func processes(t *testing.T, word string) string {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid,stat,args").Output()
	if err != nil {
		t.Skip("no ps: ", err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

func redirectTo(url string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, url, http.StatusFound) }
}
