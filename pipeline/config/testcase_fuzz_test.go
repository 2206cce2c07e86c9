package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/webrace/webrace/pipeline/finding"
)

const fuzzedPipeline = "version = 1\npipeline.p.flow = [\"lines > print\"]\n"

func parseTests(source string) ([]Test, error) {
	env := func(name string) (string, bool) { return "of " + name, len(name) > 1 }
	config, err := Parse("x_test.toml", []byte(source), LoadOptions{Registry: configRegistry(), Run: []string{}, Tests: true, Env: env})
	if err != nil {
		return nil, err
	}
	return config.Tests, nil
}

var goodTests = []string{
	"[[test]]\nname = \"a\"\npipeline = \"p\"\n[[test.in]]\nstage = \"print\"\nurl = \"${URL}x\"\nbody = \"b\"\n[[test.expect]]\nfrom = \"lines\"\ncount = 1\nequals = { n = 1, m.o = [1.5, true] }\n",
	"[[test]]\nname = \"b\"\npipeline = \"p\"\nrun = \"print\"\nset = \"a,b\"\ngiven.urds = '''<urd/>'''\nexpect = [{ from = \"print.errors\", where = \"x\", item = 2, xpath = { \"//a\" = \"1\" } }]\n[[test.fixture.lines]]\nwhen = { a = 2026-11-21 }\ndrop = true\n",
}

var badTests = []string{
	"[[test]]\nname = 1\npipeline = \"q\"\nexpct = []\nexpect = [1]\nin = 3\nfixture = [[]]\n",
	"[[test]]\nname = \"c\"\npipeline = \"p\"\nexpect = [{ from = \"lines\", count = 0, that = \"x\" }, { from = \"${\", count = -1 }]\n",
	"test = 1\n", "test = [[], 1]\n", "[test]\nname = \"a\"\n",
}

func TestTestsAreAcceptedOrRefused(t *testing.T) {
	t.Parallel()
	for _, source := range goodTests {
		if tests, err := parseTests(fuzzedPipeline + source); err != nil || len(tests) != 1 || len(tests[0].Expect) != 1 {
			t.Errorf("%s: %+v, %v", source, tests, err)
		}
	}
	for _, source := range badTests {
		if _, err := parseTests(fuzzedPipeline + source); err == nil {
			t.Errorf("%s: it is accepted", source)
		}
	}
}

// FuzzTests wants every mistake in a test to have its place, and a test that is accepted to mean the same when
// it was written in another way: as the library writes what it has read.
func FuzzTests(f *testing.F) {
	for _, seed := range slices.Concat(goodTests, badTests) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if strings.Contains(source, "body_file") || strings.Contains(source, `\`) {
			t.Skip("it may read any file")
		}
		tests, err := parseTests(fuzzedPipeline + source)
		var found finding.List
		switch {
		case errors.As(err, &found):
			lines := strings.Count(fuzzedPipeline+source, "\n") + 1
			for _, f := range found {
				if f.Pos.Line < 1 || f.Pos.Line > lines || f.Message == "" {
					t.Fatalf("%+v is no place of %d lines", f, lines)
				}
			}
			return
		case err != nil:
			t.Fatalf("the error is %T: %v", err, err)
		}
		var plain map[string]any
		if err := toml.Unmarshal([]byte(fuzzedPipeline+source), &plain); err != nil {
			t.Fatalf("it is accepted and no TOML: %v", err)
		}
		written, err := toml.Marshal(plain)
		if err != nil {
			t.Skip("the library cannot write it")
		}
		again, err := parseTests(string(written))
		if err != nil {
			t.Fatalf("written as\n%s: %v", written, err)
		}
		place := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[TestPlace]() }, cmp.Ignore())
		if diff := cmp.Diff(tests, again, place); diff != "" {
			t.Fatalf("written as\n%s it means another: %s", written, diff)
		}
	})
}
