package pipeline

import (
	"os"
	"testing"
)

// sameAsFile compares with a file in testdata, or rewrites it with -update.
func sameAsFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

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
	sameAsFile(t, "testdata/draw/graph.dot", g.DOT())
	sameAsFile(t, "testdata/draw/graph.mmd", g.Mermaid())
}
