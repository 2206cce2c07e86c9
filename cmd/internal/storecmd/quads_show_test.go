package storecmd

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/quads"
)

// A document can state that blank nodes all lead to all, so that there are more ways through them than can be gone: a
// thing that leads there is shown, with each of them once at each depth.
func TestShowOfBlankNodesThatAllLeadToAll(t *testing.T) {
	t.Parallel()
	store, err := quads.Open("quads", quads.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const nodes = 150
	node := func(n int) webrace.Term { return rdf.NewBlank("x" + string(rune('a'+n/26)) + string(rune('a'+n%26))) }
	g := &webrace.Graph{Whole: true}
	for from := range nodes {
		for to := range nodes {
			g.Triples = append(g.Triples, webrace.Triple{Subject: node(from), Predicate: "<http://p.example/>", Object: node(to)})
		}
	}
	g.Triples = append(g.Triples, webrace.Triple{Subject: "<http://thing.example/>", Predicate: "<http://p.example/>", Object: node(0)})
	if _, err := store.Replace(quads.Context{URL: "http://example.org/", Version: 1}, g, nil); err != nil {
		t.Fatal(err)
	}
	now, err := store.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for number, want := range map[int]int{10_000: 1 + mostDepth*nodes, 100: 100} {
		f := &showFlags{number: number}
		shown, err := f.look(ctx, now, "<http://thing.example/>")
		if err != nil {
			t.Fatal(err)
		}
		if got := len(shown.said[properties]); got != want || shown.cut[properties] != (want == number) {
			t.Errorf("%d statements are shown of a thing, want %d; there are more: %v", got, want, shown.cut[properties])
		}
	}
}
