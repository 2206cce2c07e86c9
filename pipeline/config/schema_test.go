package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// schemaChecker knows as much of JSON Schema as [Schema] uses, and refuses the rest.
type schemaChecker struct{ root map[string]any }

func (c schemaChecker) check(schema map[string]any, v any) error {
	for keyword, want := range schema {
		if err := c.keyword(keyword, want, schema, v); err != nil {
			return err
		}
	}
	return nil
}

func (c schemaChecker) keyword(keyword string, want any, schema map[string]any, v any) error {
	table, isTable := v.(map[string]any)
	switch keyword {
	case "$schema", "title", "description", "default", "definitions", "then", "else", "deprecated":
		return nil
	case "$ref":
		name := strings.TrimPrefix(want.(string), "#/definitions/")
		definition, ok := c.root["definitions"].(map[string]any)[name].(map[string]any)
		if !ok {
			return fmt.Errorf("schema: no definition of %v", want)
		}
		return c.check(definition, v)
	case "type":
		for _, typ := range slices.Concat(asList(want)) {
			if hasType(v, typ.(string)) {
				return nil
			}
		}
		return fmt.Errorf("%v is no %v", v, want)
	case "const":
		return c.keyword("enum", []any{want}, schema, v)
	case "enum":
		if !slices.ContainsFunc(want.([]any), func(w any) bool { return fmt.Sprint(w) == fmt.Sprint(v) }) {
			return fmt.Errorf("%v is none of %v", v, want)
		}
	case "minimum":
		if n, ok := v.(int64); ok && float64(n) < want.(float64) {
			return fmt.Errorf("%v is below %v", v, want)
		}
	case "pattern":
		if s, ok := v.(string); ok && !regexp.MustCompile(want.(string)).MatchString(s) {
			return fmt.Errorf("%q does not match %v", s, want)
		}
	case "items":
		list, _ := v.([]any)
		for _, element := range list {
			if err := c.check(want.(map[string]any), element); err != nil {
				return err
			}
		}
	case "required":
		for _, key := range want.([]any) {
			if _, ok := table[key.(string)]; isTable && !ok {
				return fmt.Errorf("%v is missing", key)
			}
		}
	case "propertyNames":
		for key := range table {
			if err := c.check(want.(map[string]any), key); err != nil {
				return err
			}
		}
	case "properties":
		for key, inner := range want.(map[string]any) {
			if entry, ok := table[key]; ok {
				if err := c.check(inner.(map[string]any), entry); err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
			}
		}
	case "additionalProperties":
		return c.additional(want, schema, table)
	case "anyOf":
		for _, one := range want.([]any) {
			if c.check(one.(map[string]any), v) == nil {
				return nil
			}
		}
		return fmt.Errorf("%v is none of %v", v, want)
	case "allOf":
		for _, one := range want.([]any) {
			if err := c.check(one.(map[string]any), v); err != nil {
				return err
			}
		}
	case "if":
		branch := "then"
		if c.check(want.(map[string]any), v) != nil {
			branch = "else"
		}
		if inner, ok := schema[branch]; ok {
			return c.check(inner.(map[string]any), v)
		}
	default:
		return fmt.Errorf("schema: unknown keyword %s", keyword)
	}
	return nil
}

func (c schemaChecker) additional(want any, schema, table map[string]any) error {
	known, _ := schema["properties"].(map[string]any)
	for key, entry := range table {
		if _, ok := known[key]; ok {
			continue
		}
		if want == false {
			return fmt.Errorf("%s is unknown", key)
		}
		if err := c.check(want.(map[string]any), entry); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func hasType(v any, typ string) bool {
	switch v.(type) {
	case map[string]any:
		return typ == "object"
	case []any:
		return typ == "array"
	case string:
		return typ == "string"
	case bool:
		return typ == "boolean"
	case int64:
		return typ == "integer" || typ == "number"
	case float64:
		return typ == "number"
	}
	return false
}

// checkSchema checks a TOML text against the schema of the toy stages.
func checkSchema(t *testing.T, source string) error {
	t.Helper()
	text, err := Schema(configRegistry())
	if err != nil {
		t.Fatal(err)
	}
	var c schemaChecker
	if err := json.Unmarshal(text, &c.root); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := toml.Unmarshal([]byte(source), &v); err != nil {
		t.Fatal(err)
	}
	return c.check(c.root, v)
}

func TestSchemaAcceptsWhatLoads(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/config/good_*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		if strings.Contains(path, "good_only_what_is_run") {
			continue // its other pipeline is wrong
		}
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".toml") {
				if err := checkSchema(t, string(f.Data)); err != nil {
					t.Errorf("%s: %s: %v", path, f.Name, err)
				}
			}
		}
	}
}

func TestSchemaRefusesWhatDoesNotLoad(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, source string }{
		{"unknown key", "versoin = 1"},
		{"version", "version = 2"},
		{"name", "pipeline.'a b'.flow = 'a > b'"},
		{"no flow", "pipeline.a.title = 'x'"},
		{"flow", "pipeline.a.flow = [1]"},
		{"unknown type", "pipeline.a = {flow = 'urds > print', stage.urds.type = 'urd'}"},
		{"no such type", "pipeline.a = {flow = 'urds > out', stage.out.buffer = 1}"},
		{"option of another type", "pipeline.a = {flow = 'urds > print', stage.print = {type = 'print', delay = '1s'}}"},
		{"wrong type", "pipeline.a = {flow = 'urds > print', stage.print.workers = 'x'}"},
		{"wrong word", "defaults.fetch.mode = 'post'"},
		{"negative", "defaults.fetch.port = -1"},
		{"type in defaults", "defaults.fetch.type = 'fetch'"},
		{"defaults of nothing", "defaults.ftch.delay = '1s'"},
		{"batch of single items", "defaults.fetch.batch.count = 1"},
	} {
		if err := checkSchema(t, tt.source); err == nil || strings.HasPrefix(err.Error(), "schema:") {
			t.Errorf("%s: %v, want it refused", tt.name, err)
		}
		if _, err := Parse("x.toml", []byte(tt.source), LoadOptions{Registry: configRegistry()}); err == nil {
			t.Errorf("%s: it loads", tt.name)
		}
	}
}

func TestReferenceOfTheToyStages(t *testing.T) {
	t.Parallel()
	r := configRegistry()
	spec := toySpec("follow", nil, pipeline.Port{Name: "", Kind: links, Doc: "in the order of the store"}, port("skipped", pipeline.SameAsInput))
	spec.Follows, spec.Workers, spec.Doc = true, 4, "It has more to say.\n"
	pipeline.RegisterIn(r, spec, struct {
		Pattern string `toml:"pattern" doc:"a|b"`
	}{"x|y"}, none)
	testutil.Golden(t, "testdata/reference/stages.md", asInCases(string(Reference(r))))
	text, err := Describe(r, "fetch", 0)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Golden(t, "testdata/reference/fetch.txt", asInCases(text))
	schema, err := Schema(r)
	if err != nil {
		t.Fatal(err)
	}
	testutil.Golden(t, "testdata/reference/schema.json", asInCases(string(schema)))
	var found finding.List
	if _, err := Describe(r, "fetsh", 0); !errors.As(err, &found) || found[0].Hint != "fetch" {
		t.Errorf("describing a type that does not exist: %v", err)
	}
}
