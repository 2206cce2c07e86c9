package httpout

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// TestWhatMayPassIsWaitedOut lets the receiver fail in every way that may pass, one after the other.
func TestWhatMayPassIsWaitedOut(t *testing.T) {
	t.Parallel()
	// net/http itself repeats the request that is hung up on, because a connection that was used before may have
	// been closed meanwhile.
	h := newHook(t, status(500, "oh"), status(503, "", "Retry-After", "0"), status(429, "", "Retry-After", "3600"), hangUp, never, status(408, ""), status(425, ""))
	o := h.quick()
	o.Timeout = pipeline.Duration(300 * time.Millisecond)
	r := try(t, o, aci("a"))
	got := h.received()
	if len(r.Failures) > 0 || r.Outcomes[0].Err != nil || r.Counters["delivered"] != 1 || r.Counters["repeated"] < 6 || len(got) != 8 {
		t.Fatalf("%v, %v, %d requests", r.Failures, r.Counters, len(got))
	}
	for _, d := range got[1:] {
		if d.body != got[0].body || d.header.Get("Idempotency-Key") != got[0].header.Get("Idempotency-Key") || d.header.Get("Idempotency-Key") == "" {
			t.Errorf("a repetition says %+v, first there was %+v", d, got[0])
		}
	}
}

func TestWhatIsNotGivenBackOnceMoreIsGivenUp(t *testing.T) {
	t.Parallel()
	h := newHook(t, slices.Repeat([]http.HandlerFunc{status(502, "bad\x00 \x1b[31m gate\nway\xff"+strings.Repeat("x", maxAnswer))}, 3)...)
	o := h.quick()
	o.Attempts = 3
	r := try(t, o, aci("a"), aci("b"))
	if len(r.Failures) != 1 || len(h.received()) != 4 || r.Counters["given_up"] != 1 || r.Counters["delivered"] != 1 {
		t.Fatalf("%v, %d requests, %v", r.Failures, len(h.received()), r.Counters)
	}
	message := r.Failures[0].Error()
	if !strings.Contains(message, "3 times (option attempts): 502 Bad Gateway: bad [31m gate way") || strings.Contains(message, "hush-path") || len(message) > 400 {
		t.Errorf("it says %q", message)
	}
}

func TestWhatDoesNotPassIsAnErrorAtOnce(t *testing.T) {
	t.Parallel()
	other := newHook(t)
	for code, says := range map[int]string{400: "400 Bad Request: no such field", 401: "401", 404: "404", 410: "410", 302: "302 Found, and redirects are not followed", 307: "307"} {
		h := newHook(t, status(code, "no such field", "Location", other.URL))
		r := try(t, h.quick(), aci("a"))
		if len(r.Failures) != 1 || len(h.received()) != 1 || !strings.Contains(r.Failures[0].Error(), says) || r.Counters["refused"] != 1 {
			t.Errorf("%d: %v, %d requests", code, r.Failures, len(h.received()))
		}
	}
	if n := len(other.received()); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// Where each item is a request, one that is refused costs none of the others of its group.
func TestOfAGroupOfRequestsEachFailsByItself(t *testing.T) {
	t.Parallel()
	h := newHook(t, status(204, ""), status(400, "not this one"))
	report, result := run(t, h.quick(), "", "a", "b", "c")
	if len(result.Failures) != 1 || result.Failures[0].Value != "b" || len(h.received()) != 3 || report.Stages["http-out"].Counters["delivered"] != 2 {
		t.Errorf("failures %v after %d requests", result.Failures, len(h.received()))
	}
}

func TestAReceiverThatIsDownIsAskedByOneRequestAtATime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most, asked := 0, 0, 0
	up := make(chan struct{})
	h := newHook(t)
	h.script = slices.Repeat([]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		asked++
		if now++; asked > 20 { // what was under way when it went down is no probe
			most = max(most, now)
		}
		if asked == 60 {
			close(up)
		}
		mu.Unlock()
		select {
		case <-up:
			w.WriteHeader(200)
		case <-time.After(time.Millisecond):
			w.WriteHeader(503)
		}
		mu.Lock()
		now--
		mu.Unlock()
	}}, 60)
	o := h.quick()
	o.Attempts, o.Failures = 0, 3
	var items []any
	for i := range 40 {
		items = append(items, i)
	}
	g := pipeline.DefaultRegistry.NewGraph("p")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) { return source(items), nil })
	g.AddType("http-out", "http-out", o).Common.Workers = 8
	g.Connect("source", "", "http-out")
	report, err := g.Run(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := report.Stages["http-out"].Counters
	if c["delivered"] != 40 || c["down"] < 1 || most != 1 {
		t.Errorf("%v; %d requests at once while it was down", c, most)
	}
}

type source []any

func (s source) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, v := range s {
		if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}

func TestNoReceiverHoldsUpTheEndOfARun(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := (&hook{Server: &httptest.Server{URL: "http://" + silent.Addr().String()}}).quick()
	o.Attempts, o.Backoff, o.MaxBackoff = 0, pipeline.Duration(time.Hour), pipeline.Duration(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	g := pipeline.DefaultRegistry.NewGraph("p")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) { return source{1, 2, 3}, nil })
	g.AddType("http-out", "http-out", o)
	g.Connect("source", "", "http-out")
	run, err := g.Start(ctx, pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Accept(); err != nil { // it is being waited for
		t.Fatal(err)
	}
	cancel()
	if _, err := run.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWaitsGrowAndAreBounded(t *testing.T) {
	t.Parallel()
	o := defaults
	r := newReceiver(o)
	for attempts, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 9: 256 * time.Second, 20: 5 * time.Minute, 1 << 20: 5 * time.Minute} {
		for range 20 {
			if wait := r.backoff(attempts); wait < most/2 || wait > most {
				t.Errorf("after %d attempts: %v", attempts, wait)
			}
		}
	}
}
