package all

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

func TestEveryKindOfAShippedStageHasACodec(t *testing.T) {
	for _, typ := range pipeline.DefaultRegistry.Types() {
		spec, _ := pipeline.DefaultRegistry.Lookup(typ)
		kinds := spec.In
		for _, port := range spec.Out {
			kinds = append(kinds, port.Kind)
		}
		for _, kind := range kinds {
			if kind != pipeline.SameAsInput && kind.Name() == "" {
				t.Errorf("%s: no codec for %s", typ, kind)
			}
		}
	}
}

// TestTheNamesOfFieldsNeverChange holds the names by which other languages know values against
// docs/kinds.md. A name may be added; one that is changed or removed breaks stages outside this repository.
func TestTheNamesOfFieldsNeverChange(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Kinds\n\nWhat flows between stages, by the names that stages in other languages, expressions and fixtures of tests know it by.\n" +
		"A field that is zero may be left out. Names never change; new ones may be added, so ignore those that you do not know.\n" +
		"This page is generated: `go test ./stages/all -update`.\n")
	for _, kind := range codec.All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", kind.Name, upper(kind.Doc))
		b.WriteString("\n| field | type | |\n|---|---|---|\n")
		for _, f := range kind.Fields {
			if f.Doc == "" {
				t.Errorf("%s.%s has no doc", kind.Name, f.Name)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Type, f.Doc)
		}
	}
	testutil.Golden(t, "../../docs/kinds.md", b.String())
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// TestAStageWithExpressionsKnowsTheKindsAlone keeps programs that import one stage, and not all, from being told that a
// document has no field "text": what compiles expressions registers the kinds whose fields they name.
func TestAStageWithExpressionsKnowsTheKindsAlone(t *testing.T) {
	const expression, kinds = `"github.com/webrace/webrace/pipeline/expression"`, `"github.com/webrace/webrace/stages/kinds"`
	imports := map[string]map[string]bool{} // by folder
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of stages: %v", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Base(filepath.Dir(name))
		for _, i := range file.Imports {
			if imports[folder] == nil {
				imports[folder] = map[string]bool{}
			}
			imports[folder][i.Path.Value] = true
		}
	}
	compile := 0
	for folder, paths := range imports {
		if !paths[expression] {
			continue
		}
		if compile++; !paths[kinds] {
			t.Errorf("stage %s compiles expressions and does not import the kinds", folder)
		}
	}
	if compile < 8 {
		t.Errorf("%d stages compile expressions", compile)
	}
}
