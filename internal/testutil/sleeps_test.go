package testutil

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSleepsInTestsAreExplained looks at every time.Sleep in tests: time is synctest's there, or it is part of a loop
// that waits for a condition, or a comment, on its line or the one before, tells why.
func TestSleepsInTestsAreExplained(t *testing.T) {
	t.Parallel()
	root, looked := filepath.Join("..", ".."), 0
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(root, path), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		looked++
		for _, sleep := range unexplained(files, file) {
			t.Errorf("%s:%d: a test sleeps: wait for a condition (Await), use synctest, or say why in a comment", path, files.Position(sleep.Pos()).Line)
		}
		return nil
	})
	if err != nil || looked < 500 {
		t.Errorf("looked at %d files: %v", looked, err)
	}
}

// unexplained returns the calls of time.Sleep in a file that have no reason.
func unexplained(files *token.FileSet, file *ast.File) (sleeps []ast.Node) {
	commented := make(map[int]bool) // lines
	for _, group := range file.Comments {
		commented[files.Position(group.Pos()).Line], commented[files.Position(group.End()).Line+1] = true, true
	}
	var around []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		if calls(n, "time", "Sleep") && !commented[files.Position(n.Pos()).Line] && !waits(around) {
			sleeps = append(sleeps, n)
		}
		return true
	})
	return sleeps
}

// waits reports whether the last of nodes, each in the one before, is in a bubble of synctest or in a loop until a
// condition.
func waits(around []ast.Node) bool {
	for i, n := range around {
		if calls(n, "synctest", "Test") {
			return true
		}
		loop, ok := n.(*ast.ForStmt)
		if !ok || i+1 == len(around) {
			continue
		}
		if loop.Post == around[i+1] || loop.Cond != nil && loop.Post == nil && loop.Body == around[i+1] && i+4 == len(around) {
			return true
		}
	}
	return false
}

func calls(n ast.Node, pkg, name string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != name {
		return false
	}
	of, ok := f.X.(*ast.Ident)
	return ok && of.Name == pkg
}

func TestAnUnexplainedSleepIsFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"time.Sleep(1)":                                          1,
		"time.Sleep(1) // as servers take":                       0,
		"// as servers take\ntime.Sleep(1)":                      0,
		"// of another line\n\ntime.Sleep(1)":                    1,
		"for !is() { time.Sleep(1) }":                            0,
		"for ; !is(); time.Sleep(1) {}":                          0,
		"for !is() { if x { time.Sleep(1) } }":                   1,
		"for { time.Sleep(1) }":                                  1,
		"for range 3 { time.Sleep(1) }":                          1,
		"for i := 0; i < 3; i++ { time.Sleep(1) }":               1,
		"synctest.Test(t, func(t *testing.T) { time.Sleep(1) })": 0,
	} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "x.go", "package x\n\nfunc f() {\n"+body+"\n}\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(unexplained(files, file)); got != want {
			t.Errorf("%s: %d sleeps have no reason, want %d", body, got, want)
		}
	}
}
