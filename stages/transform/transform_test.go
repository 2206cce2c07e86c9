package transform

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

func turtle(body string) *webrace.Document {
	return &webrace.Document{
		URL: "http://example.org/a", Outcome: webrace.Fetched, MediaType: "text/turtle", Body: []byte(body),
		Header: http.Header{"Content-Type": {"text/plain"}},
	}
}

const statement = "<> <http://example.org/p> <b>, <b>, \"c\" ."

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "transform", Options: defaults(), Inputs: []any{
		turtle(statement), &webrace.Document{URL: "http://example.org/b", Outcome: webrace.NotModified},
	}})
}

func TestDocumentsGetWhatTheySay(t *testing.T) {
	t.Parallel()
	cut := turtle(statement)
	cut.Truncated = true
	notModified := &webrace.Document{URL: "http://example.org/b", Outcome: webrace.NotModified}
	page := &webrace.Document{URL: "http://example.org/c", Outcome: webrace.Fetched, MediaType: "text/html", Body: []byte("<p>nothing")}
	given := turtle(statement)
	r := stagetest.Try(t, stagetest.Case{Type: "transform", Options: defaults(), Inputs: []any{
		given, turtle(statement + "\n<> <b> no"), cut, notModified, page,
	}})
	if len(r.Failures) > 0 || len(r.Out[""]) != 5 {
		t.Fatalf("%v, %d documents of 5", r.Failures, len(r.Out[""]))
	}
	graphs := make([]*webrace.Graph, 5)
	for i, value := range r.Out[""] {
		graphs[i] = value.(*webrace.Document).Graph
	}
	if g := graphs[0]; !g.Whole || len(g.Triples) != 2 || g.Triples[0].Object != "<http://example.org/b>" || len(g.Problems) > 0 {
		t.Errorf("the graph is %+v", g)
	}
	if g := graphs[1]; g.Whole || len(g.Problems) != 1 || !strings.Contains(g.Problems[0], "line 2") {
		t.Errorf("what is malformed has %+v", g)
	}
	if g := graphs[2]; g.Whole || len(g.Problems) != 1 {
		t.Errorf("what was cut has %+v", g)
	}
	if graphs[3] != nil || r.Out[""][3] != any(notModified) {
		t.Error("what came without a body was read")
	}
	if g := graphs[4]; !g.Whole || len(g.Triples) > 0 {
		t.Errorf("a page that says nothing has %+v", g)
	}
	if given.Graph != nil {
		t.Error("what came was changed")
	}
	for counter, want := range map[string]int64{"silent": 1, "unwhole": 2, "problems": 2} {
		if n := r.Counters[counter]; n != want {
			t.Errorf("%s is %d, want %d", counter, n, want)
		}
	}
}

func TestContextsAndLimitsAreTheOptions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "context.jsonld")
	if err := os.WriteFile(file, []byte(`{"@context": {"name": "http://example.org/name"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o := defaults()
	o.Contexts, o.MaxTriples = map[string]pipeline.File{"https://example.org/context": pipeline.File(file)}, 1
	said := func(body string) *webrace.Document {
		return &webrace.Document{URL: "http://example.org/a", Outcome: webrace.Fetched, MediaType: "application/ld+json", Body: []byte(body)}
	}
	r := stagetest.Try(t, stagetest.Case{Type: "transform", Options: o, Inputs: []any{
		said(`{"@context": "https://example.org/context", "name": "Nina"}`),
		said(`{"@context": "https://example.org/context", "name": ["Nina", "Iason"]}`),
		said(`{"@context": "https://example.org/other", "name": "Nina"}`),
	}})
	if len(r.Failures) > 0 || len(r.Out[""]) != 3 {
		t.Fatalf("%v, %d documents of 3", r.Failures, len(r.Out[""]))
	}
	for i, whole := range []bool{true, false, false} {
		if g := r.Out[""][i].(*webrace.Document).Graph; g.Whole != whole {
			t.Errorf("document %d: %+v", i, g)
		}
	}
	if r.Counters["exceeded_triples"] != 1 {
		t.Errorf("counters: %v", r.Counters)
	}
}

func TestLenientIsAnOption(t *testing.T) {
	t.Parallel()
	said := &webrace.Document{
		URL: "http://example.org/a", Outcome: webrace.Fetched, MediaType: "application/ld+json", Body: []byte(`{"http://example.org/p": ["Nina",]}`),
	}
	for _, lenient := range []bool{false, true} {
		o := defaults()
		o.Lenient = lenient
		r := stagetest.Try(t, stagetest.Case{Type: "transform", Options: o, Inputs: []any{said}})
		if len(r.Failures) > 0 || len(r.Out[""]) != 1 {
			t.Fatalf("%v, %d documents", r.Failures, len(r.Out[""]))
		}
		if g := r.Out[""][0].(*webrace.Document).Graph; g.Whole != lenient || len(g.Problems) != 1 {
			t.Errorf("lenient %v: %+v", lenient, g)
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	for option, set := range map[string]func(*Options){
		"max_triples": func(o *Options) { o.MaxTriples = 0 }, "max_depth": func(o *Options) { o.MaxDepth = -1 },
		"timeout": func(o *Options) { o.Timeout = 0 },
	} {
		o := defaults()
		set(&o)
		fault, _ := o.Validate().(*pipeline.OptionError)
		if fault == nil || fault.Option != option {
			t.Errorf("%s: %v", option, fault)
		}
	}
}
