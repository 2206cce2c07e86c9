package quads

import (
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/sparql"
)

// The graphs are those that are met when all quads are read.
func TestGraphsAgainstAllQuads(t *testing.T) {
	t.Parallel()
	empty, err := open(t, vfs.NewMem()).Snapshot()
	must(t, err)
	defer empty.Close()
	if graphs, err := empty.Graphs(t.Context()); err != nil || len(graphs) != 0 {
		t.Errorf("an empty store has the graphs %v, %v", graphs, err)
	}
	for seed := range uint64(10) {
		s, _ := filledRandomly(t, seed)
		now, err := s.Snapshot()
		must(t, err)
		defer now.Close()
		want := map[sparql.ID]bool{}
		c, err := now.Cursor(sparql.Pattern{})
		must(t, err)
		for more := c.Seek(sparql.Pattern{}); more; more = c.Next() {
			want[c.Quad().Graph] = true
		}
		must(t, c.Close())
		got, err := now.Graphs(t.Context())
		must(t, err)
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("seed %d: the graphs are %v, want %v", seed, got, slices.Sorted(maps.Keys(want)))
		}
	}
}

// A state has a name as long as the store is open, and no two have the same.
func TestStatesHaveNames(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	s := open(t, fs)
	name := func() string {
		now, err := s.Snapshot()
		must(t, err)
		defer now.Close()
		return now.State()
	}
	seen := []string{name()}
	if name() != seen[0] {
		t.Error("one state has two names")
	}
	durably(t, s, Context{URL: "http://a/", Version: 1}, &webrace.Graph{Whole: true, Triples: []webrace.Triple{{Subject: "<http://a/>", Predicate: "<a:b>", Object: `"c"`}}})
	seen = append(seen, name())
	must(t, s.Remove(t.Context(), "http://a/"))
	seen = append(seen, name())
	must(t, s.Close())
	s = open(t, fs) // as after a backup was restored
	seen = append(seen, name())
	slices.Sort(seen)
	if len(slices.Compact(slices.Clone(seen))) != 4 {
		t.Errorf("the states are %q", seen)
	}
}
