package testutil_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

func quads(t *testing.T, turtle string) []rdf.Quad {
	t.Helper()
	var all []rdf.Quad
	for q, err := range rdf.Parse(t.Context(), strings.NewReader("PREFIX : <http://a/>\n"+turtle), rdf.TriG, rdf.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	return all
}

// ring is n blank nodes, each of which points to the next one.
func ring(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "_:%s%d :p _:%s%d .\n", name, i, name, (i+1)%n)
	}
	return b.String()
}

func TestIsomorphic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"", "", true},
		{":s :p :o", ":s :p :o", true},
		{":s :p :o, :o", ":s :p :o", true},
		{":s :p :o", ":s :p :x", false},
		{":s :p :o", "", false},
		{"", ":s :p :o", false},
		{":s :p [ :q 1 ], [ :q 2 ]", ":s :p _:x, _:y . _:y :q 1 . _:x :q 2", true},
		{":s :p [ :q 1 ], [ :q 2 ]", ":s :p _:x . _:x :q 1, 2", false},
		{"_:a :p _:a", "_:a :p _:b", false},
		{"_:a :p _:b", "_:b :p _:a", true},
		{"_:g { _:g :p 1 }", "_:x { _:x :p 1 }", true},
		{"_:g { _:g :p 1 }", "_:x { _:y :p 1 }", false},
		{":s :p (1 2 3)", ":s :p (1 2 3)", true},
		{":s :p (1 2 3)", ":s :p (1 3 2)", false},
		{ring("a", 6), ring("b", 6), true},
		{ring("a", 6), ring("b", 3) + ring("c", 3), false}, // no colouring by neighbours tells these apart
		{ring("a", 4) + ring("b", 3) + ring("c", 3), ring("d", 3) + ring("e", 4) + ring("f", 3), true},
	} {
		a, b := c.a, c.b
		if a != "" && !strings.HasSuffix(a, "}") && !strings.HasSuffix(a, ".\n") {
			a += " ."
		}
		if b != "" && !strings.HasSuffix(b, "}") && !strings.HasSuffix(b, ".\n") {
			b += " ."
		}
		if d := testutil.Isomorphic(quads(t, a), quads(t, b)); (d == "") != c.same {
			t.Errorf("%s\nand\n%s\ndiffer in %q", a, b, d)
		}
	}
}

// Rings of blank nodes are the worst case: each node must be tried for each. The time to compare must stay bounded.
func TestIsomorphicEnds(t *testing.T) {
	t.Parallel()
	rings := func(n, size int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(ring(fmt.Sprintf("r%dx", i), size))
		}
		return b.String()
	}
	if testutil.Isomorphic(quads(t, rings(40, 6)), quads(t, rings(20, 12))) == "" {
		t.Error("forty rings of six are taken for twenty of twelve")
	}
}
