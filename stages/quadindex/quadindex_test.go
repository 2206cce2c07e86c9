package quadindex

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

func said(url string, version int, objects ...webrace.Term) *webrace.Document {
	g := &webrace.Graph{Whole: true}
	for _, o := range objects {
		g.Triples = append(g.Triples, webrace.Triple{Subject: webrace.Term("<" + url + ">"), Predicate: "<http://example.org/p>", Object: o})
	}
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Version: version, MediaType: "text/turtle", Body: []byte("…"), Graph: g,
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(version) * time.Hour), Header: http.Header{},
	}
}

func directory(t *testing.T) (*pipeline.Resources, *quads.Store) {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	store, err := dir.Quads()
	if err != nil {
		t.Fatal(err)
	}
	return resources, store
}

func TestConformance(t *testing.T) {
	resources, store := directory(t)
	stagetest.Run(t, stagetest.Case{Type: "quad-index", Resources: resources, Inputs: []any{
		said("http://example.org/a", 1, `"x"`), said("http://example.org/b", 1),
	}, Effect: func() (any, error) {
		a, _ := quadsOf(t, store, "http://example.org/a")
		b, _ := quadsOf(t, store, "http://example.org/b")
		return []quads.Record{a, b}, nil
	}})
}

// quadsOf counts the quads of a context; ok is whether anything is known of it.
func quadsOf(t *testing.T, store *quads.Store, url string) (r quads.Record, ok bool) {
	t.Helper()
	now, err := store.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	if r, ok, err = now.Context(url); err != nil {
		t.Fatal(err)
	}
	return r, ok
}

func TestTheStoreSaysWhatDocumentsSay(t *testing.T) {
	t.Parallel()
	resources, store := directory(t)
	torn := said("http://example.org/a", 3, `"w"`)
	torn.Graph.Whole, torn.Graph.Problems = false, []string{"line 2, column 5: no end"}
	private := said("http://example.org/private", 1, `"x"`)
	private.Secret = "members"
	posted := said("http://example.org/posted#POST-3fa9c21b7d20e4a18c55", 1, `"x"`)
	again := &webrace.Document{URL: "http://example.org/a", Outcome: webrace.NotModified}
	r := stagetest.Try(t, stagetest.Case{Type: "quad-index", Resources: resources, Inputs: []any{
		said("http://example.org/a", 1, `"x"`, `"y"`), said("http://example.org/a", 2, `"y"`, `"z"`), torn, private, posted, again,
		said("http://example.org/silent", 1), said("http://example.org/a", 1, `"x"`),
	}})
	if len(r.Failures) > 0 || len(r.Out[""]) != 8 {
		t.Fatalf("%v, %d documents of 8", r.Failures, len(r.Out[""]))
	}
	a, ok := quadsOf(t, store, "http://example.org/a")
	if !ok || a.Quads != 2 || a.Version != 2 || len(a.Problems) != 1 {
		t.Errorf("of a document that changed and was torn: %+v", a)
	}
	if silent, ok := quadsOf(t, store, "http://example.org/silent"); !ok || silent.Quads != 0 {
		t.Errorf("of one that says nothing: %+v", silent)
	}
	for _, url := range []string{private.URL, posted.URL} {
		if hidden, ok := quadsOf(t, store, url); ok {
			t.Errorf("of one that is not for all: %+v", hidden)
		}
	}
	for counter, want := range map[string]int64{"added": 3, "removed": 1, "kept": 1, "private": 2, "unchanged": 1, "older": 1} {
		if n := r.Counters[counter]; n != want {
			t.Errorf("%s is %d, want %d", counter, n, want)
		}
	}
}

// TestWhatIsNotIndexedIsFetchedAgain has documents of which the server said that they were not modified: one of which
// nothing is indexed, and one of which that is an older version.
func TestWhatIsNotIndexedIsFetchedAgain(t *testing.T) {
	t.Parallel()
	resources, _ := directory(t)
	r := stagetest.Try(t, stagetest.Case{Type: "quad-index", Resources: resources, Inputs: []any{
		&webrace.Document{URL: "http://example.org/a", Outcome: webrace.NotModified, Version: 1},
		said("http://example.org/b", 3, `"x"`),
		&webrace.Document{URL: "http://example.org/b", Outcome: webrace.NotModified, Version: 3},
		&webrace.Document{URL: "http://example.org/b", Outcome: webrace.NotModified, Version: 4},
	}})
	if len(r.Failures) != 2 || !errors.Is(r.Failures[0], webrace.ErrNotStored) || !errors.Is(r.Failures[1], webrace.ErrNotStored) || len(r.Out[""]) != 2 {
		t.Errorf("%v, %d documents", r.Failures, len(r.Out[""]))
	}
}

// TestBlankNodesAreOfTheirDocument has graphs as other programs give them: blank nodes of two documents with one label.
func TestBlankNodesAreOfTheirDocument(t *testing.T) {
	t.Parallel()
	resources, store := directory(t)
	a, b := said("http://example.org/a", 1, `"x"`, "_:b0"), said("http://example.org/b", 1, `"y"`, "_:b0")
	for _, d := range []*webrace.Document{a, b} {
		d.Graph.Triples[0].Subject = "_:b0"
	}
	own := said("http://example.org/c", 1, webrace.Term("_:"+quads.BlankPrefix("http://example.org/c")+"0"))
	r := stagetest.Try(t, stagetest.Case{Type: "quad-index", Resources: resources, Inputs: []any{a, b, own}})
	if len(r.Failures) > 0 || a.Graph.Triples[0].Subject != "_:b0" {
		t.Fatalf("%v, and the graph became %v", r.Failures, a.Graph.Triples)
	}
	now, err := store.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	var text strings.Builder
	if err := now.Export(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	nodes := map[string]map[webrace.Term]bool{}
	for q, err := range rdf.Parse(t.Context(), strings.NewReader(text.String()), rdf.NQuads, rdf.Options{KeepLabels: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, term := range []webrace.Term{q.Subject, q.Object} {
			if graph := rdf.Value(q.Graph); graph != quads.ProvenanceGraph && rdf.KindOf(term) == rdf.Blank {
				if nodes[graph] == nil {
					nodes[graph] = map[webrace.Term]bool{}
				}
				nodes[graph][term] = true
			}
		}
	}
	for _, d := range []*webrace.Document{a, b, own} {
		if len(nodes[d.URL]) != 1 {
			t.Errorf("%s has the blank nodes %v", d.URL, nodes[d.URL])
		}
		for node := range nodes[d.URL] {
			if !strings.HasPrefix(rdf.Value(node), quads.BlankPrefix(d.URL)) {
				t.Errorf("%s has the blank node %s", d.URL, node)
			}
		}
	}
	if !nodes[own.URL][own.Graph.Triples[0].Object] {
		t.Errorf("a blank node of the document got another label: %v", nodes[own.URL])
	}
}

func TestItFollowsTransform(t *testing.T) {
	t.Parallel()
	resources, _ := directory(t)
	unread := said("http://example.org/a", 1)
	unread.Graph = nil
	r := stagetest.Try(t, stagetest.Case{Type: "quad-index", Resources: resources, Inputs: []any{unread}})
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error(), "no stage has read") {
		t.Errorf("%v", r.Failures)
	}
}
