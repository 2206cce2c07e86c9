package controltest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/webrace/webrace/storage/control"
)

// A method that no guarantee calls may do on another backend whatever it likes.
func TestEveryMethodOfTheStoreIsCalledByAGuarantee(t *testing.T) {
	t.Parallel()
	called, named := make(map[string]bool), make(map[string]bool)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if method, isSelector := n.(*ast.SelectorExpr); isSelector {
				named[method.Sel.Name] = true
				if of, isField := method.X.(*ast.SelectorExpr); isField && of.Sel.Name == "store" { // s.store.Method
					called[method.Sel.Name] = true
				}
			}
			return true
		})
	}
	for method := range reflect.TypeFor[*control.Store]().Methods() {
		if !called[method.Name] {
			t.Errorf("no guarantee calls %s: add it to Store, and to one of the guarantees what it promises", method.Name)
		}
	}
	for method := range reflect.TypeFor[control.Owned]().Methods() {
		if !named[method.Name] {
			t.Errorf("no guarantee calls %s of what is owned", method.Name)
		}
	}
}
