package testutil

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// W3CSuite returns a folder of the W3C's test suites, as "rdf-tests/rdf/rdf11/rdf-turtle": of the shared data "w3c".
// Without it the test is skipped.
func W3CSuite(t testing.TB, path string) (dir string) {
	t.Helper()
	dir = filepath.Join(Shared(t, "w3c"), filepath.FromSlash(path))
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the W3C suite %s is not there (WEBRACE_W3C=DIR names the folder of the suites): %v", path, err)
	}
	return dir
}

// repository returns the folder of go.mod, above the package that is tested. A program that is built with -trimpath, as
// .ci/run does, does not know where its source lies.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the package that is tested")
		}
		dir = parent
	}
}

// W3CCase is a test of a manifest.
type W3CCase struct {
	Name  string       // mf:name
	Type  string       // the IRI of its class, as http://www.w3.org/ns/rdftest#TestTurtleEval
	Node  webrace.Term // the test in Graph
	Graph *W3CGraph    // the whole manifest

	// Action and Result are files, by IRIs that W3CFile understands, or nodes of Graph that have more. Result may be empty.
	Action, Result webrace.Term

	assumed string
}

// W3CGraph is what a manifest states, to be asked for what a suite has beside names and files.
type W3CGraph struct {
	Quads []rdf.Quad
	index map[[2]webrace.Term][]webrace.Term
}

// All returns the objects of a subject and a predicate, which is an IRI.
func (g *W3CGraph) All(subject webrace.Term, predicate string) []webrace.Term {
	return g.index[[2]webrace.Term{subject, rdf.NewIRI(predicate)}]
}

// One returns the first of them; empty if there is none.
func (g *W3CGraph) One(subject webrace.Term, predicate string) webrace.Term {
	if all := g.All(subject, predicate); len(all) > 0 {
		return all[0]
	}
	return ""
}

// List returns the members of an RDF collection.
func (g *W3CGraph) List(head webrace.Term) []webrace.Term {
	var members []webrace.Term
	for head != "" && head != rdf.NewIRI(rdf.Nil) {
		members = append(members, g.One(head, rdf.First))
		head = g.One(head, rdf.Rest)
	}
	return members
}

// ManifestNS is the namespace of manifests.
const ManifestNS = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"

// W3CManifest reads a manifest in Turtle: its entries, in order.
func W3CManifest(t testing.TB, file string) []W3CCase {
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
	g := &W3CGraph{index: map[[2]webrace.Term][]webrace.Term{}}
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
		if q.Predicate == rdf.NewIRI(ManifestNS+"entries") {
			manifest = q.Subject
		}
	}
	var cases []W3CCase
	for _, node := range g.List(g.One(manifest, ManifestNS+"entries")) {
		cases = append(cases, W3CCase{
			Name: rdf.Value(g.One(node, ManifestNS+"name")), Type: rdf.Value(g.One(node, rdf.Type)), Node: node, Graph: g,
			Action: g.One(node, ManifestNS+"action"), Result: g.One(node, ManifestNS+"result"),
			assumed: rdf.Value(g.One(manifest, ManifestNS+"assumedTestBase")),
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

// W3CFile returns the path of a file that a manifest names by its IRI.
func W3CFile(t testing.TB, iri webrace.Term) string {
	t.Helper()
	u, err := url.Parse(rdf.Value(iri))
	if err != nil || u.Scheme != "file" {
		t.Fatalf("%s is not the IRI of a file", iri)
	}
	return filepath.FromSlash(u.Path)
}

// W3CRead returns what a file holds that a manifest names by its IRI.
func W3CRead(t testing.TB, iri webrace.Term) []byte {
	t.Helper()
	body, err := os.ReadFile(W3CFile(t, iri))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Base returns the IRI that a file of the test has for those who read it: below mf:assumedTestBase if the manifest has
// one, else that of the file.
func (c W3CCase) Base(file webrace.Term) string {
	if c.assumed == "" {
		return rdf.Value(file)
	}
	manifest := ""
	for _, q := range c.Graph.Quads {
		if q.Predicate == rdf.NewIRI(ManifestNS+"assumedTestBase") {
			manifest = rdf.Value(q.Subject)
		}
	}
	folder := manifest[:strings.LastIndexByte(manifest, '/')+1]
	return c.assumed + strings.TrimPrefix(rdf.Value(file), folder)
}
