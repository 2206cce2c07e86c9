package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// testReader reads the tables of tests. It goes on after what is wrong.
type testReader struct {
	*loader
	path string
}

func (r testReader) report(f finding.Finding) {
	f.Path = cmp.Or(f.Path, r.path)
	r.loader.report(f)
}

func (r testReader) place(v *value) TestPlace {
	return TestPlace{Pos: v.keyPosition(), v: v, Path: r.path}
}

// only reports keys that nothing reads.
func (r testReader) only(v *value, what string, keys ...string) {
	for _, key := range v.keys {
		if !slices.Contains(keys, key) {
			f := v.table[key].keyFinding(finding.CodeUnknownKey, fmt.Sprintf("%s has no %q, only %s", what, key, strings.Join(keys, ", ")))
			f.Hint = suggest.Nearest(key, keys)
			r.report(f)
		}
	}
}

// typed returns an entry if it is there and of that type.
func (r testReader) typed(v *value, key string, kind valueKind) *value {
	entry := v.get(key)
	if entry != nil && entry.kind != kind {
		r.report(entry.finding(finding.CodeWrongType, fmt.Sprintf("%s is %s, not %s", key, kind, entry.kind)))
		return nil
	}
	return entry
}

func (r testReader) text(v *value, key string) string { return r.expanded(v, key, r.expand) }

// expression reads an expression, in which a variable of the environment is a constant.
func (r testReader) expression(v *value, key string) string {
	return r.expanded(v, key, r.expandExpression)
}

func (r testReader) expanded(v *value, key string, expand func(*value) (string, []finding.Finding)) string {
	entry := r.typed(v, key, stringValue)
	if entry == nil {
		return ""
	}
	text, wrong := expand(entry)
	for _, f := range wrong {
		r.report(f)
	}
	return text
}

func (r testReader) table(v *value, key string) pipeline.Table {
	entry := r.typed(v, key, tableValue)
	if entry == nil {
		return nil
	}
	return r.fields(entry)
}

// fields returns a table's entries, but those of some keys.
func (r testReader) fields(v *value, without ...string) pipeline.Table {
	d := &decoder{l: r.loader, path: r.path}
	table := make(pipeline.Table)
	for _, key := range v.keys {
		if !slices.Contains(without, key) {
			table[key] = d.anything(v.table[key], key)
		}
	}
	return table
}

func (r testReader) number(v *value, key string, least, otherwise int) int {
	entry := r.typed(v, key, integerValue)
	if entry == nil {
		return otherwise
	}
	n, err := strconv.Atoi(entry.text)
	if err != nil || n < least {
		r.report(entry.finding(finding.CodeBadValue, fmt.Sprintf("%s cannot be %s: it is a number from %d on", key, entry.text, least)))
	}
	return n
}

// each calls f with the tables of a list, each of which is called by path.
func (r testReader) each(v *value, key, path string, f func(testReader, *value)) {
	list := r.typed(v, key, listValue)
	if list == nil {
		return
	}
	for _, entry := range list.list {
		if entry.kind != tableValue {
			r.report(entry.finding(finding.CodeWrongType, fmt.Sprintf("%s is a list of tables, not of %s", path, entry.kind)))
			continue
		}
		f(testReader{r.loader, path}, entry)
	}
}

func (r testReader) test(v *value, before []Test) Test {
	t := Test{At: r.place(v)}
	if v.kind != tableValue {
		r.report(v.finding(finding.CodeWrongType, "tests are a list of tables, [[test]]"))
		return t
	}
	r.only(v, "a test", "name", "pipeline", "run", "set", "given", "in", "fixture", "expect")
	t.Name, t.Pipeline, t.Run, t.Given = r.text(v, "name"), r.pipelineOfTest(r, v), r.text(v, "run"), r.table(v, "given")
	switch {
	case t.Name == "":
		r.report(v.keyFinding(finding.CodeTest, "a test has a name, which says what must hold"))
	case slices.ContainsFunc(before, func(b Test) bool { return b.Name == t.Name && b.Pipeline == t.Pipeline }):
		r.report(v.get("name").finding(finding.CodeDuplicate, fmt.Sprintf("there is a test %q of pipeline %q before", t.Name, t.Pipeline)))
	}
	if set := v.get("set"); set != nil {
		for _, s := range r.texts(set, "set") {
			t.Set = append(t.Set, s.text)
		}
	}
	r.each(v, "in", "test.in", func(r testReader, v *value) { t.In = append(t.In, r.item(v)) })
	r.each(v, "expect", "test.expect", func(r testReader, v *value) { t.Expect = append(t.Expect, r.expectation(v)) })
	if len(t.Expect) == 0 {
		r.report(v.keyFinding(finding.CodeTest, "a test that expects nothing cannot fail: add a [[test.expect]]"))
	}
	t.Fixtures = make(map[string][]TestAnswer)
	if fixtures := r.typed(v, "fixture", tableValue); fixtures != nil {
		for _, stage := range fixtures.keys {
			t.Fixtures[stage] = nil
			r.each(fixtures, stage, "test.fixture."+stage, func(r testReader, v *value) {
				t.Fixtures[stage] = append(t.Fixtures[stage], r.answer(v))
			})
		}
	}
	return t
}

func (r testReader) item(v *value) TestItem {
	item := TestItem{Stage: r.text(v, "stage"), Kind: r.text(v, "kind"), Fields: r.fields(v, "stage", "kind", "body", "body_file"), At: r.place(v)}
	if item.Stage == "" {
		r.report(v.keyFinding(finding.CodeTest, "an item names the stage that is given it: stage = \"…\""))
	}
	item.Body = r.body(v)
	return item
}

func (r testReader) answer(v *value) TestAnswer {
	a := TestAnswer{When: r.table(v, "when"), Port: r.text(v, "port")}
	a.TestItem = TestItem{Kind: r.text(v, "kind"), Fields: r.fields(v, "when", "port", "drop", "kind", "body", "body_file"), At: r.place(v)}
	if drop := r.typed(v, "drop", boolValue); drop != nil {
		a.Drop = drop.text == "true"
	}
	a.Body = r.body(v)
	return a
}

// body returns the bytes that are written in a test, or in a file beside it.
func (r testReader) body(v *value) []byte {
	text, name := r.text(v, "body"), r.text(v, "body_file")
	if name == "" {
		return []byte(text)
	}
	if text != "" {
		r.report(v.get("body_file").keyFinding(finding.CodeTest, "either body or body_file"))
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(v.doc.name), name)
	}
	body, err := os.ReadFile(name)
	if err != nil {
		r.report(v.get("body_file").finding(finding.CodeFile, fmt.Sprintf("body_file: %v", err)))
	}
	return body
}

func (r testReader) expectation(v *value) TestExpectation {
	r.only(v, "an expectation", "from", "count", "item", "where", "that", "equals", "contains", "matches", "xpath")
	e := TestExpectation{
		From: r.text(v, "from"), Count: r.number(v, "count", 0, -1), Item: r.number(v, "item", 1, 0),
		Where: r.expression(v, "where"), That: r.expression(v, "that"),
		Equals: r.table(v, "equals"), Contains: r.table(v, "contains"), Matches: r.table(v, "matches"), XPath: r.table(v, "xpath"),
		At: r.place(v),
	}
	if e.From == "" {
		r.report(v.keyFinding(finding.CodeTest, "an expectation names the stage, or the port, that its items leave: from = \"…\""))
	}
	if e.Count == 0 && (e.That != "" || e.Item > 0 || len(e.Equals)+len(e.Contains)+len(e.Matches)+len(e.XPath) > 0) {
		r.report(v.get("count").finding(finding.CodeTest, "nothing can be said of items of which there are none"))
	}
	return e
}
