package pipeline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRegisteringAWrongTypePanics(t *testing.T) {
	t.Parallel()
	good := toySpec("good", Kinds(links), port("", pages))
	with := func(change func(*Spec)) Spec {
		s := good
		change(&s)
		return s
	}
	type nested struct {
		Deep []map[string]struct{ NoTag int } `toml:"deep" doc:"x"`
	}
	type recursive struct {
		Again []recursive `toml:"again" doc:"x"`
	}
	type lent struct {
		Polite
		Delay Duration `toml:"delay" doc:"x"`
	}
	for _, tt := range []struct {
		want     string
		register func(*Registry)
	}{
		{"twice", func(r *Registry) { RegisterIn(r, good, struct{}{}, none); RegisterIn(r, good, struct{}{}, none) }},
		{"type's name", func(r *Registry) { RegisterIn(r, with(func(s *Spec) { s.Type = "a b" }), struct{}{}, none) }},
		{"no summary", func(r *Registry) { RegisterIn(r, with(func(s *Spec) { s.Summary = "" }), struct{}{}, none) }},
		{"queue needs an input", func(r *Registry) {
			RegisterIn(r, with(func(s *Spec) { s.Queue, s.In = true, nil }), struct{}{}, none)
		}},
		{"only a source can follow", func(r *Registry) { RegisterIn(r, with(func(s *Spec) { s.Follows = true }), struct{}{}, none) }},
		{`port "errors"`, func(r *Registry) {
			RegisterIn(r, with(func(s *Spec) { s.Out = []Port{port("errors", links)} }), struct{}{}, none)
		}},
		{`port "x" stands twice`, func(r *Registry) {
			RegisterIn(r, with(func(s *Spec) { s.Out = []Port{port("x", links), port("x", links)} }), struct{}{}, none)
		}},
		{"port name", func(r *Registry) {
			RegisterIn(r, with(func(s *Spec) { s.Out = []Port{port("a.b", links)} }), struct{}{}, none)
		}},
		{"no kind", func(r *Registry) { RegisterIn(r, with(func(s *Spec) { s.Out = []Port{{}} }), struct{}{}, none) }},
		{"a struct, not a int", func(r *Registry) { RegisterIn(r, good, 0, none) }},
		{"no toml tag", func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `doc:"x"`
			}{}, none)
		}},
		{"NoTag: it has no toml tag", func(r *Registry) { RegisterIn(r, good, nested{}, none) }},
		{"no doc tag", func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"x"`
			}{}, none)
		}},
		{`option name "x y"`, func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"x y" doc:"x"`
			}{}, none)
		}},
		{"every stage has", func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"workers" doc:"x"`
			}{}, none)
		}},
		{"stands twice", func(r *Registry) { RegisterIn(r, good, lent{}, none) }},
		{"nanoseconds", func(r *Registry) {
			RegisterIn(r, good, struct {
				X reflect.Type    `toml:"-"`
				Y []time.Duration `toml:"y" doc:"x"`
			}{}, none)
		}},
		{"no type for an option", func(r *Registry) {
			RegisterIn(r, good, struct {
				X map[int]string `toml:"x" doc:"x"`
			}{}, none)
		}},
		{"no type for an option", func(r *Registry) {
			RegisterIn(r, good, struct {
				X any `toml:"x" doc:"x"`
			}{}, none)
		}},
		{"contains itself", func(r *Registry) { RegisterIn(r, good, recursive{}, none) }},
		{"only a string has an enum", func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"x" doc:"x" enum:"1,2"`
			}{}, none)
		}},
	} {
		func() {
			defer func() {
				if message := fmt.Sprint(recover()); !strings.Contains(message, tt.want) || !strings.HasPrefix(message, "pipeline: ") {
					t.Errorf("panic %q, want one with %q", message, tt.want)
				}
			}()
			tt.register(NewRegistry())
		}()
	}
}

func TestTheDefaultRegistryIsTheOneOfThePackage(t *testing.T) {
	t.Parallel()
	type options struct {
		Names []string        `toml:"names" doc:"who"`
		Rules map[string]Size `toml:"rules" doc:"how much each"`
	}
	if _, again := Lookup("registry-test"); again {
		t.Skip("the default registry keeps what it was given: run with -count=1")
	}
	Register(toySpec("registry-test", nil, port("", links)), options{[]string{"a b"}, map[string]Size{"x y": 1e6, "a": 1}}, none)
	if spec, ok := Lookup("registry-test"); !ok || spec.Summary != "is a toy" || !slices.Contains(Types(), "registry-test") {
		t.Errorf("spec %+v, %v", spec, ok)
	}
	if _, ok := Lookup("registry-tset"); ok || Options("registry-tset") != nil {
		t.Error("a type that is not registered is found")
	}
	want := []OptionInfo{
		{Name: "names", Type: "list of strings", Doc: "who", Default: `["a b"]`},
		{Name: "rules", Type: "table of sizes", Doc: "how much each", Default: `{ "x y" = "1MB", a = "1B" }`},
	}
	if got := Options("registry-test"); !reflect.DeepEqual(got, want) {
		t.Errorf("options %+v, want %+v", got, want)
	}
	g := NewGraph("g")
	if s := g.Add("registry-test", nil); s.Make == nil || s.Options.(options).Names[0] != "a b" {
		t.Errorf("stage %+v", s)
	}
}
