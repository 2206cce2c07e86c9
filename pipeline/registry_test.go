package pipeline

import (
	"fmt"
	"reflect"
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
	type polite struct {
		Delay Duration `toml:"delay" doc:"x"`
	}
	type lent struct {
		polite
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
		{`"x y" is no former name`, func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"x" doc:"x" deprecated:"x y"`
			}{}, none)
		}},
		{`deprecated: "a=c" is not a word`, func(r *Registry) {
			RegisterIn(r, good, struct {
				X string `toml:"x" doc:"x" enum:"a,b" deprecated:"a=c"`
			}{}, none)
		}},
		{`meant: "c=d" is not a word`, func(r *Registry) {
			RegisterIn(r, good, struct {
				X string `toml:"x" doc:"x" enum:"a,b" meant:"c=d"`
			}{}, none)
		}},
		{`option "y" is a former name of another`, func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"x" doc:"x" deprecated:"y"`
				Y int `toml:"y" doc:"y"`
			}{}, none)
		}},
		{"stands twice", func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"x" doc:"x" deprecated:"z"`
				Y int `toml:"y" doc:"y" deprecated:"z"`
			}{}, none)
		}},
		{"every stage has", func(r *Registry) {
			RegisterIn(r, good, struct {
				X int `toml:"x" doc:"x" deprecated:"workers"`
			}{}, none)
		}},
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
