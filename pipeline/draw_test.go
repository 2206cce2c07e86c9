package pipeline

import (
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

func drawnGraph(t *testing.T) *Graph {
	t.Helper()
	g := wire("source > queue > fetch > pass > print", "fetch.redirects > queue", "fetch.errors > failures")
	g.Title = `a "loop" \ of links`
	g.stage("pass").Spec.Type = "pass-on"
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGraphIsDrawn(t *testing.T) {
	t.Parallel()
	g := drawnGraph(t)
	testutil.Golden(t, "testdata/draw/graph.dot", g.DOT())
	testutil.Golden(t, "testdata/draw/graph.mmd", g.Mermaid())
}
