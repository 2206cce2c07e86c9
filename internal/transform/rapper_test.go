package transform

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// TestRDFaAsRapperReadsIt compares what random elements with RDFa state with what librdfa finds in them. Left out is
// where the two differ and the specification is with us: lists (their order, and elements with rel within), a property
// that has both a type and a relation, and terms without a vocabulary, which librdfa takes for relative IRIs.
func TestRDFaAsRapperReadsIt(t *testing.T) {
	t.Parallel()
	rapper, err := exec.LookPath("rapper")
	if err != nil {
		t.Skip("rapper (Debian: raptor2-utils) is not there")
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		var page strings.Builder
		page.WriteString(`<html xmlns="http://www.w3.org/1999/xhtml" prefix="x: http://x/ns#" version="XHTML+RDFa 1.1"><head><title>t</title></head><body>`)
		for range 30 {
			randomElement(&page, r, 0)
		}
		page.WriteString("</body></html>")
		cmd := exec.CommandContext(t.Context(), rapper, "-q", "-i", "rdfa", "-o", "ntriples", "-", at)
		cmd.Stdin = strings.NewReader(page.String())
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("rapper: %v", err)
		}
		var want []rdf.Quad
		for q, err := range rdf.Parse(t.Context(), bytes.NewReader(out), rdf.NTriples, rdf.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, q)
		}
		g := document(t, page.String(), "application/xhtml+xml", Options{})
		if d := testutil.Isomorphic(want, quadsOf(g.Triples)); d != "" || len(want) < 50 {
			t.Errorf("seed %d, %d triples: %s\n%s", seed, len(want), d, page.String())
		}
	}
}

func randomElement(b *strings.Builder, r *rand.Rand, depth int) {
	has := func(percent int) bool { return r.IntN(100) < percent }
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	name := one("div", "span", "a")
	b.WriteString("<" + name)
	write := func(percent int, key string, values ...string) bool {
		if !has(percent) {
			return false
		}
		fmt.Fprintf(b, " %s=%q", key, one(values...))
		return true
	}
	write(25, "about", "a1", "a2", "[x:s]", "x:c", "_:b1", "")
	write(20, "resource", "r1", "[x:r]", "_:b2")
	write(20, "href", "h1", "http://h/2")
	typed := write(20, "typeof", "x:T", "x:U")
	related := write(15, "rel", "x:rel", "x:rel x:rel2")
	related = write(8, "rev", "x:rev") || related
	if !typed || !related {
		write(30, "property", "x:p", "x:p x:q")
	}
	write(15, "content", "c1", "c2")
	write(8, "datatype", "x:dt", "")
	write(5, "xml:lang", "en")
	b.WriteString(">t")
	for range r.IntN(3) {
		if depth < 3 {
			randomElement(b, r, depth+1)
		}
	}
	b.WriteString("</" + name + ">")
}
