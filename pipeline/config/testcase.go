package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// A Test is a case of a pipeline's tests, a [[test]] table of pipelines.toml, of a file that it includes, or
// of a file *_test.toml beside it. The package pipelinetest runs it.
type Test struct {
	Name     string
	Pipeline string
	Run      string         // the flow to run, of stages of the pipeline; empty for the whole pipeline
	Set      []string       // overrides of options, as --set takes them
	Given    pipeline.Table // what the program that runs the test is to provide before: its own keys
	In       []TestItem
	Fixtures map[string][]TestAnswer // stages that are replaced, and what stands in for them
	Expect   []TestExpectation
	At       TestPlace
}

// TestItem is a value as a test writes it: fields by the names of the kind's codec, and a body.
type TestItem struct {
	Stage  string // that is given it
	Kind   string // empty: the first that the stage takes
	Fields pipeline.Table
	Body   []byte
	At     TestPlace
}

// TestAnswer is what a fixture makes of the items that have the fields When; of all, without any.
type TestAnswer struct {
	When pipeline.Table
	Port string
	Drop bool // it makes nothing of them
	TestItem
}

// TestExpectation is what is to be true of the items that leave a port. Without a Count there is to be one at
// least, and every one of them is as it describes.
type TestExpectation struct {
	From     string         // STAGE or STAGE.PORT
	Count    int            // of the items that Where selects; -1 if it is not said
	Item     int            // the only one of them that the rest is about, from 1; 0 for all
	Where    string         // an expression: which items are meant
	That     string         // an expression that is true of them
	Equals   pipeline.Table // fields that have these values
	Contains pipeline.Table // fields that have this text in them, or lists that have this element
	Matches  pipeline.Table // fields that match a regular expression
	XPath    pipeline.Table // what XPath expressions select, as text
	At       TestPlace
}

// TestPlace is where something of a test stands, and of it the keys.
type TestPlace struct {
	Pos  finding.Position
	v    *value
	Path string
}

// Finding reports something about the place, at one of its keys if that is there: "equals.url".
func (p TestPlace) Finding(code finding.Code, key, format string, args ...any) finding.Finding {
	f := finding.Finding{Pos: p.Pos, Code: code, Path: p.Path, Message: fmt.Sprintf(format, args...), Width: 1}
	if p.v == nil {
		return f
	}
	f.Width, f.SourceLine = p.v.chars(p.v.keyStart, p.v.keyWidth), p.v.doc.line(p.Pos.Line)
	if v := p.v.at(key); key != "" && v != nil {
		f.Pos, f.Width = v.doc.position(v.start), v.chars(v.start, v.width)
		f.Path, f.SourceLine = p.Path+"."+key, v.doc.line(f.Pos.Line)
	}
	return f
}

// testFiles are the files of tests beside a configuration.
func testFiles(path string) []string {
	found, _ := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(path)), "*_test.toml")) // a pattern that is not wrong
	return found
}

// escapeGlob makes a path mean itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(path)
}

// readTests adds the files of tests beside the main file.
func (l *loader) readTests(path string) {
	for _, name := range testFiles(path) {
		l.include(name, nil)
	}
}

// tests reads the [[test]] tables of all files.
func (l *loader) tests() []Test {
	var all []Test
	for _, doc := range l.docs {
		if doc.root == nil {
			continue
		}
		list := doc.root.get("test")
		if list == nil {
			continue
		}
		if list.kind != listValue {
			l.report(list.keyFinding(finding.CodeWrongType, "tests are a list of tables, [[test]]"))
			continue
		}
		for _, v := range list.list {
			r := testReader{l, "test"}
			all = append(all, r.test(v, all))
		}
	}
	return all
}

func (l *loader) pipelineOfTest(r testReader, v *value) string {
	name := r.text(v, "pipeline")
	names := slices.Sorted(maps.Keys(l.pipelines))
	switch {
	case v.get("pipeline") == nil:
		r.report(v.keyFinding(finding.CodeTest, "a test names its pipeline: pipeline = \"…\""))
	case !slices.Contains(names, name):
		f := unknownPipeline(name, names)
		at := v.get("pipeline").finding(f.Code, f.Message)
		at.Hint = f.Hint
		r.report(at)
	}
	return name
}
