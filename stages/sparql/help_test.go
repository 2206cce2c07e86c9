package sparql

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

var with = stagetest.Changed(defaults)

// endpoint is a running pipeline: sparql > a taker of its records.
type endpoint struct {
	*pipeline.Run
	options Options
	url     string
	dir     *storage.Dir
	store   *quads.Store

	mu      sync.Mutex
	records []pipeline.Record
}

const said = `<https://example.org/#festival> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Event> <https://example.org/events> .
<https://example.org/#festival> <http://schema.org/name> "Harbour festival"@en <https://example.org/events> .
<https://example.org/#festival> <http://schema.org/location> <https://example.org/#port> <https://example.org/events> .
<https://example.org/#port> <http://schema.org/name> "Port of Piraeus"@en <https://example.org/places> .
`

// numbers are so many quads of one document: things with a number and a text each.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<https://example.org/%d> <http://example.org/number> \"%d\" <https://example.org/numbers> .\n", i, i)
	}
	return b.String()
}

// serving starts an endpoint over what N-Quads state. It ends with the test.
func serving(t testing.TB, o Options, nquads string) *endpoint {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{dir: dir}
	t.Cleanup(func() {
		e.end()
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	if e.store, err = dir.Quads(); err != nil {
		t.Fatal(err)
	}
	e.say(t, nquads)
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	o.Listen = testutil.FreeAddress(t)
	g := e.graph(o)
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	if e.Run, err = g.Start(context.Background(), pipeline.RunOptions{Resources: resources}); err != nil {
		t.Fatal(err)
	}
	e.options, e.url = o, "http://"+o.Listen+o.Path
	return e
}

func (e *endpoint) graph(o Options) *pipeline.Graph {
	g := pipeline.NewGraph("test")
	g.Add("sparql", o)
	g.AddStage("sink", pipeline.Spec{Type: "sink", In: pipeline.Kinds(pipeline.KindOf[pipeline.Record]())}, func(*pipeline.Env) (any, error) { return takes(e.take), nil })
	g.Connect("sparql", "", "sink")
	return g
}

// say adds what N-Quads state.
func (e *endpoint) say(t testing.TB, nquads string) {
	t.Helper()
	options := rdf.Options{KeepLabels: true, Limits: rdf.Limits{Triples: -1, Literal: -1, IRI: -1, Depth: -1}}
	if _, err := e.store.Import(t.Context(), rdf.Parse(t.Context(), strings.NewReader(nquads), rdf.NQuads, options)); err != nil {
		t.Fatal(err)
	}
}

func (e *endpoint) end() {
	if e.Run != nil {
		e.Drain()
		<-e.Done()
	}
}

func (e *endpoint) take(it *pipeline.Item) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.records = append(e.records, it.Value.(pipeline.Record))
	return nil
}

// of returns the URL of a query.
func (e *endpoint) of(query string, parameters ...string) string {
	v := url.Values{"query": {query}}
	for i := 0; i < len(parameters); i += 2 {
		v.Add(parameters[i], parameters[i+1])
	}
	return e.url + "?" + v.Encode()
}

type takes func(*pipeline.Item) error

func (f takes) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error { return f(it) }

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// send sends a request; headers are names and values in turn.
func send(t testing.TB, method, url, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return reply{answer.StatusCode, answer.Header, string(text), err}
}

func get(t testing.TB, url string, headers ...string) reply {
	t.Helper()
	return send(t, http.MethodGet, url, "", headers...)
}
