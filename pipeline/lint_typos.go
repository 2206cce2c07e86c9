package pipeline

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// TypoCase is a configuration in which one option of one stage type is misspelt. Strict decoding is lost
// without a sound (an embedded struct can be enough), so a program tests that all its stage types still
// have it:
//
//	for _, c := range pipeline.TypoCases(pipeline.DefaultRegistry) {
//		t.Run(c.Name, func(t *testing.T) {
//			if err := c.Verify(pipeline.DefaultRegistry); err != nil {
//				t.Error(err)
//			}
//		})
//	}
type TypoCase struct {
	Name   string // "fetch.retry.max"
	Source string // the configuration
	Want   Finding
}

// TypoCases returns a case for every option of every stage type, those that every stage has and those
// within tables, lists and maps included.
func TypoCases(r *Registry) []TypoCase {
	var cases []TypoCase
	for _, typ := range r.Types() {
		t := r.lookup(typ)
		all := &fields{}
		all.list = append(append(all.list, t.common().list...), t.fields.list...)
		cases = append(cases, typosIn(typ, all, "", "")...)
	}
	return cases
}

// typosIn returns the cases for the options of one table. before and after stand around a key of that
// table: "retry = { " and " }".
func typosIn(path string, fs *fields, before, after string) []TypoCase {
	var cases []TypoCase
	for _, f := range fs.list {
		wrong := misspell(f.name, fs.names())
		line := before + wrong + " = 0" + after
		typ, _, _ := strings.Cut(path, ".")
		cases = append(cases, TypoCase{
			Name:   path + "." + f.name,
			Source: fmt.Sprintf("version = 1\n[pipeline.typo.stage.%s]\n%s\n", typ, line),
			Want:   Finding{Code: CodeUnknownOption, Hint: f.name, Pos: Position{Line: 3, Column: 1 + len(before)}},
		})
		if f.inner != nil {
			open, end := brackets(f.typ)
			cases = append(cases, typosIn(path+"."+f.name, f.inner, before+f.name+" = "+open, end+after)...)
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
			if isName(wrong) && wrong != name && nearest(wrong, names) == name && distance(wrong, name) > 0 {
				return wrong
			}
		}
	}
	return name + "_"
}

// Verify loads the configuration and returns an error unless the misspelt option is found at its place,
// with the right one as the hint.
func (c TypoCase) Verify(r *Registry) error {
	_, err := Parse("typo.toml", []byte(c.Source), LoadOptions{Registry: r})
	var found Findings
	errors.As(err, &found)
	for _, f := range found {
		if f.Code == c.Want.Code && f.Hint == c.Want.Hint && f.Pos.Line == c.Want.Pos.Line && f.Pos.Column == c.Want.Pos.Column {
			return nil
		}
	}
	return fmt.Errorf("%s misspelt is not found at %d:%d, only: %v\n%s", c.Name, c.Want.Pos.Line, c.Want.Pos.Column, err, c.Source)
}
