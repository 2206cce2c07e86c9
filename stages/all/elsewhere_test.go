package all

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// TestStagesOfModulesBesideAreNamedWithTheCommandThatBringsThem holds what is told to the modules in examples/ that
// are no part of this one.
func TestStagesOfModulesBesideAreNamedWithTheCommandThatBringsThem(t *testing.T) {
	modules, err := filepath.Glob("../../examples/*/go.mod")
	if err != nil || len(modules) == 0 {
		t.Fatal(modules, err)
	}
	registered, module := regexp.MustCompile(`(?m)^\t\tType: +"([a-z-]+)"`), regexp.MustCompile(`(?m)^module (.+)$`)
	for _, mod := range modules {
		text, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		want := "webrace-run build --with " + module.FindStringSubmatch(string(text))[1] + "@latest"
		sources, _ := filepath.Glob(filepath.Join(filepath.Dir(mod), "*.go"))
		types := 0
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range registered.FindAllStringSubmatch(string(text), -1) {
				types++
				if got := pipeline.DefaultRegistry.Elsewhere(m[1]); got != want {
					t.Errorf("%s: %q, want %q", m[1], got, want)
				}
			}
		}
		if types == 0 {
			t.Errorf("%s registers no type", filepath.Dir(mod))
		}
	}
}
