package quads

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// URLs may have characters that IRIs may not. What such documents state is kept, asked for and removed by their URLs,
// and what is exported can be read.
func TestURLsThatAreNoIRIs(t *testing.T) {
	t.Parallel()
	const url, iri = "http://example.org/a|b?c={d}^`e\\", "http://example.org/a%7Cb?c=%7Bd%7D%5E%60e%5C"
	fs := vfs.NewMem()
	s := open(t, fs)
	c := Context{URL: url, Version: 3, At: someTime, MediaType: "text/turtle"}
	g := &webrace.Graph{Whole: true, Triples: []webrace.Triple{{Subject: rdf.NewIRI(iri), Predicate: "<http://p/>", Object: `"one"`}}}
	durably(t, s, c, g)
	must(t, s.Close())
	s = open(t, fs)
	if got := durably(t, s, c, g); got != (Change{}) {
		t.Errorf("the same again is %+v", got)
	}
	for _, prefix := range []string{"", "http://example.org/a|", "http://example.org/a%7C", url} {
		snapshot, err := s.Snapshot()
		must(t, err)
		found := 0
		for r, err := range snapshot.Contexts(t.Context(), prefix) {
			must(t, err)
			if found++; r.Context != c {
				t.Errorf("the record is %+v, want %+v", r.Context, c)
			}
		}
		if found != 1 {
			t.Errorf("%d contexts begin with %q", found, prefix)
		}
		must(t, snapshot.Close())
	}
	lines := exported(t, s)
	other := open(t, vfs.NewMem())
	if _, err := other.Import(t.Context(), parsed(t, lines)); err != nil || !slices.Equal(exported(t, other), lines) {
		t.Errorf("%v; %q was imported as %q", err, lines, exported(t, other))
	}
	asked := ""
	collected, err := s.Collect(t.Context(), func(url string) (bool, error) { asked = url; return true, nil })
	if must(t, err); asked != url || collected.Contexts != 0 {
		t.Errorf("a collection asks for %q: %+v", asked, collected)
	}
	sound(t, s)
	must(t, s.Remove(t.Context(), url))
	if left := all(t, s); len(left) > 0 {
		t.Errorf("it still says %v", left)
	}
	sound(t, s)
}
