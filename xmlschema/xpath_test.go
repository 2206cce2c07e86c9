package xmlschema

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/antchfx/xmlquery"
	antchfx "github.com/antchfx/xpath"
)

func mustTable(t testing.TB, document []byte) []byte {
	t.Helper()
	b, err := BuildTable(document)
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return b
}

func mustCompile(t testing.TB, expression string) *Query {
	t.Helper()
	q, err := Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// expressions visit every axis and function that the queries of the vocabulary may use. The root's own
// value and position are left out: the reference has none.
var expressions = []string{
	"/*", "//*", "//*/@*", "//text()", "//comment()", "/*/*", "/*/*[1]", "/*/*[last()]", "/*/*[position()=2]", "//*[@*]", "//@id", "//*[not(*)]",
	"//keyword", "//keyword[1]", "//keyword[2]/@key", "//keyword[last()]/@key", "(//keyword)[2]", "//keyword[@weight>3]", "//keyword[@weight>=3][@match]/@key",
	"//keyword/@key | //uri", "//keyword[@key='java']/preceding-sibling::*", "//keyword[@key='java']/following-sibling::keyword/@key",
	"//keyword/ancestor::*", "//keyword/ancestor-or-self::*[1]", "//keyword/parent::*", "//keyword/..", "//depth/preceding::*", "//uri/following::*", "//uri/following::keyword[1]",
	"//*[self::uri or self::depth]", "/descendant::keyword", "/urd/descendant-or-self::*", "//b/text()", "//i/following-sibling::node()", "//p/node()", "//p/child::text()[2]",
	"//*[contains(.,'java')]", "//*[starts-with(@key,'j')]", "//*[ends-with(@key,'m')]", "//*[string-length(@key)=4]", "//*[lower-case(@key)='java']",
	"//*[normalize-space(.)='a b']", "//*[translate(@key,'ja','JA')='JAvA']", "//*[substring(@key,1,2)='ja']", "//*[substring-before(@key,'v')='ja']",
	"//*[substring-after(@key,'j')='ava']", "//*[concat(@key,'!')='java!']", "//*[name()='keyword']", "//*[local-name()='uri']", "//@*[name()='x:note']", "//*[namespace-uri()='urn:x']",
	"count(//*)", "count(//@*)", "sum(//keyword/@weight)", "string(//uri)", "number(//depth/@level)", "boolean(//keyword[@key='java'])", "not(//keyword)", "round(sum(//@weight) div 3)",
	"floor(sum(//@weight) div 2)", "ceiling(2.5)", "//keyword[@weight=5] and //depth[@level=1]", "//keyword[@weight mod 2 = 1]/@key", "count(//keyword) > 2 or //urgency/@urgent = 3", "-count(//*) + 3 * 2",
	"//x:el", "//@x:note", "//@xml:lang", "//y:el/@y:note", "//*[@x:note]/@*", "//el", "//*[.='tail']", "//urd[keywords/keyword[@key='java' and @weight=5]]", "//*[count(preceding-sibling::*)=1]", "//urd//keyword[../@match='any']/@key",
}

var mixedDocuments = []string{
	`<urd xmlns="urn:webrace:1" xmlns:x="urn:x" x:note="n" xml:lang="el"><uri x:note="m" note="l">u</uri><x:el x:note="o" weight="3">t<x:el/>tail</x:el><!--c--><depth level="1"/></urd>`,
	`<p>one<b>two<i>three</i>four</b>five<i/>six<!-- note -->seven<b>tail</b></p>`,
	`<a:p xmlns:a="urn:a" xmlns:y="urn:y" a:k="1"><y:el y:note="2" a:note="3">a b</y:el>java<a:q>java</a:q></a:p>`,
	`<r><keywords match="any"><keyword key="java" weight="5"/><keyword key="ibm" weight="1"/><keyword key="JAVA" weight="3"/></keywords><keywords><el/><keyword key="java"/></keywords></r>`,
	`<urd><keywords><keyword key="java" weight="5"/></keywords></urd>`,
	"<p>κείμενο<b>λόγος</b>\u00a0𝄞</p>",
}

func TestTablesAreReadAsByTheLibrary(t *testing.T) {
	t.Parallel()
	documents := slices.Clone(mixedDocuments)
	for seed := range uint64(120) {
		g := newGenerator(seed)
		documents = append(documents, string(g.urd().Canonical()), string(g.aci().Canonical()), string(g.meta().Canonical()))
	}
	nonEmpty := make(map[string]bool)
	for _, document := range documents {
		document = withoutBlankText(document)
		dom, err := parseDOM([]byte(document))
		if err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		table := mustTable(t, []byte(document))
		for _, expression := range expressions {
			want := distinctLines(selected(expression, xmlquery.CreateXPathNavigator(dom)))
			got := distinctLines(chosen(t, expression, table))
			if got != want {
				t.Errorf("%s\ngot\n%swant\n%s\n%s", expression, got, want, document)
			}
			if want != "" && want != "0" && want != "false" {
				nonEmpty[expression] = true
			}
		}
	}
	for _, expression := range expressions {
		if !nonEmpty[expression] {
			t.Errorf("%s selects nothing in any document", expression)
		}
	}
}

// withoutBlankText drops text of white space alone, which the reference skips on some axes.
func TestMatchIsTheBooleanOfTheReference(t *testing.T) {
	t.Parallel()
	matched := 0
	for seed := range uint64(40) {
		document := newGenerator(seed).urd().Canonical()
		dom, err := parseDOM([]byte(withoutBlankText(string(document))))
		if err != nil {
			t.Fatal(err)
		}
		table := mustTable(t, []byte(withoutBlankText(string(document))))
		for _, expression := range expressions {
			want := antchfx.MustCompile("boolean(" + expression + ")").Evaluate(xmlquery.CreateXPathNavigator(dom)).(bool)
			got, err := mustCompile(t, expression).Match(t.Context(), table)
			if err != nil || got != want {
				t.Errorf("%s: %v, %v, want %v\n%s", expression, got, err, want, document)
			}
			if got {
				matched++
			}
		}
	}
	if matched < 500 {
		t.Errorf("only %d matches", matched)
	}
}

func TestTheListOfAllDocumentsStandsForEach(t *testing.T) {
	t.Parallel()
	u := NewURD("eleni", "http://a.example/")
	u.Keywords = NewKeywords(Keyword{Key: "java", Weight: 5})
	table := mustTable(t, u.Canonical())
	cases := map[string]bool{
		"/urd":                                   true,
		"/urds/urd":                              true,
		"/urds/urd[@owner='eleni']":              true,
		"/urds/urd[@owner='demetris']":           false,
		"/urds//keyword[@key='java']":            true,
		"/urds/*":                                true,
		"/urds/urd[1]":                           true,
		"/urds/urd[2]":                           false,
		"not(/urds/urd[@owner='eleni'])":         false,
		"not(/urds/urd[@owner='demetris'])":      true,
		"//urd[@owner='eleni']":                  true,
		"/acis/aci":                              false,
		"/urds/urd | /acis/aci":                  true,
		"count(/urds/urd) = 1":                   true,
		"/urd[@owner='eleni' and /urds/urd/uri]": true,
		"urds/urd":                               false,
		"/urd/urds/urd":                          false,
		"'/urds' = '/urds'":                      true,
		"@owner":                                 false,
		"urd/@owner":                             true,
	}
	for expression, want := range cases {
		if got, err := mustCompile(t, expression).Match(t.Context(), table); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", expression, got, err, want)
		}
	}
}

func TestTablesOfAnySizeAreWalked(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 1000, 7000} { // around the width of a cell, by text and by nodes
		u := NewURD("eleni", "http://a.example/")
		for i := range n {
			u.Keywords.Keywords = append(u.Keywords.Keywords, Keyword{Key: fmt.Sprintf("word-%05d-%s", i, strings.Repeat("é", 30)), Weight: 3})
		}
		table := mustTable(t, u.Canonical())
		last := fmt.Sprintf("/urd/keywords/keyword[starts-with(@key, 'word-%05d-')]", n-1)
		if ok, err := mustCompile(t, last).Match(t.Context(), table); !ok || err != nil {
			t.Errorf("%d keywords: %v, %v", n, ok, err)
		}
		if wide := table[0] == wideTable; wide != (n >= 1000) {
			t.Errorf("%d keywords: wide cells: %v", n, wide)
		}
	}
}

func TestCostlyExpressionsStop(t *testing.T) {
	t.Parallel()
	u := NewURD("eleni", "*")
	for i := range 4000 {
		u.Keywords.Keywords = append(u.Keywords.Keywords, Keyword{Key: fmt.Sprint(i), Weight: 3})
	}
	table := mustTable(t, u.Canonical())
	for _, expression := range []string{
		"//keyword[count(//keyword)=1]",
		"//keyword[count(preceding-sibling::keyword)=-1]",
		"//keyword[//keyword/@key='x']",
		"//keyword[following::keyword[last()]/@key = 'x']",
		"//keyword[contains(string(/), 'nowhere')]",
	} {
		_, err := mustCompile(t, expression).Match(t.Context(), table)
		if !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v", expression, err)
		}
	}
	if ok, err := mustCompile(t, "//keyword[@key='3999']").Match(t.Context(), table); !ok || err != nil {
		t.Errorf("an ordinary expression: %v, %v", ok, err)
	}
}

// endsAfter is a context that ends once it was asked a number of times.
type endsAfter struct {
	context.Context
	left *int
}

func (c endsAfter) Err() error {
	if *c.left--; *c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestMatchObeysItsContext(t *testing.T) {
	t.Parallel()
	u := NewURD("eleni", "*")
	for i := range 4000 {
		u.Keywords.Keywords = append(u.Keywords.Keywords, Keyword{Key: fmt.Sprint(i), Weight: 3})
	}
	table := mustTable(t, u.Canonical())
	q := mustCompile(t, "//keyword[count(//keyword)=1]")
	for left := range 3 {
		_, err := q.Match(endsAfter{t.Context(), &left}, table)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
}

func TestQueriesAreSharedSafely(t *testing.T) {
	t.Parallel()
	var tables [][]byte
	for seed := range uint64(20) {
		tables = append(tables, mustTable(t, newGenerator(seed).urd().Canonical()))
	}
	for _, expression := range expressions {
		q := mustCompile(t, expression)
		want := make([]bool, len(tables))
		for i, table := range tables {
			fresh := mustCompile(t, expression)
			want[i], _ = fresh.Match(t.Context(), table)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i, table := range tables {
					if got, err := q.Match(context.Background(), table); got != want[i] || err != nil {
						t.Errorf("%s: document %d: %v, %v, want %v", expression, i, got, err, want[i])
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestBadExpressionsAreErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"":                       "it is empty",
		"  ":                     "it is empty",
		"/urd[":                  "a [ is not closed",
		"/urd]":                  "a ] has no [",
		"/urd[@id=(]":            "a ] has no [",
		"a) or (b":               "a ) has no (",
		"/urd[@id='x]":           "a string is not closed",
		"/urd[@id=$x]":           "'$' is not part of XPath here",
		"/urd[@id=#]":            "'#' is not part of XPath here",
		"/urd[contain(@id,'x')]": `there is no function contain (did you mean "contains"?)`,
		"replace(/urd,'','x')":   "there is no function replace",
		"matches(/urd,'(a+)+')":  "there is no function matches",
		"/urd/parrent::x":        `there is no axis parrent (did you mean "parent"?)`,
		"/urd/namespace::x":      "there is no axis namespace",
		"/urds":                  "every document is matched alone: write /urd",
		"/urds[urd]":             "every document is matched alone: write /urd",
		"count('x')":             "it is not an XPath expression: at character 10, before ), count() is given a string, and wants nodes",
		"'x'/urd":                "it is not an XPath expression: at character 4, before /, a string has no parts",
		"1 | /urd":               "it is not an XPath expression: at character 3, before |, a number cannot be joined with |",
		"/urd/count(uri)":        "it is not an XPath expression: at character 6, before count, a function is no step",
		"count(/acis)":           "every document is matched alone: write /aci",
		"1.2.3":                  "1.2.3 is not a number",
		"/urd[@id='x'] garbage":  "it is not an XPath expression: at character 15, before garbage, there is more than an expression",
		"/urd, /urd":             "it is not an XPath expression: at character 5, before ,, there is more than an expression",
		"starts-with(/urd)":      "it is not an XPath expression: at character 17, before ), starts-with() has 1 arguments",
		"/urd//":                 "it is not an XPath expression: at its end a step is missing",
		"\xff":                   "it is not valid UTF-8",
		strings.Repeat("(", 2000) + "a" + strings.Repeat(")", 2000): "it is not an XPath expression: at character 101, before (, it is nested more than 100 deep",
	}
	for expression, want := range cases {
		if _, err := Compile(expression); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%.40q: %v, want %s", expression, err, want)
		}
	}
	if _, err := Compile("'" + strings.Repeat("x", MaxExpression) + "'"); err == nil || !strings.Contains(err.Error(), "longer than 4 KB") {
		t.Errorf("a long expression: %v", err)
	}
}

func TestSectionsAndInstructionsAreNoNodes(t *testing.T) {
	t.Parallel()
	table := mustTable(t, []byte(`<?xml version="1.0"?><a>one <![CDATA[<two>]]> three<?pi x?><!--c--><![CDATA[]]></a><!-- after -->`))
	for _, expression := range []string{
		"count(/a/node()) = 2", "/a/text() = 'one <two> three'", "/a/comment() = 'c'", "count(//comment()) = 2",
		"string(/) = 'one <two> three'", "not(/a/@*)", "count(/node()) = 2",
	} {
		if ok, err := mustCompile(t, expression).Match(t.Context(), table); !ok || err != nil {
			t.Errorf("%s: %v, %v", expression, ok, err)
		}
	}
	if q := mustCompile(t, "/urds/urd"); q.String() != "/urds/urd" {
		t.Errorf("a query is called %s", q)
	}
}

func TestBuildTableRefusesWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		"", " ", "text", "<a>", "<a></b>", "<a/><b/>", "<a/>text", "<!DOCTYPE a><a/>", "<!-- only -->",
		strings.Repeat("<a>", MaxDepth+1) + strings.Repeat("</a>", MaxDepth+1), "<a b='1'c='2'/>",
	} {
		if _, err := BuildTable([]byte(document)); err == nil {
			t.Errorf("%.40s: accepted", document)
		}
	}
}

func TestDamagedTablesAreErrorsOrAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, in one goroutine: not in short mode")
	}
	t.Parallel()
	sound := mustTable(t, []byte(mixedDocuments[0]))
	queries := []*Query{mustCompile(t, "//*[.='nowhere']"), mustCompile(t, "//@*[.='x']"), mustCompile(t, "//comment()/following::*[name()='y']")}
	failed := 0
	try := func(table []byte) {
		for _, q := range queries {
			if _, err := q.Match(t.Context(), table); err != nil {
				failed++
			}
		}
	}
	for i := range sound {
		for _, value := range []byte{0, 1, 0xff} {
			damaged := slices.Clone(sound)
			damaged[i] = value
			try(damaged)
		}
		try(sound[:i])
	}
	if failed < len(sound) {
		t.Errorf("only %d errors", failed)
	}
}

func FuzzTablesAreReadAsByTheLibrary(f *testing.F) {
	for _, document := range mixedDocuments {
		f.Add([]byte(document), uint8(0))
	}
	files, _ := os.ReadDir("testdata/good")
	for i, file := range files {
		document, err := os.ReadFile("testdata/good/" + file.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document, uint8(i))
	}
	f.Fuzz(func(t *testing.T, document []byte, which uint8) {
		if len(document) > 4<<10 || unlikeReference(document) {
			return // the reference has no budget
		}
		table, err := BuildTable(document)
		if err != nil {
			return
		}
		dom, err := parseDOM(document)
		if err != nil {
			return
		}
		expression := expressions[int(which)%len(expressions)]
		want := distinctLines(selected(expression, xmlquery.CreateXPathNavigator(dom)))
		if got := distinctLines(chosen(t, expression, table)); got != want {
			t.Errorf("%s\ngot\n%swant\n%s\n%s", expression, got, want, document)
		}
	})
}

func FuzzCompileAndMatchNeverPanic(f *testing.F) {
	for _, expression := range expressions {
		f.Add(expression)
	}
	u := NewURD("eleni", "http://a.example/")
	u.ID, u.Keywords = "u1", NewKeywords(Keyword{Key: "java", Weight: 5}, Keyword{Key: "ibm"})
	table := mustTable(f, u.Canonical())
	f.Fuzz(func(t *testing.T, expression string) {
		q, err := Compile(expression)
		if err != nil {
			return
		}
		matched, err := q.Match(t.Context(), table)
		again, _ := q.Match(t.Context(), table)
		if matched != again {
			t.Fatalf("%q: %v, then %v", expression, matched, again)
		}
		whole := *q
		whole.screen = nil
		if want, wholeErr := whole.Match(t.Context(), table); err == nil && wholeErr == nil && matched != want {
			t.Fatalf("%q: %v, and %v without its screen", expression, matched, want)
		}
		for _, hint := range q.Hints() {
			if matched && err == nil && !hint.Admits(u) {
				t.Fatalf("%q matches in spite of its hint %v", expression, hint)
			}
		}
	})
}
