package stagetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// TypoCase is a configuration in which one option of one stage type is misspelt. Strict decoding is lost
// without a sound (an embedded struct can be enough), so a program tests that all its stage types still
// have it:
//
//	for _, c := range stagetest.TypoCases(pipeline.DefaultRegistry) {
//		t.Run(c.Name, func(t *testing.T) {
//			if err := c.Verify(pipeline.DefaultRegistry); err != nil {
//				t.Error(err)
//			}
//		})
//	}
type TypoCase struct {
	Name   string // "fetch.retry.max"
	Source string // the configuration
	Want   finding.Finding
}

// TypoCases returns a case for every option of every stage type, those that every stage has and those
// within tables, lists and maps included.
func TypoCases(r *pipeline.Registry) []TypoCase {
	var cases []TypoCase
	common := options.MustOf(reflect.TypeFor[pipeline.Common]())
	for _, typ := range r.Types() {
		spec, _ := r.Lookup(typ)
		all := &options.Fields{List: common.List}
		if spec.Batch == (pipeline.Batch{}) {
			all.List = common.Without("batch").List
		}
		own := options.MustOf(reflect.TypeOf(r.Defaults(typ)))
		all.List = slices.Concat(all.List, own.List)
		cases = append(cases, typosIn(typ, all, "", "")...)
	}
	return cases
}

// typosIn returns the cases for the options of one table. before and after stand around a key of that
// table: "retry = { " and " }".
func typosIn(path string, fs *options.Fields, before, after string) []TypoCase {
	var cases []TypoCase
	for _, f := range fs.List {
		wrong := misspell(f.Name, fs.Names())
		line := before + wrong + " = 0" + after
		typ, _, _ := strings.Cut(path, ".")
		cases = append(cases, TypoCase{
			Name:   path + "." + f.Name,
			Source: fmt.Sprintf("version = 1\n[pipeline.typo.stage.%s]\n%s\n", typ, line),
			Want:   finding.Finding{Code: finding.CodeUnknownOption, Hint: f.Name, Pos: finding.Position{Line: 3, Column: 1 + len(before)}},
		})
		if f.Inner != nil {
			open, end := brackets(f.Type)
			cases = append(cases, typosIn(path+"."+f.Name, f.Inner, before+f.Name+" = "+open, end+after)...)
		}
	}
	return cases
}

// brackets returns what stands around the keys of the tables that an option holds.
func brackets(t reflect.Type) (open, end string) {
	switch t.Kind() {
	case reflect.Slice:
		open, end = brackets(t.Elem())
		return "[" + open, end + "]"
	case reflect.Map:
		open, end = brackets(t.Elem())
		return "{ x = " + open, end + " }"
	}
	return "{ ", " }"
}

// misspell returns the name with one letter doubled or left out, such that no other name is as near.
func misspell(name string, names []string) string {
	for i := range name {
		for _, wrong := range []string{name[:i] + name[i:i+1] + name[i:], name[:i] + name[i+1:]} {
			if flow.IsName(wrong) && wrong != name && suggest.Nearest(wrong, names) == name {
				return wrong
			}
		}
	}
	return name + "_"
}

// Verify loads the configuration and returns an error unless the misspelt option is found at its place,
// with the right one as the hint.
func (c TypoCase) Verify(r *pipeline.Registry) error {
	_, err := config.Parse("typo.toml", []byte(c.Source), config.LoadOptions{Registry: r})
	var found finding.List
	errors.As(err, &found)
	for _, f := range found {
		if f.Code == c.Want.Code && f.Hint == c.Want.Hint && f.Pos.Line == c.Want.Pos.Line && f.Pos.Column == c.Want.Pos.Column {
			return nil
		}
	}
	return fmt.Errorf("%s misspelt is not found at %d:%d, only: %v\n%s", c.Name, c.Want.Pos.Line, c.Want.Pos.Column, err, c.Source)
}
