package httpout

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// cluster answers bulk requests as OpenSearch and Elasticsearch do.
type cluster struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	stored map[string]string // by id
	counts []int             // documents in each request
	says   func(request int, id string) (status int, reason string)
}

func newCluster(t *testing.T, says func(request int, id string) (int, string)) *cluster {
	c := &cluster{t: t, stored: map[string]string{}, says: says}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) options() Options {
	o := defaults
	o.URL, o.Format, o.Index, o.AllowNetworks = c.URL+"/_bulk", "bulk", "pages", []string{"loopback"}
	o.Attempts, o.Backoff, o.MaxBackoff = 4, 1, 2
	return o
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path != "/_bulk" || r.URL.Query().Get("filter_path") == "" || r.Header.Get("Content-Type") != "application/x-ndjson" {
		c.t.Errorf("request %s as %s", r.URL, r.Header.Get("Content-Type"))
	}
	items := []any{}
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		var action map[string]struct {
			Index string `json:"_index"`
			ID    string `json:"_id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil || len(action) != 1 || !lines.Scan() {
			c.t.Errorf("action %q: %v", lines.Text(), err)
			return
		}
		for name, a := range action {
			status, reason := c.says(len(c.counts), a.ID)
			_, there := c.stored[a.ID]
			switch {
			case a.Index != "pages":
				c.t.Errorf("index %q", a.Index)
			case status == 201 && name == "create" && there:
				status, reason = 409, "it is there"
			case status == 201:
				c.stored[a.ID] = lines.Text()
			}
			said := map[string]any{"status": status}
			if reason != "" {
				said["error"] = map[string]string{"type": "a_type", "reason": reason}
			}
			items = append(items, map[string]any{name: said})
		}
	}
	c.counts = append(c.counts, len(items))
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": true, "items": items})
}

func numbered(n int) (list pipeline.List) {
	for i := range n {
		list = append(list, pipeline.Record{"n": fmt.Sprint(i)})
	}
	return list
}

func all(int, string) (int, string) { return 201, "" }

func TestBulkConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "http-out", Options: newCluster(t, all).options(), Inputs: []any{aci("a"), pipeline.Record{"a": 1}}})
}

type notes struct{ *stagetest.Result }

func (n notes) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	n.Failures = append(n.Failures, it.Value.(*pipeline.Failure))
	return nil
}

type gives []any

func (g gives) Run(ctx context.Context, out pipeline.Emitter) error {
	for i, v := range g {
		if err := out.Emit(ctx, (&pipeline.Item{Value: v}).From("gives", uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

// run sends records in one group, and returns the report.
func run(t *testing.T, o Options, on pipeline.OnError, inputs ...any) (*pipeline.Report, *stagetest.Result) {
	t.Helper()
	result := &stagetest.Result{}
	g := pipeline.NewGraph("test")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) { return gives(inputs), nil })
	stage := g.Add("http-out", o)
	stage.Common.OnError, stage.Common.Workers = on, 1
	stage.Common.Batch = pipeline.Batch{Count: len(inputs), Period: pipeline.Duration(1e12)}
	g.Connect("source", "", "http-out")
	if on == "" {
		g.AddStage("failures", pipeline.Spec{Type: "failures", In: pipeline.Kinds(pipeline.KindOf[*pipeline.Failure]())}, func(*pipeline.Env) (any, error) {
			return notes{result}, nil
		})
		g.Connect("http-out", "errors", "failures")
	}
	report, err := g.Run(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return report, result
}

// Each document is sent until it is taken or refused, and only what is refused fails.
func TestBulkFailsItemByItem(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(request int, id string) (int, string) {
		switch {
		case id == "1":
			return 400, "no field of that name"
		case id == "2" && request < 2:
			return 429, "too much"
		case id == "3":
			return 503, "never"
		}
		return 201, ""
	})
	o := c.options()
	o.Key = "n"
	report, result := run(t, o, "", numbered(5)...)
	var failed []string
	for _, f := range result.Failures {
		failed = append(failed, fmt.Sprint(f.Value, " ", f.Err))
	}
	slices.Sort(failed)
	if len(failed) != 2 || !strings.Contains(failed[0], "map[n:1]") || !strings.Contains(failed[0], "400 a_type: no field of that name") ||
		!strings.Contains(failed[1], "map[n:3]") || !strings.Contains(failed[1], "503 a_type: never") {
		t.Errorf("failed %q", failed)
	}
	if got := slices.Sorted(maps.Keys(c.stored)); !slices.Equal(got, []string{"0", "2", "4"}) || c.stored["4"] != `{"n":"4"}` {
		t.Errorf("stored %v", c.stored)
	}
	if !slices.Equal(c.counts, []int{5, 2, 2, 1}) {
		t.Errorf("requests of %v documents", c.counts)
	}
	if n := report.Stages["http-out"].Counters; n["delivered"] != 3 || n["refused"] != 1 || n["given_up"] != 1 || n["repeated"] != 3 {
		t.Errorf("counters %v", n)
	}
}

// Without an expression the id is of the item, so that what is sent twice is there once; what is there already is as
// good as taken.
func TestBulkIsIdempotent(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"index", "create"} {
		c := newCluster(t, all)
		o := c.options()
		o.Action = action
		for range 2 {
			if report, _ := run(t, o, pipeline.Stop, numbered(3), pipeline.Record{"n": "x"}); report.Stages["http-out"].Counters["delivered"] != 4 {
				t.Errorf("%s: %v", action, report.Stages["http-out"].Counters)
			}
		}
		if len(c.stored) != 4 || !slices.Equal(c.counts, []int{4, 4}) {
			t.Errorf("%s: stored %v in requests of %v", action, c.stored, c.counts)
		}
	}
}

// What is no object is an error of its item, and the others go on. So is a list of which one document is refused.
func TestBulkRefusesWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	c := newCluster(t, all)
	report, result := run(t, c.options(), "", "text", pipeline.Record{"n": 1}, pipeline.List{1, pipeline.Record{"n": 2}})
	if len(result.Failures) != 2 || len(c.stored) != 2 || report.Stages["http-out"].Errors != 2 {
		t.Errorf("failures %v, stored %v", result.Failures, c.stored)
	}
}

// An answer that does not tell of each document is no answer.
func TestBulkAnswersThatTellNothing(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "{", `{"items":[]}`, `{"items":[{},{}]}`} {
		h := newHook(t, status(200, answer), status(200, answer), status(200, answer))
		o := h.quick()
		o.Format, o.Index, o.Attempts = "bulk", "pages", 3
		r := try(t, o, numbered(2))
		if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), "bulk request") || len(h.received()) != 3 {
			t.Errorf("%q: %v after %d requests", answer, r.Failures, len(h.received()))
		}
	}
}
