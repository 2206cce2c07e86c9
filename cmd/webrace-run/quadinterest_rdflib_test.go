package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// askRdflib answers each question, a query of a document, by the solutions: each the values of its variables.
const askRdflib = `
import json, logging, sys
logging.disable(logging.CRITICAL)
import rdflib
rdflib.NORMALIZE_LITERALS = False
prefixes = {"schema": "http://schema.org/", "xsd": "http://www.w3.org/2001/XMLSchema#"}
answers = []
for q in json.load(sys.stdin):
    g = rdflib.Graph()
    g.parse(data=q["Body"], format=q["Format"], publicID=q["URL"])
    answers.append([[str(v) for v in row] for row in g.query("SELECT * " + q["Rule"], initNs=prefixes)])
json.dump(answers, sys.stdout)
`

// question is what a rule of an owner is at a visit.
type question struct{ Owner, URL, Rule, Format, Body string }

// quadOracle has rdflib tell whom the rules of owners concern, in the documents that it can read.
type quadOracle struct {
	*world
	rules  []question // without the documents
	asked  [][]question
	alerts []map[string]bool // by owner and URL, at each visit
}

// watch adds a rule of an owner about a document; rdflib reads no Microdata, and no RDFa.
func (o *quadOracle) watch(owner, path, rule string) {
	format := map[string]string{"/jsonld": "json-ld", "/shop.ttl": "turtle", "/shop.rdf": "xml"}[path]
	if format != "" {
		o.rules = append(o.rules, question{Owner: owner, URL: o.URL + path, Rule: rule, Format: format})
	}
}

// visit takes down the documents as they are.
func (o *quadOracle) visit() {
	o.t.Helper()
	asked := slices.Clone(o.rules)
	for i, q := range asked {
		answer, err := http.Get(q.URL)
		if err != nil {
			o.t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err := answer.Body.Close(); err != nil {
			o.t.Fatal(err)
		}
		if err != nil {
			o.t.Fatal(err)
		}
		asked[i].Body = string(body)
		if q.Format == "json-ld" {
			_, script, _ := strings.Cut(string(body), "ld+json\">")
			script, _, _ = strings.Cut(script, "</script>")
			asked[i].Body = strings.Replace(script, `"https://schema.org"`, `{"@vocab": "http://schema.org/"}`, 1) // rdflib would fetch it
		}
	}
	o.asked, o.alerts = append(o.asked, asked), append(o.alerts, map[string]bool{})
}

// alert takes down who is told at this visit.
func (o *quadOracle) alert(owner, url string) { o.alerts[len(o.alerts)-1][owner+" "+url] = true }

// compare fails the test where somebody is told who has no solution that is new since the visit before, or not told who
// has one.
func (o *quadOracle) compare(t *testing.T) {
	python := testutil.Python(t, "rdflib", "python3-rdflib")
	given, err := json.Marshal(slices.Concat(o.asked...))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "-W", "ignore", "-c", askRdflib)
	var faults bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(given), &faults
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &faults)
	}
	var answers [][][]string
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(o.rules)*len(o.asked) {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	found := 0
	for visit, asked := range o.asked {
		for i, q := range asked {
			concerned := false
			for _, solution := range answers[visit*len(asked)+i] {
				found++
				same := func(old []string) bool { return slices.Equal(old, solution) }
				concerned = concerned || visit == 0 || !slices.ContainsFunc(answers[(visit-1)*len(asked)+i], same)
			}
			if told := o.alerts[visit][q.Owner+" "+q.URL]; told != concerned {
				t.Errorf("visit %d: %s is told of %s: %v; to rdflib something is new: %v", visit+1, q.Owner, q.URL, told, concerned)
			}
		}
	}
	if found < 3*len(o.asked) {
		t.Errorf("rdflib finds %d solutions in all", found)
	}
}
