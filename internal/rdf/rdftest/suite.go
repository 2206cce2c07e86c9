package rdftest

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Suite returns a folder of the W3C's test suites, as "rdf-tests/rdf/rdf11/rdf-turtle": in the folder that the variable
// WEBRACE_W3C names, else in shared/w3c beside the repository. Without it the test is skipped.
func Suite(t testing.TB, path string) (dir string) {
	t.Helper()
	root := os.Getenv("WEBRACE_W3C")
	if root == "" {
		_, file, _, _ := runtime.Caller(0)
		root = filepath.Join(filepath.Dir(file), "../../../../shared/w3c")
	}
	dir, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the W3C suite %s is not there (WEBRACE_W3C=DIR names the folder of the suites): %v", path, err)
	}
	return dir
}

// Case is a test of a manifest.
type Case struct {
	Name  string       // mf:name
	Type  string       // the IRI of its class, as http://www.w3.org/ns/rdftest#TestTurtleEval
	Node  webrace.Term // the test in Graph
	Graph *Graph       // the whole manifest

	// Action and Result are files, by IRIs that File understands, or nodes of Graph that have more. Result may be empty.
	Action, Result webrace.Term

	assumed string
}

// Graph is what a manifest says, to be asked for what a suite has beside names and files.
type Graph struct {
	Quads []rdf.Quad
	index map[[2]webrace.Term][]webrace.Term
}

// All returns the objects of a subject and a predicate, which is an IRI.
func (g *Graph) All(subject webrace.Term, predicate string) []webrace.Term {
	return g.index[[2]webrace.Term{subject, rdf.NewIRI(predicate)}]
}

// One returns the first of them; empty if there is none.
func (g *Graph) One(subject webrace.Term, predicate string) webrace.Term {
	if all := g.All(subject, predicate); len(all) > 0 {
		return all[0]
	}
	return ""
}

// List returns the members of an RDF collection.
func (g *Graph) List(head webrace.Term) []webrace.Term {
	var members []webrace.Term
	for head != "" && head != rdf.NewIRI(rdf.Nil) {
		members = append(members, g.One(head, rdf.First))
		head = g.One(head, rdf.Rest)
	}
	return members
}

// MF is the namespace of manifests.
const MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"

// Manifest reads a manifest in Turtle: its entries, in order.
func Manifest(t testing.TB, file string) []Case {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	base := FileIRI(file)
	g := &Graph{index: map[[2]webrace.Term][]webrace.Term{}}
	for q, err := range rdf.Parse(t.Context(), f, rdf.Turtle, rdf.Options{Base: base}) {
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		g.Quads = append(g.Quads, q)
		key := [2]webrace.Term{q.Subject, q.Predicate}
		g.index[key] = append(g.index[key], q.Object)
	}
	manifest := rdf.NewIRI(base)
	for _, q := range g.Quads { // some manifests are blank nodes
		if q.Predicate == rdf.NewIRI(MF+"entries") {
			manifest = q.Subject
		}
	}
	var cases []Case
	for _, node := range g.List(g.One(manifest, MF+"entries")) {
		cases = append(cases, Case{
			Name: rdf.Value(g.One(node, MF+"name")), Type: rdf.Value(g.One(node, rdf.Type)), Node: node, Graph: g,
			Action: g.One(node, MF+"action"), Result: g.One(node, MF+"result"),
			assumed: rdf.Value(g.One(manifest, MF+"assumedTestBase")),
		})
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no entries", file)
	}
	return cases
}

// FileIRI returns the IRI of a file.
func FileIRI(file string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}

// File returns the path of a file that a manifest names by its IRI.
func File(t testing.TB, iri webrace.Term) string {
	t.Helper()
	u, err := url.Parse(rdf.Value(iri))
	if err != nil || u.Scheme != "file" {
		t.Fatalf("%s is not the IRI of a file", iri)
	}
	return filepath.FromSlash(u.Path)
}

// Read returns what a file holds that a manifest names by its IRI.
func Read(t testing.TB, iri webrace.Term) []byte {
	t.Helper()
	body, err := os.ReadFile(File(t, iri))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Base returns the IRI that a file of the test has for those who read it: below mf:assumedTestBase if the manifest has
// one, else that of the file.
func (c Case) Base(file webrace.Term) string {
	if c.assumed == "" {
		return rdf.Value(file)
	}
	manifest := ""
	for _, q := range c.Graph.Quads {
		if q.Predicate == rdf.NewIRI(MF+"assumedTestBase") {
			manifest = rdf.Value(q.Subject)
		}
	}
	folder := manifest[:strings.LastIndexByte(manifest, '/')+1]
	return c.assumed + strings.TrimPrefix(rdf.Value(file), folder)
}
