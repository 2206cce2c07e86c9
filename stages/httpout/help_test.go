package httpout

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/xmlschema"
)

// hook is a receiver that answers as a test scripts it, and 204 once the script has ended.
type hook struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	script []http.HandlerFunc
	got    []received
}

type received struct {
	method, body string
	header       http.Header
}

func newHook(t testing.TB, script ...http.HandlerFunc) *hook {
	h := &hook{t: t, script: script}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // cut off: not delivered
	}
	h.mu.Lock()
	answer := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	if len(h.script) > 0 {
		answer, h.script = h.script[0], h.script[1:]
	}
	h.got = append(h.got, received{r.Method, string(body), r.Header})
	h.mu.Unlock()
	answer(w, r)
}

func (h *hook) received() []received {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

func status(code int, body string, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(fields); i += 2 {
			w.Header().Set(fields[i], fields[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// hangUp closes the connection without an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func never(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// quick are options for a receiver on loopback, that wait for nothing.
func (h *hook) quick() Options {
	o := defaults
	o.URL, o.AllowNetworks = h.URL+"/hook/hush-path", []string{"loopback"}
	o.Backoff, o.MaxBackoff = pipeline.Duration(time.Microsecond), pipeline.Duration(time.Millisecond)
	return o
}

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "http-out", Options: o, Inputs: inputs})
}

func aci(id string) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: id, URD: "u1", Owner: "eleni", URI: "https://a.org/" + id, Title: `A "title" & more`, Format: xmlschema.FormatHTML, Urgency: 1,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Docbase: xmlschema.Docbase{Digest: "sha256:1", Version: 2},
	}
}
