package all

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

var update = flag.Bool("update", false, "write the golden files")

func TestEveryKindOfAShippedStageHasACodec(t *testing.T) {
	for _, typ := range pipeline.Types() {
		spec, _ := pipeline.Lookup(typ)
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
// docs/kinds.md. A name may be added; one that is changed or removed breaks somebody's stage.
func TestTheNamesOfFieldsNeverChange(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Kinds\n\nWhat flows between stages, by the names that stages in other languages, expressions and fixtures of tests know it by.\n" +
		"A field that is zero may be left out. Names never change; new ones may be added, so ignore those that you do not know.\n" +
		"This page is generated: `go test ./stages/all -update`.\n")
	for _, kind := range pipeline.KindNames() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", kind, upper(pipeline.KindDoc(kind)))
		fields, err := pipeline.KindFields(kind)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n| field | type | |\n|---|---|---|\n")
		for _, f := range fields {
			if f.Doc == "" {
				t.Errorf("%s.%s has no doc", kind, f.Name)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Type, f.Doc)
		}
	}
	const golden = "../../docs/kinds.md"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, "kinds.md"); b.String() != want {
		t.Errorf("docs/kinds.md is not what the codecs say; if no name was changed or removed, run go test ./stages/all -update\n%s", b.String())
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
