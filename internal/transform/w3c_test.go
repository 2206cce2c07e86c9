package transform

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/testutil"
)

// quadsOf returns a graph as the comparison wants it.
func quadsOf(triples []webrace.Triple) (quads []rdf.Quad) {
	for _, t := range triples {
		quads = append(quads, rdf.Quad{Triple: t})
	}
	return quads
}

// turtle reads what is expected.
func turtle(t *testing.T, text []byte, base string) (quads []rdf.Quad) {
	t.Helper()
	for q, err := range rdf.Parse(t.Context(), bytes.NewReader(text), rdf.Turtle, rdf.Options{Base: base}) {
		if err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		quads = append(quads, q)
	}
	return quads
}

// suiteVocabularies reads the registry of the suite.
func suiteVocabularies(t *testing.T, file string) map[string]Vocabulary {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var registry map[string]json.RawMessage
	if err := json.Unmarshal(text, &registry); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]Vocabulary)
	for prefix, entry := range registry {
		var v struct {
			Properties map[string]map[string]string
		}
		if strings.HasPrefix(prefix, "@") {
			continue
		}
		if err := json.Unmarshal(entry, &v); err != nil {
			t.Fatal(err)
		}
		all[prefix] = Vocabulary{Properties: make(map[string][]string)}
		for name, relations := range v.Properties {
			for _, other := range relations {
				all[prefix].Properties[prefix+name] = append(all[prefix].Properties[prefix+name], other)
			}
		}
	}
	return all
}

// TestW3CMicrodata runs the suite of Microdata to RDF with its registry: those that have a result, by isomorphism. One
// has none, of an item within what it refers to: the page is read, and the problem told with its place.
func TestW3CMicrodata(t *testing.T) {
	t.Parallel()
	dir := testutil.W3CSuite(t, "microdata-rdf/tests")
	vocabularies := suiteVocabularies(t, filepath.Join(dir, "test-registry.json"))
	passed := 0
	manifest := testutil.W3CManifest(t, filepath.Join(dir, "manifest.ttl"))[0].Graph // whose entries are no list
	entries := manifest.All(rdf.NewIRI(testutil.FileIRI(filepath.Join(dir, "manifest.ttl"))), testutil.ManifestNS+"entries")
	for _, c := range entries {
		file := filepath.Base(rdf.Value(manifest.One(c, testutil.ManifestNS+"action")))
		result := manifest.One(c, testutil.ManifestNS+"result")
		url := "http://w3c.github.io/microdata-rdf/tests/" + file
		page, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		g, err := Document(t.Context(), page, "text/html", url, Options{Vocabularies: vocabularies})
		if err != nil {
			t.Fatal(err)
		}
		if result == "" {
			if len(g.Problems) != 1 || !strings.Contains(g.Problems[0], "line 12, column 11") {
				t.Errorf("%s: problems %q", file, g.Problems)
			} else {
				passed++
			}
			continue
		}
		want, err := os.ReadFile(filepath.Join(dir, filepath.Base(rdf.Value(result))))
		if err != nil {
			t.Fatal(err)
		}
		if d := testutil.Isomorphic(turtle(t, want, url), quadsOf(g.Triples)); d != "" || !g.Whole || len(g.Problems) > 0 {
			t.Errorf("%s: %s\nwhole %v, problems %q", file, d, g.Whole, g.Problems)
			continue
		}
		passed++
	}
	t.Logf("%d of 84 passed", passed)
	if passed != 84 {
		t.Errorf("%d of 84 passed", passed)
	}
}

// rdfaCase is an entry of the manifest of RDFa's suite.
type rdfaCase struct {
	Num             string
	QueryParam      string
	ExpectedResults bool
	HostLanguages   []string
	Versions        []string
}

// rdfaTestVocabulary is what http://rdfa.info/vocabs/rdfa-test states, as far as the suite asks.
func rdfaTestVocabulary() map[string]Vocabulary {
	const ns = "http://rdfa.info/vocabs/rdfa-test#"
	return map[string]Vocabulary{ns: {Properties: map[string][]string{
		ns + "subProp": {ns + "baseProp", ns + "eqProp"}, ns + "eqProp": {ns + "baseProp"}, ns + "baseProp": {ns + "eqProp"},
	}}}
}

// TestW3CRDFa runs the suite of RDFa 1.1 Lite in HTML5: its queries, and where it also has the whole graph in Turtle,
// that by isomorphism.
func TestW3CRDFa(t *testing.T) {
	t.Parallel()
	root := testutil.W3CSuite(t, "rdfa/test-suite")
	manifest, err := os.ReadFile(filepath.Join(root, "manifest.jsonld"))
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Graph []rdfaCase `json:"@graph"`
	}
	if err := json.Unmarshal(manifest, &cases); err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, c := range cases.Graph {
		if slices.Contains(c.Versions, "rdfa1.1-lite") && slices.Contains(c.HostLanguages, "html5") && c.run(t, root) {
			passed++
		}
	}
	t.Logf("%d of 54 passed", passed)
	if passed != 54 {
		t.Errorf("%d of 54 passed", passed)
	}
}

// run returns whether a case passes; where its files are not there, it is none of the suite.
func (c rdfaCase) run(t *testing.T, root string) bool {
	const folder = "test-cases/rdfa1.1-lite/html5/"
	file := filepath.Join(root, filepath.FromSlash(folder), c.Num)
	text, err := os.ReadFile(file + ".html")
	if err != nil {
		return false
	}
	query, err := os.ReadFile(file + ".sparql")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://rdfa.info/test-suite/" + folder + c.Num + ".html"
	o := Options{Roles: true}
	if c.QueryParam == "vocab_expansion=true" {
		o.Vocabularies = rdfaTestVocabulary()
	}
	var got []webrace.Triple
	if c.QueryParam == "rdfagraph=processor" {
		got = processorGraph(t, text, url)
	} else {
		g, err := Document(t.Context(), text, "text/html", url, o)
		if err != nil || !g.Whole || len(g.Problems) > 0 {
			t.Errorf("%s: %+v, %v", c.Num, g, err)
			return false
		}
		got = g.Triples
	}
	if answer := ask(t, string(query), got); answer != c.ExpectedResults {
		t.Errorf("%s: the answer is %v of\n%v", c.Num, answer, got)
		return false
	}
	broken := map[string]bool{"0281": true, "0282": true} // two brackets around an IRI, which is another page's
	if want, err := os.ReadFile(file + ".ttl"); err == nil && !broken[c.Num] && c.ExpectedResults && c.QueryParam != "rdfagraph=processor" {
		if d := testutil.Isomorphic(turtle(t, want, url), quadsOf(got)); d != "" {
			t.Errorf("%s: %s", c.Num, d)
			return false
		}
	}
	return true
}

// ask answers a query by our own engine.
func ask(t *testing.T, text string, graph []webrace.Triple) bool {
	t.Helper()
	query, err := sparql.Parse(text, "")
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	results, err := query.Run(t.Context(), sparql.NewMemory(graph), sparql.Limits{})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return results.Boolean
}

// processorGraph returns what the specification has a processor warn of, as its processor graph states it.
func processorGraph(t *testing.T, text []byte, url string) (graph []webrace.Triple) {
	base, err := rdf.ParseBase(url)
	if err != nil {
		t.Fatal(err)
	}
	tr := &transformation{sink: newSink(Limits{}.withDefaults(), url, Options{TwoSchemaOrgs: true}), url: url, base: base}
	tr.ctx = t.Context()
	p := &page{transformation: tr, text: text, base: base, baseIRI: url, textLeft: leastText}
	if err := p.parse(); err != nil {
		t.Fatal(err)
	}
	err = p.rdfaWarning(func(class string) {
		graph = append(graph, webrace.Triple{Subject: tr.newBlank(), Predicate: typeTerm, Object: rdf.NewIRI(rdfaNS + class)})
	})
	if err != nil {
		t.Fatal(err)
	}
	return graph
}
