package xmlschema

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

const selectable = `<urd id="u1" owner="ann"><uri>http://a.org/</uri><keywords threshold="20"><keyword key="ibm" weight="3"/><keyword key="java" weight="4"/></keywords></urd>`

func tableOf(t testing.TB, document string) []byte {
	t.Helper()
	table, err := BuildTable([]byte(strings.Replace(document, "<urd", `<urd xmlns="`+Namespace+`"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestASelectionGivesTheValues(t *testing.T) {
	t.Parallel()
	table := tableOf(t, selectable)
	for expression, want := range map[string][]string{
		"/urd/uri":                        {"http://a.org/"},
		"/urds/urd/@id":                   {"u1"},
		"//keyword/@key":                  {"ibm", "java"},
		"/urd/nothing":                    nil,
		"count(//keyword)":                {"2"},
		"sum(//@weight) div 2":            {"3.5"},
		"1 div 0":                         {"Infinity"},
		"-1 div 0":                        {"-Infinity"},
		"//keyword[@weight>3]/@key":       {"java"},
		"/urd/@owner='ann'":               {"true"},
		"concat(/urd/@id, ' ', /urd/uri)": {"u1 http://a.org/"},
	} {
		s, err := CompileSelection(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		for range 2 { // a second time it is the same
			if got, err := s.Values(t.Context(), table); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s selects %q, %v, want %q", expression, got, err, want)
			}
		}
	}
}

func TestASelectionIsRefusedAsAQueryIs(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"", "/urd[", "/urds", "id('x')", strings.Repeat("(", MaxExpression)} {
		_, ofQuery := Compile(wrong)
		if _, err := CompileSelection(wrong); err == nil || ofQuery == nil || err.Error() != ofQuery.Error() {
			t.Errorf("%.20q is refused by %v, as a query by %v", wrong, err, ofQuery)
		}
	}
	s, err := CompileSelection("/urd/uri")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Values(t.Context(), []byte("no table")); err == nil {
		t.Error("no error for what is no table")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Values(ended, tableOf(t, selectable)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A selection that is compiled selects something where the same expression matches.
func FuzzSelection(f *testing.F) {
	for _, expression := range []string{"/urd/uri", "//keyword/@key", "count(//keyword)", "/urd[2]", "1=2", "''"} {
		f.Add(expression)
	}
	table := tableOf(f, selectable)
	f.Fuzz(func(t *testing.T, expression string) {
		s, err := CompileSelection(expression)
		q, errOfQuery := Compile(expression)
		if err != nil || errOfQuery != nil {
			return
		}
		values, err := s.Values(t.Context(), table)
		matched, errOfQuery := q.Match(t.Context(), table)
		if err != nil || errOfQuery != nil {
			return
		}
		if matched && len(values) == 0 {
			t.Errorf("%q matches, and selects nothing", expression)
		}
	})
}
