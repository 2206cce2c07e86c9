package sparql

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

var errBroken = errors.New("the disk is broken")

// failing is a dataset of which one answer is an error.
type failing struct {
	*counted
	left int // answers until then
}

func (f *failing) broken() error {
	if f.left--; f.left < 0 {
		return errBroken
	}
	return nil
}

func (f *failing) Find(t webrace.Term) (ID, error) {
	if err := f.broken(); err != nil {
		return 0, err
	}
	return f.counted.Find(t)
}

func (f *failing) Term(id ID) (webrace.Term, error) {
	if err := f.broken(); err != nil {
		return "", err
	}
	return f.counted.Term(id)
}

func (f *failing) Estimate(p Pattern) (int64, error) {
	if err := f.broken(); err != nil {
		return 0, err
	}
	return f.counted.Estimate(p)
}

func (f *failing) Words(ctx context.Context, query string) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		for id, err := range f.counted.Words(ctx, query) {
			if err = errors.Join(err, f.broken()); !yield(id, err) || err != nil {
				return
			}
		}
	}
}

func (f *failing) Cursor(p Pattern) (Cursor, error) {
	if err := f.broken(); err != nil {
		return nil, err
	}
	c, err := f.counted.Cursor(p)
	return &failingCursor{Cursor: c, of: f}, err
}

type failingCursor struct {
	Cursor
	of  *failing
	err error
}

func (c *failingCursor) Seek(p Pattern) bool {
	c.err = c.of.broken()
	return c.err == nil && c.Cursor.Seek(p)
}

func (c *failingCursor) Next() bool {
	c.err = c.of.broken()
	return c.err == nil && c.Cursor.Next()
}

func (c *failingCursor) Err() error { return c.err }

// TestErrorsOfADatasetEndAQuery holds that each of them does: a part is not taken for the whole.
func TestErrorsOfADatasetEndAQuery(t *testing.T) {
	t.Parallel()
	memory := NewMemory(nil)
	for _, q := range randomQuads(rand.New(rand.NewPCG(3, 4))) {
		memory.Add(q)
		memory.Add(rdf.Quad{Triple: q.Triple})
	}
	for _, text := range []string{
		"SELECT * { ?a <p:1> ?b OPTIONAL { ?b ?p ?c FILTER(?c > 1) } MINUS { SELECT ?a { ?a <p:2> ?c } } }",
		"SELECT ?a (COUNT(?b) AS ?n) { GRAPH ?g { ?a <p:1>* ?b } FILTER NOT EXISTS { ?b <p:3> ?a } } GROUP BY ?a ORDER BY ?n",
		"SELECT DISTINCT ?x { { ?a ?p ?b } UNION { ?a " + string(textQuery) + " 'red' } BIND(CONCAT(STR(?a), 'x') AS ?x) }",
	} {
		q, err := Parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		want, err := bag(q, memory)
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for n := 0; ; n++ {
			data := &failing{counted: &counted{Dataset: memory}, left: n}
			got, err := bag(q, data)
			if data.open != 0 {
				t.Fatalf("%s: after %d answers %d cursors stay open", text, n, data.open)
			}
			if data.left >= 0 { // it never broke
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s gives %v, %v, want %v", text, got, err, want)
				}
				break
			}
			if failed++; !errors.Is(err, errBroken) {
				t.Fatalf("%s: the error behind %d answers becomes %v", text, n, err)
			}
		}
		if failed < 20 {
			t.Errorf("%s asks %d times", text, failed)
		}
	}
}

func TestWithDataset(t *testing.T) {
	t.Parallel()
	memory := NewMemory(nil)
	for _, graph := range []webrace.Term{"", "<g:1>", "<g:2>", "<g:3>"} {
		memory.Add(rdf.Quad{Graph: graph, Triple: webrace.Triple{Subject: "<n:1>", Predicate: "<p:in>", Object: cmp.Or(graph, "<n:2>")}})
	}
	q, err := Parse("SELECT ?o ?g FROM <g:1> { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		defaults, named []webrace.Term
		want            []string
	}{
		{nil, nil, []string{"?o=<g:1> "}},
		{[]webrace.Term{"<g:2>", "<g:3>"}, nil, []string{"?o=<g:2> ", "?o=<g:3> "}},
		{nil, []webrace.Term{"<g:3>", "<g:none>"}, []string{"?o=<g:3> ?g=<g:3> "}},
	} {
		got, err := bag(q.WithDataset(c.defaults, c.named), memory)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("over %v and %v it gives %q, %v, want %q", c.defaults, c.named, got, err, c.want)
		}
	}
}
