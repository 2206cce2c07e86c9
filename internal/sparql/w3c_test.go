package sparql_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/sparql/results"
)

var suites = map[string]int{
	"sparql11/syntax-query": 94, "sparql11/bind": 10, "sparql11/bindings": 11, "sparql11/exists": 6,
	"sparql11/aggregates": 47, "sparql11/construct": 7, "sparql11/project-expression": 7, "sparql11/json-res": 4,
	"sparql11/csv-tsv-res": 6,

	"sparql10/syntax-sparql1": 81, "sparql10/syntax-sparql2": 53, "sparql10/syntax-sparql3": 51,
	"sparql10/syntax-sparql4": 12, "sparql10/syntax-sparql5": 2, "sparql10/basic": 27, "sparql10/triple-match": 4,
	"sparql10/optional": 7, "sparql10/bound": 1, "sparql10/distinct": 11, "sparql10/reduced": 2, "sparql10/regex": 21,
	"sparql10/solution-seq": 13, "sparql10/ask": 4, "sparql10/construct": 5, "sparql10/boolean-effective-value": 7,
	"sparql10/i18n": 5, "sparql10/expr-builtin": 25, "sparql10/expr-equals": 15, "sparql10/type-promotion": 30,
}

const (
	qt = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
	rs = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
)

func TestW3C(t *testing.T) {
	t.Parallel()
	for name, want := range suites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := testutil.W3CSuite(t, "rdf-tests/sparql/"+name)
			passed := 0
			for _, c := range testutil.W3CManifest(t, filepath.Join(dir, "manifest.ttl")) {
				if problem := runCase(t, c); problem != "" {
					t.Errorf("%s: %s", c.Name, problem)
				} else {
					passed++
				}
			}
			if passed != want {
				t.Errorf("%d tests passed, want %d", passed, want)
			}
		})
	}
}

// runCase returns what is wrong.
func runCase(t *testing.T, c testutil.W3CCase) string {
	file := c.Action
	if rdf.KindOf(file) == rdf.Blank {
		file = c.Graph.One(c.Action, qt+"query")
	}
	query, err := sparql.Parse(string(testutil.W3CRead(t, file)), rdf.Value(file))
	switch kind := c.Type[strings.LastIndexByte(c.Type, '#')+1:]; {
	case strings.HasPrefix(kind, "NegativeSyntaxTest"):
		if err == nil {
			return "a wrong query is read"
		}
		return ""
	case err != nil:
		return err.Error()
	case strings.HasPrefix(kind, "PositiveSyntaxTest"):
		return ""
	}
	data := sparql.NewMemory(nil)
	for _, g := range c.Graph.All(c.Action, qt+"data") {
		load(t, data, g, "")
	}
	for _, g := range c.Graph.All(c.Action, qt+"graphData") {
		load(t, data, g, g)
		data.AddGraph(g)
	}
	answer, err := query.Run(t.Context(), data, sparql.Limits{})
	if err != nil {
		return err.Error()
	}
	switch answer.Form {
	case sparql.Ask:
		if want := strings.Contains(string(testutil.W3CRead(t, c.Result)), "true"); want != answer.Boolean {
			return fmt.Sprintf("is %v", answer.Boolean)
		}
		return ""
	case sparql.Select:
		return compareSolutions(t, c, answer)
	default:
		var got []rdf.Quad
		for triple, err := range answer.Triples() {
			if err != nil {
				return err.Error()
			}
			got = append(got, rdf.Quad{Triple: triple})
		}
		return testutil.Isomorphic(readTurtle(t, c.Result, "r"), got)
	}
}

func readTurtle(t *testing.T, file webrace.Term, blank string) (quads []rdf.Quad) {
	t.Helper()
	body := strings.NewReader(string(testutil.W3CRead(t, file)))
	for q, err := range rdf.Parse(t.Context(), body, rdf.Turtle, rdf.Options{Base: rdf.Value(file), Blank: blank}) {
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		quads = append(quads, q)
	}
	return quads
}

func load(t *testing.T, data *sparql.Memory, file, graph webrace.Term) {
	t.Helper()
	for _, q := range readTurtle(t, file, fmt.Sprintf("d%d", len(graph))) {
		q.Graph = graph
		data.Add(q)
	}
}

// solution is a solution by names of variables.
type solution map[string]webrace.Term

// formats are those of results by the extensions of files.
var formats = map[string]results.Format{
	".srx": results.XML, ".srj": results.JSON, ".csv": results.CSV, ".tsv": results.TSV,
}

// compareSolutions compares what was computed, written in the format of the file and read back, with the file.
func compareSolutions(t *testing.T, c testutil.W3CCase, computed *sparql.Results) string {
	format, isFormat := formats[filepath.Ext(rdf.Value(c.Result))]
	body := &bytes.Buffer{}
	w, err := results.NewWriter(body, cmp.Or(format, results.JSON), computed.Vars)
	if err != nil {
		return err.Error()
	}
	for row, err := range computed.Solutions() {
		if err != nil {
			return err.Error()
		}
		if err := w.Write(row); err != nil {
			return err.Error()
		}
	}
	if err := w.Close(); err != nil {
		return err.Error()
	}
	got := readResults(t, body.Bytes(), cmp.Or(format, results.JSON))
	if !isFormat {
		want, ordered := readResultSet(readTurtle(t, c.Result, "r"))
		for i := range got {
			if ordered {
				got[i]["·"] = rdf.NewTyped(fmt.Sprint(i+1), rdf.XSDInteger)
			}
		}
		return testutil.Isomorphic(asQuads(want), asQuads(got))
	}
	want := readResults(t, testutil.W3CRead(t, c.Result), format)
	if c.Graph.One(c.Node, testutil.ManifestNS+"resultCardinality") == rdf.NewIRI(testutil.ManifestNS+"LaxCardinality") {
		want, got = distinct(want), distinct(got)
	}
	return testutil.Isomorphic(asQuads(want), asQuads(got))
}

func readResults(t *testing.T, body []byte, format results.Format) (all []solution) {
	t.Helper()
	read, err := testutil.ReadSolutions(t, body, string(format))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range read.Rows {
		s := solution{}
		for i, term := range row {
			if term != "" {
				s[read.Vars[i]] = term
			}
		}
		all = append(all, s)
	}
	return all
}

// asQuads writes solutions as a graph, so that they compare by the isomorphism of graphs: as a bag, since each is a
// node of its own.
//
// Numbers compare by their values: some results have them in another form than the data that they come from.
func asQuads(all []solution) (quads []rdf.Quad) {
	for i, s := range all {
		node := rdf.NewBlank(fmt.Sprintf("s%d", i))
		quads = append(quads, rdf.Quad{Triple: webrace.Triple{Subject: node, Predicate: "<p:is>", Object: "<p:solution>"}})
		for name, term := range s {
			quads = append(quads, rdf.Quad{Triple: webrace.Triple{Subject: node, Predicate: rdf.NewIRI("v:" + name), Object: number(term)}})
		}
	}
	return quads
}

func number(t webrace.Term) webrace.Term {
	if f, err := strconv.ParseFloat(rdf.Value(t), 64); err == nil && rdf.KindOf(t) == rdf.Literal {
		return rdf.NewTyped(strconv.FormatFloat(f, 'g', -1, 64), rdf.Datatype(t))
	}
	return t
}

func distinct(all []solution) (once []solution) {
	for _, s := range all {
		if !slices.ContainsFunc(once, func(o solution) bool { return maps.Equal(o, s) }) {
			once = append(once, s)
		}
	}
	return once
}

// readResultSet reads solutions by the vocabulary of result sets, which may give them an order.
func readResultSet(quads []rdf.Quad) (all []solution, ordered bool) {
	one := func(node webrace.Term, name string) webrace.Term {
		for _, q := range quads {
			if q.Subject == node && q.Predicate == rdf.NewIRI(rs+name) {
				return q.Object
			}
		}
		return ""
	}
	for _, q := range quads {
		if q.Predicate != rdf.NewIRI(rs+"solution") {
			continue
		}
		s := solution{}
		for _, b := range quads {
			if b.Subject == q.Object && b.Predicate == rdf.NewIRI(rs+"binding") {
				s[rdf.Value(one(b.Object, "variable"))] = one(b.Object, "value")
			}
		}
		if index := one(q.Object, "index"); index != "" {
			s["·"], ordered = index, true
		}
		all = append(all, s)
	}
	return all, ordered
}
