package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	_ "github.com/webrace/webrace/stages/all"
	"github.com/webrace/webrace/storage"
)

// stall is longer than anything here takes, and so long that only what waits for ever exceeds it.
const stall = 2 * time.Minute

// asked is a request as the server saw it.
type asked struct {
	path       string
	began, end time.Time
}

// site is a server of a few pages, that writes down when it is asked for what.
type site struct {
	*httptest.Server
	pages int // that the first page links to

	mu       sync.Mutex
	log      []asked
	inFlight int
	together int       // the most requests that were in flight at a time
	busy     time.Time // until when it has asked to be left alone
	early    int       // requests that came before
}

// restless is how long a site asks to be left alone: Retry-After counts in seconds.
const restless = time.Second

func newSite(t *testing.T, pages int) *site {
	t.Helper()
	s := &site{pages: pages}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers with a page of links at /, with pages of text at /1 and so on, and asks once to be left alone.
func (s *site) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	defer s.enter(q.URL.Path)()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch path := q.URL.Path; {
	case path == "/robots.txt":
		http.NotFound(w, q)
	case path == "/1" && s.rest():
		w.Header().Set("Retry-After", fmt.Sprint(int(restless.Seconds())))
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case path == "/":
		fmt.Fprint(w, "<title>start</title>")
		for i := range s.pages {
			fmt.Fprintf(w, `<p><a href="/%d">page %[1]d</a></p>`, i+1)
		}
	default:
		fmt.Fprintf(w, "<title>page</title><p>This is the text of page %s.</p>", path)
	}
}

// enter writes a request down, and gives what writes down its end.
func (s *site) enter(path string) func() {
	began := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight++
	s.together = max(s.together, s.inFlight)
	if began.Before(s.busy) {
		s.early++
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
		s.log = append(s.log, asked{path, began, time.Now()})
	}
}

// rest reports whether the site asks to be left alone, which it does once.
func (s *site) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy.IsZero() {
		return false
	}
	s.busy = time.Now().Add(restless)
	return true
}

// documents are the requests for pages, in their order.
func (s *site) documents() (all []asked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.log {
		if a.path != "/robots.txt" {
			all = append(all, a)
		}
	}
	return all
}

// resources opens a data directory.
func resources(t *testing.T) *pipeline.Resources {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	r := new(pipeline.Resources)
	pipeline.Provide(r, dir)
	return r
}

// load reads a pipeline named test, with stages of the test's own added to it.
func load(t *testing.T, text string, registry *pipeline.Registry) *pipeline.Graph {
	t.Helper()
	c, err := config.Parse("pipelines.toml", []byte("version = 1\n"+text), config.LoadOptions{Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Graph("test")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// toItsEnd runs a graph, and fails if it does not end.
func toItsEnd(t *testing.T, g *pipeline.Graph, o pipeline.RunOptions) *pipeline.Report {
	t.Helper()
	run, err := g.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	limit := time.NewTimer(stall)
	defer limit.Stop()
	select {
	case <-run.Done():
	case <-limit.C:
		holding := run.Holding()
		run.Cancel()
		t.Fatalf("it does not end; stages that hold items: %s", strings.Join(holding, ", "))
	}
	report, err := run.Wait()
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	return report
}
