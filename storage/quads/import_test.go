package quads

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// exported returns the sorted lines of an export.
func exported(t testing.TB, s *Store) []string {
	t.Helper()
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	var out strings.Builder
	must(t, snapshot.Export(t.Context(), &out))
	return slices.Sorted(strings.Lines(out.String()))
}

func parsed(t testing.TB, lines []string) iter.Seq2[rdf.Quad, error] {
	return rdf.Parse(t.Context(), strings.NewReader(strings.Join(lines, "")), rdf.NQuads, rdf.Options{KeepLabels: true})
}

// What is exported, in whatever order, imported elsewhere over other things and exported again is the same.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(8) {
		rng := rand.New(rand.NewPCG(seed, 6))
		s, _ := filledRandomly(t, seed)
		for n := range 3 { // blank nodes as documents have them
			url := fmt.Sprint("http://blank.example/", n)
			g := &webrace.Graph{Whole: true}
			for range 6 {
				triple := randomTriple(rng)
				triple.Subject = rdf.NewBlank(fmt.Sprint(BlankPrefix(url), rng.IntN(4)))
				g.Triples = append(g.Triples, triple)
			}
			durably(t, s, Context{URL: url, Version: 1, At: someTime}, g)
		}
		for url := range contextURLs(t, s) { // their labels are no documents' own
			if strings.HasPrefix(url, "http://example.org/") {
				must(t, s.Remove(t.Context(), url))
				g := randomGraph(rng, 10)
				g.Whole = true
				g.Triples = slices.DeleteFunc(g.Triples, func(t webrace.Triple) bool { return rdf.KindOf(t.Subject) == rdf.Blank })
				durably(t, s, randomContextAt(rng, url), g)
			}
		}
		want := exported(t, s)
		shuffled := slices.Clone(want)
		if seed%2 == 1 {
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		}
		other := open(t, vfs.NewMem())
		for url := range contextURLs(t, s) {
			durably(t, other, Context{URL: url, Version: 9}, randomGraph(rng, 5))
		}
		done, err := other.Import(t.Context(), parsed(t, shuffled))
		must(t, err)
		if got := exported(t, other); !slices.Equal(got, want) {
			t.Fatalf("seed %d: exported\n%s\nimported and exported\n%s", seed, want, got)
		}
		sound(t, other)
		if done.Contexts != len(contextURLs(t, s)) || done.Ignored != 0 {
			t.Errorf("%+v", done)
		}
		again, err := other.Import(t.Context(), parsed(t, want))
		if must(t, err); again.Added+again.Removed > 0 {
			t.Errorf("to import the same again changes %+v", again)
		}
	}
}

// An export has all that a graph states in one piece, so that a reader needs to keep one at a time.
func TestExportIsGraphAfterGraph(t *testing.T) {
	t.Parallel()
	s, _ := filledRandomly(t, 3)
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	var out strings.Builder
	must(t, snapshot.Export(t.Context(), &out))
	over, graph, quads := map[webrace.Term]bool{}, webrace.Term(""), 0
	for q, err := range parsed(t, []string{out.String()}) {
		must(t, err)
		if quads++; q.Graph != graph {
			if over[q.Graph] {
				t.Fatalf("%s comes twice", q.Graph)
			}
			over[graph], graph = true, q.Graph
		}
	}
	if len(over) < 4 || quads != len(all(t, s)) {
		t.Errorf("%d graphs with %d quads", len(over), quads)
	}
}

func contextURLs(t testing.TB, s *Store) map[string]Record {
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	urls := map[string]Record{}
	for r, err := range snapshot.Contexts(t.Context(), "") {
		must(t, err)
		urls[r.URL] = r
	}
	return urls
}

func randomContextAt(rng *rand.Rand, url string) Context {
	c := randomContext(rng)
	c.URL = url
	return c
}

// What is in several parts of a large import is one context in the end, and what it said before is gone.
func TestImportInParts(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	s := open(t, vfs.NewMem())
	durably(t, s, Context{URL: "http://a.example/", Version: 3, At: someTime}, &webrace.Graph{Whole: true, Triples: []webrace.Triple{
		{Subject: "<http://gone.example/>", Predicate: "<http://p.example/>", Object: `"gone"`},
	}})
	const many = importPart + 500
	quads := func(yield func(rdf.Quad, error) bool) {
		for n := range many {
			graph := "<http://a.example/>"
			if n%2 == 1 {
				graph = "<http://b.example/>"
			}
			triple := webrace.Triple{Subject: "<http://s.example/>", Predicate: "<http://p.example/>", Object: rdf.NewTyped(fmt.Sprint(n/2), rdf.XSDInteger)}
			if !yield(rdf.Quad{Triple: triple, Graph: webrace.Term(graph)}, nil) {
				return
			}
		}
	}
	done, err := s.Import(t.Context(), quads)
	must(t, err)
	if done != (Imported{Contexts: 2, Added: many, Removed: 1}) {
		t.Errorf("%+v", done)
	}
	for url, r := range contextURLs(t, s) {
		if r.Quads != many/2 || !r.Imported || r.Version != 0 {
			t.Errorf("%s: %+v", url, r)
		}
	}
	sound(t, s)
}

// A context that a document replaces while it is imported states what the document states, and one that is removed
// nothing.
func TestAnImportGivesWayToDocuments(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	said := &webrace.Graph{Whole: true, Triples: []webrace.Triple{{Subject: "<http://s.example/>", Predicate: "<http://p.example/>", Object: `"now"`}}}
	c := Context{URL: "http://a.example/", Version: 7, At: someTime}
	done, err := s.Import(t.Context(), func(yield func(rdf.Quad, error) bool) {
		for n := range importPart + 500 {
			if n == importPart+100 {
				durably(t, s, c, said)
				must(t, s.Remove(t.Context(), "http://b.example/"))
			}
			triple := webrace.Triple{Subject: "<http://s.example/>", Predicate: "<http://p.example/>", Object: rdf.NewTyped(fmt.Sprint(n), rdf.XSDInteger)}
			yield(rdf.Quad{Triple: triple, Graph: webrace.Term([]string{"<http://a.example/>", "<http://b.example/>"}[n%2])}, nil)
		}
	})
	must(t, err)
	if done.Added != importPart {
		t.Errorf("%+v", done)
	}
	m := model{}
	m.replace(c, said)
	matches(t, s, m)
	sound(t, s)
}

// What cannot be imported is told of, and a document that comes later replaces what was imported.
func TestWhatIsNotImported(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	for _, line := range []string{
		"<http://a/> <http://b/> <http://c/> .\n",
		"<http://a/> <http://b/> <http://c/> _:g .\n",
		"<http://a/> <http://b/> <http://c/> <http://g/>\n",
	} {
		if done, err := s.Import(t.Context(), parsed(t, []string{"<http://a/> <http://b/> <http://c/> <http://g/> .\n", line})); err == nil || done != (Imported{}) {
			t.Errorf("%s: imported %+v, %v", line, done, err)
		}
	}
	if st, _ := s.Stats(); st.Contexts != 0 {
		t.Errorf("%+v", st)
	}
	done, err := s.Import(t.Context(), parsed(t, []string{
		"_:a <http://b/> _:a <http://g/> .\n",
		"_:a <http://b/> _:a <http://h/> .\n",
		"<http://g/> <http://www.w3.org/2002/07/owl#versionInfo> \"3\" <urn:webrace:provenance> .\n",
		"<http://g/> <http://purl.org/dc/terms/title> \"mine\" <urn:webrace:provenance> .\n",
		"<http://g/> <http://purl.org/dc/terms/modified> \"yesterday\" <urn:webrace:provenance> .\n",
		"<http://other/> <http://rdfs.org/ns/void#triples> \"4\"^^<http://www.w3.org/2001/XMLSchema#integer> <urn:webrace:provenance> .\n",
	}))
	must(t, err)
	if done != (Imported{Contexts: 2, Added: 2, Ignored: 3}) {
		t.Errorf("%+v", done)
	}
	if r := contextURLs(t, s)["http://g/"]; r.Version != 3 || r.Quads != 1 || !r.At.IsZero() {
		t.Errorf("%+v", r)
	}
	if lines := exported(t, s); len(lines) != 4 || strings.Fields(lines[2])[0] == strings.Fields(lines[3])[0] {
		t.Errorf("a blank node is in two contexts, or something was lost: %q", lines)
	}
	sound(t, s)
	if got := durably(t, s, Context{URL: "http://g/", Version: 1, At: someTime}, &webrace.Graph{Whole: true}); got.Removed != 1 {
		t.Errorf("a document does not replace what was imported: %+v", got)
	}
	broken := errors.New("broken")
	if _, err := s.Import(t.Context(), func(yield func(rdf.Quad, error) bool) { yield(rdf.Quad{}, broken) }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
