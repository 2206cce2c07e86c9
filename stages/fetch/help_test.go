package fetch

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// local returns options under which a server on this machine may be asked, with patience for tests.
func local() Options {
	o := defaults
	o.AllowNetworks = []string{"loopback"}
	o.Robots = false
	o.PerAddress = false // names are looked up when they are connected to, and no sooner
	return o
}

// result is what became of one request.
type result struct {
	outcome   pipeline.Outcome
	reports   []webrace.HostReport
	visit     webrace.Visit // with what was learned applied to it
	documents []webrace.Document
	bodies    []string // of the documents
	links     []webrace.Links
	gone      []webrace.Gone

	emittedEarly bool // before the host was free
}

// results is what became of a run.
type results struct {
	byRequest []*result
	counters  map[string]int64
	log       string
	report    pipeline.Report
}

// run sends requests through the stage, within a pipeline and behind a queue that records everything.
func run(t *testing.T, o Options, requests ...webrace.Request) *results {
	t.Helper()
	return runWith(t, o, nil, requests...)
}

// runWith lets a test replace parts of the stage.
func runWith(t *testing.T, o Options, change func(*stage), requests ...webrace.Request) *results {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	q := &queue{sealed: make(chan struct{})}
	for i, r := range requests {
		q.results = append(q.results, &result{})
		if r.Visit != nil {
			q.results[i].visit = *r.Visit
		}
	}
	q.requests = requests
	got := &results{byRequest: q.results}
	g := pipeline.NewGraph("test")
	request, anything := pipeline.KindOf[webrace.Request](), pipeline.KindOf[any]()
	g.AddStage("nothing", pipeline.Spec{Type: "nothing", Summary: "s", Out: []pipeline.Port{{Kind: request}}},
		func(*pipeline.Env) (any, error) { return nothing{}, nil })
	g.AddStage("queue", pipeline.Spec{Type: "queue", Summary: "s", In: pipeline.Kinds(request), Out: []pipeline.Port{{Kind: request}}, Queue: true},
		func(*pipeline.Env) (any, error) { return q, nil })
	fetch := g.Add("fetch", o)
	var log testutil.Buffer
	var env *pipeline.Env
	mk := fetch.Make
	fetch.Make = func(e *pipeline.Env) (any, error) {
		env = e
		env.Logger = slog.New(slog.NewTextHandler(&log, nil))
		made, err := mk(e)
		if err != nil {
			return nil, err
		}
		if change != nil {
			change(made.(*stage))
		}
		return watched{made.(*stage), q}, nil
	}
	for _, name := range []string{"documents", "links", "gone"} {
		g.AddStage(name, pipeline.Spec{Type: name, Summary: "s", In: pipeline.Kinds(anything), Needs: pipeline.NoParts},
			func(*pipeline.Env) (any, error) { return taker{q}, nil })
	}
	g.Connect("nothing", "", "queue")
	g.Connect("queue", "", "fetch")
	g.Connect("fetch", "", "documents")
	g.Connect("fetch", portRedirects, "links")
	g.Connect("fetch", portGone, "gone")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	started, err := g.Start(ctx, pipeline.RunOptions{Continuous: true}) // which logs what is refused
	if err != nil {
		t.Fatal(err)
	}
	report, err := started.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range got.byRequest {
		if r.emittedEarly {
			t.Errorf("%s: something was emitted before the host was free", requests[i].URL)
		}
	}
	got.counters, got.log, got.report = env.Counters(), log.String(), *report
	return got
}

// one runs a single request.
func one(t *testing.T, o Options, r webrace.Request) (*result, *results) {
	t.Helper()
	all := run(t, o, r)
	return all.byRequest[0], all
}

type nothing struct{}

func (nothing) Run(context.Context, pipeline.Emitter) error { return nil }

// queue hands each request out once.
type queue struct {
	mu       sync.Mutex
	requests []webrace.Request
	next     int
	results  []*result
	sealed   chan struct{}
}

func (q *queue) Put(context.Context, *pipeline.Item) error { return nil }
func (q *queue) Seal()                                     { close(q.sealed) }

func (q *queue) Take(context.Context) (pipeline.Lease, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == len(q.requests) {
		<-q.sealed
		return nil, io.EOF
	}
	i := q.next
	q.next++
	return &lease{q, i}, nil
}

// by returns the result of the request that something descends from.
func (q *queue) by(url string) *result {
	i := slices.IndexFunc(q.requests, func(r webrace.Request) bool { return r.URL == url })
	return q.results[i]
}

type lease struct {
	q *queue
	i int
}

func (l *lease) Item() *pipeline.Item { return &pipeline.Item{Value: l.q.requests[l.i]} }

func (l *lease) Release(note any) {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	r, asked, report := l.q.results[l.i], l.q.requests[l.i], note.(webrace.HostReport)
	if report.URL == asked.URL && report.Secret == asked.Secret { // as every report says; one that does not shows
		report.URL, report.Secret = "", ""
	}
	r.reports = append(r.reports, report)
}

func (l *lease) Done(o pipeline.Outcome) {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	r := l.q.results[l.i]
	r.outcome = o
	for _, what := range o.Learned {
		what.(webrace.Learned)(&r.visit)
	}
}

// watched is the stage with an eye on what it emits when.
type watched struct {
	*stage
	q *queue
}

func (w watched) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return w.stage.Process(ctx, it, watchedEmitter{out, w.q, w.q.by(it.Value.(webrace.Request).URL)})
}

type watchedEmitter struct {
	pipeline.Emitter
	q *queue
	r *result
}

func (e watchedEmitter) Emit(ctx context.Context, it *pipeline.Item) error {
	return e.EmitTo(ctx, "", it)
}

func (e watchedEmitter) EmitTo(ctx context.Context, port string, it *pipeline.Item) error {
	e.q.mu.Lock()
	e.r.emittedEarly = e.r.emittedEarly || len(e.r.reports) == 0
	e.q.mu.Unlock()
	return e.Emitter.EmitTo(ctx, port, it)
}

// taker takes what the stage emits, and finds out for which request.
type taker struct{ q *queue }

func (k taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	k.q.mu.Lock()
	defer k.q.mu.Unlock()
	switch v := it.Value.(type) {
	case *webrace.Document:
		r := k.q.by(v.URL)
		r.bodies = append(r.bodies, string(v.Body))
		kept := *v
		kept.Body = bytes.Clone(v.Body) // the next page is read into that of the document
		r.documents = append(r.documents, kept)
	case *webrace.Links:
		r := k.q.by(v.From)
		r.links = append(r.links, *v)
	case *webrace.Gone:
		r := k.q.by(v.URL)
		r.gone = append(r.gone, *v)
	}
	return nil
}

// serve starts a server of one handler.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// listen starts a server that handles connections by itself. Each is closed when the handler returns, or
// else when the test ends.
func listen(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var handlers sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	handlers.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			handlers.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, conn := range open {
			conn.Close()
		}
		mu.Unlock()
		handlers.Wait()
	})
	return "http://" + l.Addr().String() + "/"
}

// says starts a server that reads a request, answers these bytes, and hangs up.
func says(t *testing.T, answer string) string {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, answer)
	})
}

// readRequest reads up to the end of a request's header.
func readRequest(conn net.Conn) {
	var seen []byte
	p := make([]byte, 1024)
	for !strings.HasSuffix(string(seen), "\r\n\r\n") {
		n, err := conn.Read(p)
		if err != nil {
			return
		}
		seen = append(seen, p[:n]...)
	}
}

// get is a request as the frontier makes it at a first visit.
func get(url string) webrace.Request {
	return webrace.Request{URL: url, Reach: []webrace.Reach{{Crawl: "c", Distance: 1}}}
}

// newTestStage makes a stage outside any pipeline.
func newTestStage(t testing.TB, o Options) *stage {
	t.Helper()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	made, err := newStage(o, pipeline.NewEnv("p", "fetch", nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.(*stage).Close() })
	return made.(*stage)
}

func item(url string) *pipeline.Item { return &pipeline.Item{Value: get(url)} }
