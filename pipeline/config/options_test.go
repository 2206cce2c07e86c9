package config

import (
	"reflect"
	"slices"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

func TestTheDefaultRegistryIsTheOneOfThePackage(t *testing.T) {
	t.Parallel()
	type options struct {
		Names []string                 `toml:"names" doc:"who"`
		Rules map[string]pipeline.Size `toml:"rules" doc:"how much each"`
	}
	if _, again := pipeline.DefaultRegistry.Lookup("registry-test"); again {
		t.Skip("the default registry keeps what it was given: run with -count=1")
	}
	pipeline.Register(toySpec("registry-test", nil, port("", links)), options{[]string{"a b"}, map[string]pipeline.Size{"x y": 1e6, "a": 1}}, none)
	if spec, ok := pipeline.DefaultRegistry.Lookup("registry-test"); !ok || spec.Summary != "is a toy" || !slices.Contains(pipeline.DefaultRegistry.Types(), "registry-test") {
		t.Errorf("spec %+v, %v", spec, ok)
	}
	if _, ok := pipeline.DefaultRegistry.Lookup("registry-tset"); ok || Options(nil, "registry-tset") != nil {
		t.Error("a type that is not registered is found")
	}
	want := []OptionInfo{
		{Name: "names", Type: "list of strings", Doc: "who", Default: `["a b"]`},
		{Name: "rules", Type: "table of sizes", Doc: "how much each", Default: `{ "x y" = "1MB", a = "1B" }`},
	}
	if got := Options(nil, "registry-test"); !reflect.DeepEqual(got, want) {
		t.Errorf("options %+v, want %+v", got, want)
	}
	g := pipeline.NewGraph("g")
	if s := g.Add("registry-test", nil); s.Make == nil || s.Options.(options).Names[0] != "a b" {
		t.Errorf("stage %+v", s)
	}
}
