package sparql

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// Namespaces of the manifest of the protocol's tests.
const (
	ht    = "http://www.w3.org/2011/http#"
	cnt   = "http://www.w3.org/2011/content#"
	ut    = "http://www.w3.org/2009/sparql/tests/test-update#"
	label = "http://www.w3.org/2000/01/rdf-schema#label"
)

// Of the protocol's tests, those of updates are left out: updates are refused, in whatever way they come.
func TestW3CProtocol(t *testing.T) {
	t.Parallel()
	dir := testutil.W3CSuite(t, "rdf-tests/sparql/sparql11/protocol")
	const most = 20
	ran := 0
	for _, c := range testutil.W3CManifest(t, filepath.Join(dir, "manifest.ttl")) {
		id := rdf.Value(c.Node)
		id = id[strings.LastIndexByte(id, '#')+1:]
		if strings.HasPrefix(id, "update_") {
			continue
		}
		isUpdate := strings.HasPrefix(id, "bad_update") || id == "bad_multiple_updates"
		if !isUpdate {
			ran++
		}
		t.Run(id, func(t *testing.T) {
			e := serving(t, defaults, dataOf(t, c))
			connection := c.Graph.One(c.Node, testutil.ManifestNS+"action")
			for _, r := range c.Graph.List(c.Graph.One(connection, ht+"requests")) {
				tryRequest(t, e, c.Graph, r)
			}
		})
	}
	if ran != most {
		t.Errorf("%d tests of queries ran, and there are %d", ran, most)
	}
}

// dataOf returns the graphs that a test presumes, as N-Quads.
func dataOf(t *testing.T, c testutil.W3CCase) string {
	var all strings.Builder
	for _, data := range c.Graph.All(c.Node, ut+"graphData") {
		name := rdf.Value(c.Graph.One(data, label))
		for line := range strings.Lines(string(testutil.W3CRead(t, c.Graph.One(data, ut+"graph")))) {
			if triple, ok := strings.CutSuffix(strings.TrimSpace(line), "."); ok {
				all.WriteString(triple + " <" + name + "> .\n")
			}
		}
	}
	return all.String()
}

// tryRequest sends a request of the manifest, and compares the answer with what is expected.
func tryRequest(t *testing.T, e *endpoint, g *testutil.W3CGraph, request webrace.Term) {
	t.Helper()
	one := func(node webrace.Term, property string) string { return rdf.Value(g.One(node, property)) }
	body := g.One(request, ht+"body")
	text := one(body, cnt+"chars")
	if one(body, cnt+"characterEncoding") == "UTF-16" {
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune(text)) {
			b.WriteByte(byte(unit >> 8))
			b.WriteByte(byte(unit))
		}
		text = b.String()
	}
	url := e.url + strings.TrimPrefix(one(request, ht+"absolutePath"), "/sparql/")
	r, err := http.NewRequestWithContext(t.Context(), one(request, ht+"methodName"), url, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range g.List(g.One(request, ht+"headers")) {
		r.Header.Set(one(h, ht+"fieldName"), one(h, ht+"fieldValue"))
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := g.One(request, ht+"resp")
	classes := g.All(want, testutil.ManifestNS+"expectedStatus")
	if !slices.ContainsFunc(classes, func(class webrace.Term) bool {
		return strings.HasSuffix(rdf.Value(class), "StatusCode"+string(rune('0'+answer.StatusCode/100))+"xx")
	}) {
		t.Fatalf("answered %d, %s; want %v", answer.StatusCode, got, classes)
	}
	media, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	if kinds := map[string][]string{
		"boolean": {"application/sparql-results+json", "application/sparql-results+xml"},
		"tabular": {"application/sparql-results+json", "application/sparql-results+xml", "text/csv", "text/tab-separated-values"},
		"RDF":     {"text/turtle", "application/n-triples", "application/rdf+xml"},
	}[one(want, testutil.ManifestNS+"expectedFormat")]; kinds != nil && !slices.Contains(kinds, media) {
		t.Errorf("it is %s, and may be %q", media, kinds)
	}
	if expected := one(want, testutil.ManifestNS+"expectedBoolean"); expected != "" {
		var result struct{ Boolean *bool }
		if err := json.Unmarshal(got, &result); err != nil || result.Boolean == nil || *result.Boolean != (expected == "true") {
			t.Errorf("answered %s, want %s", got, expected)
		}
	}
}

// What the vocabulary of service descriptions has (SPARQL 1.1 Service Description, section 3): its classes, and its
// properties with the classes of what they lead from and to. Of the names that it has for languages, features and
// formats, those are given that we use.
var (
	sdClasses    = []string{"Service", "Feature", "Language", "Function", "Aggregate", "EntailmentRegime", "EntailmentProfile", "GraphCollection", "Dataset", "Graph", "NamedGraph"}
	sdProperties = map[string][2]string{
		"endpoint": {"Service", ""}, "feature": {"Service", "Feature"}, "defaultEntailmentRegime": {"Service", "EntailmentRegime"},
		"defaultSupportedEntailmentProfile": {"Service", "EntailmentProfile"}, "entailmentRegime": {"NamedGraph", "EntailmentRegime"},
		"supportedEntailmentProfile": {"NamedGraph", "EntailmentProfile"}, "extensionFunction": {"Service", "Function"},
		"extensionAggregate": {"Service", "Aggregate"}, "languageExtension": {"Service", "Feature"}, "supportedLanguage": {"Service", "Language"},
		"propertyFeature": {"Service", "Feature"}, "defaultDataset": {"Service", "Dataset"}, "availableGraphs": {"Service", "GraphCollection"},
		"resultFormat": {"Service", ""}, "inputFormat": {"Service", ""}, "defaultGraph": {"Dataset", "Graph"},
		"namedGraph": {"GraphCollection", "NamedGraph"}, "name": {"NamedGraph", ""}, "graph": {"NamedGraph", "Graph"},
	}
	sdNames = map[string]string{"SPARQL11Query": "Language", "SPARQL10Query": "Language", "SPARQL11Update": "Language", "UnionDefaultGraph": "Feature"}
)

func TestW3CServiceDescription(t *testing.T) {
	t.Parallel()
	dir := testutil.W3CSuite(t, "rdf-tests/sparql/sparql11/service-description")
	e := serving(t, defaults, said)
	answer := get(t, e.url, "Accept", "text/turtle")
	var graph []rdf.Quad
	var wrong error
	for q, err := range rdf.Parse(t.Context(), strings.NewReader(answer.body), rdf.Turtle, rdf.Options{Base: e.url}) {
		if wrong = err; err == nil {
			graph = append(graph, q)
		}
	}
	ran := 0
	for _, c := range testutil.W3CManifest(t, filepath.Join(dir, "manifest.ttl")) {
		id := rdf.Value(c.Node)
		id = id[strings.LastIndexByte(id, '#')+1:]
		ran++
		t.Run(id, func(t *testing.T) {
			switch id {
			case "returns-rdf":
				if answer.status != 200 || wrong != nil || len(graph) == 0 || !strings.HasPrefix(answer.header.Get("Content-Type"), "text/turtle") {
					t.Errorf("%v: %+v", wrong, answer)
				}
			case "has-endpoint-triple":
				if !slices.ContainsFunc(graph, func(q rdf.Quad) bool {
					return q.Predicate == rdf.NewIRI(sd+"endpoint") && q.Object == rdf.NewIRI(e.url)
				}) {
					t.Errorf("no triple of it: %s", answer.body)
				}
			case "conforms-to-schema":
				for _, problem := range againstSchema(graph) {
					t.Error(problem)
				}
			default:
				t.Error("a test that is not known here")
			}
		})
	}
	if ran != 3 {
		t.Errorf("%d tests ran, and there are 3", ran)
	}
}

// againstSchema returns what of a description is not as the vocabulary has it.
func againstSchema(graph []rdf.Quad) (problems []string) {
	types := map[webrace.Term][]string{}
	note := func(node webrace.Term, class string) {
		if !slices.Contains(types[node], class) {
			types[node] = append(types[node], class)
		}
	}
	complain := func(parts ...string) { problems = append(problems, strings.Join(parts, " ")) }
	for _, q := range graph {
		class, ours := strings.CutPrefix(rdf.Value(q.Object), sd)
		if q.Predicate == rdf.NewIRI(rdf.Type) && ours {
			if !slices.Contains(sdClasses, class) {
				complain("there is no class", class)
			}
			note(q.Subject, class)
		}
		if class, ok := sdNames[class]; ok && ours {
			note(q.Object, class)
		}
	}
	for _, q := range graph {
		name, ours := strings.CutPrefix(rdf.Value(q.Predicate), sd)
		if !ours {
			continue
		}
		of, known := sdProperties[name]
		if !known {
			complain("there is no property", name)
			continue
		}
		if !slices.Contains(types[q.Subject], of[0]) {
			complain(string(q.Subject), "has", name, "and is no", of[0])
		}
		// What is named elsewhere may have its class there.
		if elsewhere := rdf.KindOf(q.Object) == rdf.IRI && !strings.HasPrefix(rdf.Value(q.Object), sd); of[1] != "" && !elsewhere && !slices.Contains(types[q.Object], of[1]) {
			complain(name, "leads to", string(q.Object), "which is no", of[1])
		}
		if of[1] == "" && rdf.KindOf(q.Object) != rdf.IRI {
			complain(name, "leads to", string(q.Object), "which has no IRI")
		}
	}
	return problems
}
