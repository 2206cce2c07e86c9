package sparql

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// The product of all numbers with themselves has a row for each pair; counting that of three takes for ever.
const (
	pairs   = "SELECT ?x ?a ?y ?b { ?x <http://example.org/number> ?a . ?y <http://example.org/number> ?b }"
	endless = "SELECT (COUNT(*) AS ?n) { ?x ?p ?a . ?y ?q ?b . ?z ?r ?c FILTER(?a + ?b + ?c < 0) }"
)

func TestLimitsAreNamed(t *testing.T) {
	t.Parallel()
	e := serving(t, with(func(o *Options) { o.Timeout = pipeline.Duration(200 * time.Millisecond) }), numbers(300))
	for query, want := range map[string]string{
		endless: "longer than 200ms: ask for less",
		"ASK { ?x ?p ?a . ?y ?q ?b . ?z ?r ?c . ?w ?s ?d FILTER(?a + ?b + ?c + ?d < 0) }":    "longer than 200ms",
		"CONSTRUCT { ?x ?a ?y } { ?x ?p ?a . ?y ?q ?b . ?z ?r ?c FILTER(?a + ?b + ?c < 0) }": "longer than 200ms",
	} {
		if r := get(t, e.of(query)); r.status != 500 || !strings.Contains(r.body, want) || r.header.Get("ETag") != "" {
			t.Errorf("%s: %+v", query, r)
		}
	}
	small := serving(t, with(func(o *Options) { o.Memory = 1 << 20 }), numbers(300))
	if r := get(t, small.of(pairs+" ORDER BY ?a")); r.status != 500 || !strings.Contains(r.body, "more than 1 MiB of memory: ask for less") {
		t.Errorf("%+v", r)
	}
	deep := "ASK { FILTER(" + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + ") }"
	if r := get(t, e.of(deep)); r.status != 400 || !strings.Contains(r.body, "100") {
		t.Errorf("deep: %+v", r)
	}
}

// Of an answer that fails when more than 64 KiB are on their way, nobody takes the part for the whole.
func TestACutAnswerLacksItsEnd(t *testing.T) {
	t.Parallel()
	e := serving(t, with(func(o *Options) { o.Memory = 1 << 20 }), numbers(1000))
	distinct := strings.Replace(pairs, "SELECT", "SELECT DISTINCT", 1) // which keeps each row
	graph := "CONSTRUCT { ?x <http://example.org/with> ?y } { ?x <http://example.org/number> ?a . ?y <http://example.org/number> ?b }"
	for media, query := range map[string]string{
		"text/csv": distinct, "text/tab-separated-values": distinct, "application/sparql-results+json": distinct, "application/sparql-results+xml": distinct,
		"application/n-triples": graph, "text/turtle": graph, "application/rdf+xml": graph,
	} {
		r := get(t, e.of(query), "Accept", media)
		if r.status != 200 || !errors.Is(r.err, io.ErrUnexpectedEOF) || len(r.body) < mostHeld {
			t.Errorf("%s: status %d, %d bytes, %v", media, r.status, len(r.body), r.err)
		}
		if r := send(t, "HEAD", e.of(query), "", "Accept", media); r.status != 200 || r.header.Get("Content-Type") == "" || r.header.Get("Content-Length") != "" {
			t.Errorf("HEAD of %s: %+v", media, r)
		}
	}
	if n := e.Snapshot().Stages["sparql"].Counters["cut"]; n != 7 {
		t.Errorf("%d answers were cut, and 7 should be", n)
	}
}

// HTTP/1.0 has no way to tell a part of a long answer, so a long answer is refused.
func TestAnOldClientGetsShortAnswers(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, numbers(300))
	for query, want := range map[string]string{pairs + " LIMIT 1": "200 OK", pairs: "505 "} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSuffix(e.url, "/sparql"), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", strings.TrimPrefix(e.of(query), strings.TrimSuffix(e.url, "/sparql")))
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, want) {
			t.Errorf("%s: %q, %v", query, line, err)
		}
	}
}

// unread asks a query whose answer does not fit between server and client, and does not read it.
func (e *endpoint) unread(t *testing.T) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.of(pairs), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/csv")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (e *endpoint) await(name string, n int64) {
	for e.Snapshot().Stages["sparql"].Counters[name] != n {
		time.Sleep(time.Millisecond)
	}
}

// So many queries run, so many wait, and others are told to come again.
func TestSoManyAtOnce(t *testing.T) {
	t.Parallel()
	e := serving(t, with(func(o *Options) { o.Queries, o.Waiting, o.Timeout = 1, 1, pipeline.Duration(10*time.Minute) }), numbers(2000))
	first := e.unread(t)
	defer first.Body.Close()
	second := make(chan reply)
	go func() { second <- get(t, e.of("ASK {}")) }()
	e.await("waiting", 1)
	if r := get(t, e.of("ASK {}")); r.status != 503 || r.header.Get("Retry-After") != "1" || !strings.Contains(r.body, "come again") {
		t.Errorf("one too many: %+v", r)
	}
	select {
	case r := <-second:
		t.Errorf("answered while another query ran: %+v", r)
	default:
	}
	first.Body.Close() // its client goes away
	if r := <-second; r.status != 200 {
		t.Errorf("the one that waited: %+v", r)
	}
	e.await("gone", 1)
}

// A run that drains answers the queries that run, to the end, and sends those that wait away.
func TestADrainAnswersWhatRuns(t *testing.T) {
	t.Parallel()
	e := serving(t, with(func(o *Options) { o.Queries, o.Waiting, o.Timeout = 1, 1, pipeline.Duration(10*time.Minute) }), numbers(600))
	running := e.unread(t)
	defer running.Body.Close()
	waiting := make(chan reply)
	go func() { waiting <- get(t, e.of("ASK {}")) }()
	e.await("waiting", 1)
	e.Drain()
	if r := <-waiting; r.status != 503 || r.header.Get("Retry-After") == "" {
		t.Errorf("the one that waited: %+v", r)
	}
	lines := 0
	for in := bufio.NewScanner(running.Body); in.Scan(); lines++ {
	}
	if _, err := io.Copy(io.Discard, running.Body); err != nil || lines != 600*600+1 {
		t.Errorf("%d lines of %d, %v", lines, 600*600+1, err)
	}
	if _, err := e.Wait(); err != nil {
		t.Error(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.records) != 2 {
		t.Errorf("%d records: %v", len(e.records), e.records)
	}
	if _, err := http.Get(e.url); err == nil {
		t.Error("it still listens")
	}
}

// A run that is paused takes no records, and answers.
func TestAPausedRunAnswers(t *testing.T) {
	t.Parallel()
	e := serving(t, defaults, said)
	e.Pause()
	long := "ASK {" + strings.Repeat(" ", 2*mostRecorded) + "}"
	for range recordsWaiting + 10 {
		if r := send(t, "POST", e.url, long, "Content-Type", queryType); r.status != 200 {
			t.Fatalf("%+v", r)
		}
	}
	lost := e.Snapshot().Stages["sparql"].Counters["unrecorded"]
	e.Resume()
	e.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.records) + int(lost); lost == 0 || n != recordsWaiting+10 {
		t.Errorf("%d records, and %d that nobody took", len(e.records), lost)
	}
	for _, r := range e.records {
		if text := r["query"].(string); len(text) > mostRecorded+3 || !strings.HasSuffix(text, "…") {
			t.Fatalf("a record has %d bytes of its query", len(text))
		}
	}
}

// A run that is cancelled does not wait for a query.
func TestACancelledRunEndsAtOnce(t *testing.T) {
	t.Parallel()
	e := serving(t, with(func(o *Options) { o.Timeout = pipeline.Duration(time.Hour) }), numbers(600))
	answered := make(chan reply)
	go func() { answered <- get(t, e.of(endless)) }()
	e.await("running", 1)
	e.Cancel()
	if r := <-answered; r.status != 503 {
		t.Errorf("%+v", r)
	}
	<-e.Done()
}

// A thousand slow queries, and as many clients that do not wait, leave nothing behind: no snapshot, for which the store
// would wait when it is closed, no routine and no memory.
func TestHostileThousandsOfSlowQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand slow queries: not in short mode")
	}
	e := serving(t, with(func(o *Options) { o.Timeout = pipeline.Duration(10 * time.Millisecond) }), numbers(2000))
	get(t, e.of(endless))
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	before, routines := heap(), runtime.NumGoroutine()
	var all sync.WaitGroup
	slow := make(chan int, 2000)
	for client := range 16 {
		all.Go(func() {
			for range 63 {
				query := []string{endless, pairs + " ORDER BY ?a ?b"}[client%2]
				for r := get(t, e.of(query)); ; r = get(t, e.of(query)) {
					if r.status != 503 {
						slow <- r.status
						break
					}
				}
			}
		})
		all.Go(func() {
			for i := range 63 {
				e.vanish(t, i%2 == 0)
			}
		})
	}
	all.Wait()
	close(slow)
	n := 0
	for status := range slow {
		if n++; status != 500 {
			t.Fatalf("a slow query was answered by %d", status)
		}
	}
	e.await("running", 0)
	e.await("waiting", 0)
	e.end()
	closed := make(chan error)
	go func() { closed <- e.dir.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the store waits for somebody who reads it")
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for runtime.NumGoroutine() > routines && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	after := heap()
	t.Logf("%d slow queries; heap %d KiB before, %d KiB after; %d and %d routines", n, before>>10, after>>10, routines, runtime.NumGoroutine())
	if after > before+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// vanish sends a query, and goes away: before there is an answer, or in the middle of it.
func (e *endpoint) vanish(t *testing.T, early bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.of(pairs), nil)
	if err != nil {
		t.Error(err)
		return
	}
	if early {
		time.AfterFunc(time.Millisecond, cancel)
	}
	if answer, err := http.DefaultTransport.RoundTrip(r); err == nil {
		answer.Body.Read(make([]byte, 1))
		answer.Body.Close()
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
