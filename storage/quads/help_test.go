package quads

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// open opens a store, which is closed when the test ends unless it is closed before.
func open(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open("quads", Options{FS: fs, Cache: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// durably replaces what a context states, and returns when that is durable.
func durably(t testing.TB, s *Store, c Context, g *webrace.Graph) Change {
	t.Helper()
	done := make(chan error, 1)
	change, err := s.Replace(c, g, func(err error) { done <- err })
	must(t, err)
	must(t, <-done)
	return change
}

// model is what a store should hold.
type model map[string]*said

// said is what one context states.
type said struct {
	Context
	triples  map[webrace.Triple]bool
	seen     int
	problems []string
	imported bool
}

// replace does what Replace promises, in the most simple way.
func (m model) replace(c Context, g *webrace.Graph) {
	was := m[c.URL]
	if was == nil {
		was = &said{Context: Context{URL: c.URL}, triples: map[webrace.Triple]bool{}}
		m[c.URL] = was
	} else if !was.imported && c.Version < max(was.Version, was.seen) {
		return
	}
	was.seen, was.problems = c.Version, g.Problems
	if !g.Whole {
		return
	}
	if was.Version == c.Version && was.Digest == c.Digest && was.MediaType == c.MediaType && !was.At.IsZero() {
		c.At = was.At
	}
	was.Context, was.imported = c, false
	was.triples = map[webrace.Triple]bool{}
	for _, t := range g.Triples {
		was.triples[t] = true
	}
}

// quads returns what all graphs state.
func (m model) quads() (all []rdf.Quad) {
	for url, c := range m {
		for t := range c.triples {
			all = append(all, rdf.Quad{Triple: t, Graph: rdf.NewIRI(url)})
		}
		about := func(predicate, object string) {
			all = append(all, rdf.Quad{
				Triple: webrace.Triple{Subject: rdf.NewIRI(url), Predicate: rdf.NewIRI(predicate), Object: webrace.Term(object)},
				Graph:  "<urn:webrace:provenance>",
			})
		}
		known := len(all)
		if !c.At.IsZero() {
			about("http://purl.org/dc/terms/modified", `"`+c.At.Format("2006-01-02T15:04:05.999999999Z07:00")+`"^^<http://www.w3.org/2001/XMLSchema#dateTime>`)
		}
		if c.MediaType != "" {
			about("http://purl.org/dc/terms/format", strconv.Quote(c.MediaType))
		}
		if c.Digest != (webrace.Digest{}) {
			about("http://purl.org/dc/terms/identifier", fmt.Sprintf(`"sha256:%x"`, c.Digest[:]))
		}
		if c.Version != 0 {
			about("http://www.w3.org/2002/07/owl#versionInfo", fmt.Sprintf(`"%d"`, c.Version))
		}
		if len(all) > known {
			about("http://rdfs.org/ns/void#triples", fmt.Sprintf(`"%d"^^<http://www.w3.org/2001/XMLSchema#integer>`, len(c.triples)))
		}
	}
	sortQuads(all)
	return all
}

func sortQuads(all []rdf.Quad) {
	slices.SortFunc(all, func(a, b rdf.Quad) int {
		return cmp.Or(strings.Compare(string(a.Graph), string(b.Graph)), compareTriples(a.Triple, b.Triple))
	})
}

func compareTriples(a, b webrace.Triple) int {
	return cmp.Or(strings.Compare(string(a.Subject), string(b.Subject)), strings.Compare(string(a.Predicate), string(b.Predicate)),
		strings.Compare(string(a.Object), string(b.Object)))
}

// The terms of random graphs: few, so that much is said by several contexts, and of the same things.
func randomTriple(rng *rand.Rand) webrace.Triple {
	iri := func() webrace.Term { return rdf.NewIRI(fmt.Sprint("http://example.org/", rng.IntN(6))) }
	t := webrace.Triple{Subject: iri(), Predicate: rdf.NewIRI(fmt.Sprint("http://example.org/p", rng.IntN(3)))}
	switch rng.IntN(5) {
	case 0:
		t.Object = rdf.NewString([]string{"ferries to Piraeus", "a \"ferry\"\n at sea", "", strings.Repeat("long words ", 60), strings.Repeat("x", 600)}[rng.IntN(5)])
	case 1:
		t.Object = rdf.NewLangString([]string{"die Fähren", "les bateaux", "πλοία"}[rng.IntN(3)], []string{"de", "fr", "el"}[rng.IntN(3)])
	case 2:
		t.Object = rdf.NewTyped(strconv.Itoa(rng.IntN(5)), rdf.XSDInteger)
	default:
		t.Object = iri()
	}
	if rng.IntN(8) == 0 {
		t.Subject = rdf.NewBlank(fmt.Sprint("b", rng.IntN(3)))
	}
	return t
}

func randomGraph(rng *rand.Rand, most int) *webrace.Graph {
	g := &webrace.Graph{Whole: rng.IntN(6) > 0}
	for range rng.IntN(most + 1) {
		g.Triples = append(g.Triples, randomTriple(rng))
	}
	if !g.Whole {
		g.Problems = []string{fmt.Sprint("line ", rng.IntN(100))}
	}
	return g
}

var someTime = time.Date(2026, 11, 23, 12, 0, 0, 5000, time.UTC)

func randomContext(rng *rand.Rand) Context {
	c := Context{URL: fmt.Sprint("http://example.org/", rng.IntN(7)), Version: 1 + rng.IntN(4), MediaType: "text/turtle"}
	c.At = someTime.Add(time.Duration(rng.IntN(1000)) * time.Second)
	c.Digest[0] = byte(c.Version)
	if rng.IntN(10) == 0 {
		c.Digest, c.MediaType = webrace.Digest{}, ""
	}
	return c
}

// all returns what a store holds, sorted.
func all(t testing.TB, s *Store) (got []rdf.Quad) {
	t.Helper()
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	for q, err := range snapshot.Quads(t.Context(), "") {
		must(t, err)
		got = append(got, q)
	}
	sortQuads(got)
	return got
}

// matches compares a store with a model.
func matches(t testing.TB, s *Store, m model) {
	t.Helper()
	want := m.quads()
	if got := all(t, s); !slices.Equal(got, want) {
		t.Fatalf("the store holds\n%s\nwant\n%s", lines(got), lines(want))
	}
	snapshot, err := s.Snapshot()
	must(t, err)
	defer snapshot.Close()
	records := 0
	for r, err := range snapshot.Contexts(t.Context(), "http://") {
		must(t, err)
		records++
		c := m[r.URL]
		if c == nil || r.Context != c.Context || r.Quads != len(c.triples) || r.Seen != c.seen || !slices.Equal(r.Problems, c.problems) || r.Imported != c.imported {
			t.Fatalf("the record of %s is %+v, want %+v", r.URL, r, c)
		}
	}
	said, own := int64(0), int64(0)
	for _, q := range want {
		if q.Graph == "<urn:webrace:provenance>" {
			own++
		} else {
			said++
		}
	}
	st := snapshot.Stats()
	if records != len(m) || st.Contexts != int64(len(m)) || st.Quads != said || st.Provenance != own {
		t.Fatalf("%d records and %+v, want %d contexts, %d quads, %d of provenance", records, st, len(m), said, own)
	}
}

func lines(all []rdf.Quad) string {
	var b strings.Builder
	for _, q := range all {
		fmt.Fprintln(&b, q.Subject, q.Predicate, q.Object, q.Graph)
	}
	return b.String()
}

// drain returns what a cursor finds from its first quad on, which began tells of.
func drain(t testing.TB, c sparql.Cursor, began bool) (all []sparql.Pattern) {
	t.Helper()
	for ok := began; ok; ok = c.Next() {
		all = append(all, c.Quad())
	}
	must(t, c.Err())
	if c.Next() {
		t.Fatal("a cursor goes on after its end")
	}
	return all
}
