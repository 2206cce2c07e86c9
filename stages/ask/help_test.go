package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	_ "github.com/webrace/webrace/stages/kinds"
	"github.com/webrace/webrace/xmlschema"
)

// server is a model's, which answers as a test scripts it, and yes once the script has ended.
type server struct {
	*httptest.Server

	mu     sync.Mutex
	script []http.HandlerFunc
	got    []asked
}

// asked is a request of the API.
type asked struct {
	Path   string      `json:"-"`
	Header http.Header `json:"-"`

	Model       string
	Messages    []struct{ Role, Content string }
	Temperature *float64
	MaxTokens   int `json:"max_tokens"`
	Completion  int `json:"max_completion_tokens"`
	Stream      bool
	Format      struct {
		Type   string
		Schema struct {
			Name   string
			Strict bool
			Schema json.RawMessage
		} `json:"json_schema"`
	} `json:"response_format"`
}

func newServer(t testing.TB, script ...http.HandlerFunc) *server {
	s := &server{script: script}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, err := readAsked(r)
	if err != nil {
		return // cut off
	}
	s.mu.Lock()
	answer := writes(`{"reason":"it is so","answer":"yes"}`)
	if len(s.script) > 0 {
		answer, s.script = s.script[0], s.script[1:]
	}
	s.got = append(s.got, got)
	s.mu.Unlock()
	answer(w, r)
}

func readAsked(r *http.Request) (asked, error) {
	got := asked{Path: r.URL.Path, Header: r.Header}
	err := json.NewDecoder(r.Body).Decode(&got)
	if err == nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return got, err
}

func (s *server) asked() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// writes has the model write something, as the API has it, for 100 tokens.
func writes(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"model": "what the server calls it", "usage": map[string]any{"total_tokens": 100},
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": content}}},
		})
	}
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

// endless writes an answer that does not end.
func endless(piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

// trickle writes a byte now and then, without an end.
func trickle(w http.ResponseWriter, r *http.Request) {
	for {
		_, _ = io.WriteString(w, " ")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Millisecond): // it is slow
		}
	}
}

// quick are options for a model on loopback, that wait for nothing.
func (s *server) quick() Options { return quickAt(s.URL) }

func quickAt(url string) Options {
	o := defaults
	o.URL, o.Model, o.AllowNetworks = url+"/v1", "small:1b", []string{"loopback"}
	o.Attempts, o.Away = 3, 0
	o.Backoff, o.MaxBackoff = pipeline.Duration(time.Microsecond), pipeline.Duration(time.Millisecond)
	return o
}

func try(t *testing.T, o Options, resources *pipeline.Resources, inputs ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "ask", Options: o, Resources: resources, Inputs: inputs})
}

// aci is an annotation of which something is to be asked.
func aci(id string) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: id, URD: "u1", Owner: "eleni", URI: "https://a.org/" + id, Title: "Calls " + id, Summary: "a summary", Format: xmlschema.FormatHTML, Urgency: 1,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Docbase: xmlschema.Docbase{Digest: "sha256:1", Version: 2},
		Judgement: &xmlschema.Judgement{Question: "Is a deadline moved?", News: "Submit until [−May 3] «May 9» " + id},
	}
}

// judged returns the judgement of the only thing that was passed on.
func judged(t *testing.T, r *stagetest.Result) *xmlschema.Judgement {
	t.Helper()
	if len(r.Out[""]) != 1 || len(r.Failures) > 0 {
		t.Fatalf("%d passed on, %d answered no, failures %v", len(r.Out[""]), len(r.Out["no"]), r.Failures)
	}
	j := r.Out[""][0].(*xmlschema.ACI).Judgement
	if j.IsPending() || j.News != "" {
		t.Fatalf("it is not judged: %+v", j)
	}
	return j
}

// sameStates are resources whose states last from one run to the next.
func sameStates() *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide(r, pipeline.StatesInMemory())
	return r
}

func mustSay(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}

func repeated(text string, times int) string { return strings.Repeat(text, times) }

func number(i int) string { return fmt.Sprintf("%04d", i) }

func repeatedly(answer http.HandlerFunc, times int) []http.HandlerFunc {
	return slices.Repeat([]http.HandlerFunc{answer}, times)
}

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func text(blocks ...string) *webrace.Text {
	t := new(webrace.Text)
	for _, b := range blocks {
		start := int32(len(t.Bytes))
		t.Bytes = append(t.Bytes, b...)
		t.Blocks = append(t.Blocks, webrace.Block{Start: start, End: int32(len(t.Bytes))})
	}
	return t
}
