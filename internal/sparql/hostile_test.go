package sparql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// ring is a dataset of nodes in a circle, with a chord each and a number.
func ring(nodes int) *counted {
	m := NewMemory(nil)
	for i := range nodes {
		node := func(n int) webrace.Term { return rdf.NewIRI(fmt.Sprintf("n:%d", n%nodes)) }
		for _, t := range []webrace.Triple{
			{Subject: node(i), Predicate: "<p:next>", Object: node(i + 1)},
			{Subject: node(i), Predicate: "<p:far>", Object: node(i * 7)},
			{Subject: node(i), Predicate: "<p:number>", Object: rdf.NewTyped(fmt.Sprint(i), rdf.XSDInteger)},
		} {
			m.Add(rdf.Quad{Triple: t})
		}
	}
	return &counted{Dataset: m}
}

func doubling(n int) string {
	var b strings.Builder
	b.WriteString("BIND('x' AS ?x0) ")
	for i := range n {
		fmt.Fprintf(&b, "BIND(CONCAT(?x%d, ?x%[1]d) AS ?x%d) ", i, i+1)
	}
	return b.String()
}

// numbered writes a text n times, with its number for each %[1]d.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, i+1)
	}
	return b.String()
}

func TestHostile(t *testing.T) {
	const cross = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i"
	const wrong, late, large, long = "SPARQL: line", "it would take longer than", "MiB of memory", "computed text"
	for _, c := range []struct{ name, query, ends string }{ // empty: it is answered
		{"nested groups", "ASK " + strings.Repeat("{", 500_000), wrong},
		{"nested parentheses", "ASK { FILTER(" + strings.Repeat("(", 500_000), wrong},
		{"nested negations", "ASK { FILTER(" + strings.Repeat("!", 500_000) + "1) }", wrong},
		{"nested calls", "ASK { FILTER" + strings.Repeat("(ABS", 100_000), wrong},
		{"nested brackets", "ASK { " + strings.Repeat("[ <p:p> ", 100_000), wrong},
		{"nested lists", "ASK { " + strings.Repeat("( ", 500_000), wrong},
		{"nested paths", "ASK { ?a " + strings.Repeat("(", 500_000), wrong},
		{"nested EXISTS", "ASK { " + strings.Repeat("FILTER EXISTS { ", 50_000), wrong},
		{"nested subqueries", "ASK { " + strings.Repeat("{ SELECT * { ", 50_000), wrong},
		{"many patterns", "ASK { " + strings.Repeat("?a ?b ?c . ", 90_000) + "}", wrong},
		{"many variables", "SELECT " + numbered(90_000, "?v%[1]d ") + "{}", wrong},
		{"many alternatives", "ASK { ?a " + strings.Repeat("<p:p>|", 90_000) + "<p:p> ?b }", wrong},
		{"too long", "ASK { } # " + strings.Repeat("x", MaxText), "its text has"},

		{"a long chain of patterns", "ASK { " + numbered(1500, "?v%[1]d <p:next> ?v%[2]d . ") + "}", ""},
		{"a long chain of OPTIONAL", "ASK { " + numbered(1300, "OPTIONAL { ?v%[1]d <p:next> ?v%[2]d } ") + "}", ""},
		{"a long chain of MINUS", "ASK { ?v0 ?b ?c " + numbered(1300, "MINUS { ?v%[1]d <p:next> <n:%[2]d> } ") + "}", ""},
		{"a wide UNION", "ASK { {} " + numbered(1300, "UNION { ?v%[1]d <p:next> ?v%[2]d } ") + "}", ""},
		{"a long path", "ASK { <n:1> <p:next>" + strings.Repeat("/<p:next>", 1500) + " ?x }", ""},
		{"many filters", "ASK { ?a ?b ?c " + strings.Repeat("FILTER(?a != ?b) ", 3000) + "}", ""},
		{"EXISTS in UNION, over and over", "ASK { " + strings.Repeat("{ ?a ?b ?c } UNION { ?d ?e ?f } FILTER EXISTS { ", 45) +
			"?x ?y ?z" + strings.Repeat(" }", 46), ""},
		{"many values", "SELECT (COUNT(*) AS ?n) { VALUES ?x { " + numbered(50_000, "%[1]d ") + "} ?a ?b ?x }", ""},

		{"cross product", "SELECT (COUNT(*) AS ?n) { " + cross + " }", late},
		{"cross product without result", "ASK { " + cross + " FILTER(?a = 1 || ?g = 1) }", late},
		{"a sum of many", "ASK { " + cross + " FILTER(1" + strings.Repeat("+1", 100_000) + " < 0) }", late},
		{"a list of many", "ASK { " + cross + " FILTER(?a IN (1" + strings.Repeat(",1", 100_000) + ")) }", late},
		{"paths between all", "SELECT (COUNT(*) AS ?n) { ?a (<p:next>|^<p:far>)+ ?b . ?b (<p:far>|<p:next>)* ?c }", late},
		{"paths of paths", "SELECT (COUNT(*) AS ?n) { ?a (((<p:next>+/<p:far>*)+/<p:next>?)*)+ ?b }", late},
		{"subqueries of cross products", "SELECT (COUNT(*) AS ?n) { { SELECT ?a { " + cross + " } } MINUS { " + cross + " } }", late},
		{"EXISTS of a cross product", "ASK { ?x ?y ?z FILTER EXISTS { " + cross + " FILTER(?a = ?c && ?b = ?f && ?i = ?b) } }", late},
		{"a sum over all", "SELECT (SUM(?n * ?m) AS ?s) { ?a <p:number> ?n . ?b <p:number> ?m . ?d <p:number> ?k }", late},

		{"sorting", "SELECT * { " + cross + " } ORDER BY ?a ?i", large},
		{"DISTINCT", "SELECT DISTINCT * { " + cross + " }", large},
		{"COUNT(DISTINCT *)", "SELECT (COUNT(DISTINCT *) AS ?n) { " + cross + " }", large},
		{"GROUP BY", "SELECT (COUNT(*) AS ?n) { " + cross + " } GROUP BY ?a ?c ?d ?f ?g ?i", large},
		{"a long filter of a wide UNION", "ASK { {} " + numbered(1300, "UNION { ?v%[1]d <p:next> ?v%[2]d } ") +
			"FILTER(1" + strings.Repeat("+1", 100_000) + " < 0) }", large},
		{"hash join", "ASK { { SELECT ?a { ?a <p:far> ?b } } { SELECT ?a ?d ?f ?g { " + cross + " } } FILTER(?f = 1.5) }", large},
		{"hash of MINUS", "ASK { ?a ?b ?c MINUS { SELECT * { " + cross + " } } }", large},
		{"computed terms", "SELECT (COUNT(?x) AS ?n) { " + cross + " BIND(CONCAT(STR(?a), STR(?d), STR(?g), STR(?i)) AS ?x) }", large},
		{"a graph", "CONSTRUCT { ?a <p:p> ?d . ?d <p:p> ?f . ?g ?b ?f } { " + cross + " }", late},

		{"forty doublings", "SELECT * { " + doubling(40) + "}", long},
		{"forty doublings that are tried", "SELECT (COALESCE(?x40, 1) AS ?y) { " + doubling(40) + "}", long},
		{"REPLACE", "SELECT (REPLACE(?x17, 'x', ?x17) AS ?y) { " + doubling(17) + "}", long},
		{"GROUP_CONCAT", "SELECT (GROUP_CONCAT(?x17) AS ?y) { " + doubling(17) + "?a ?b ?c }", long},
		{"a regular expression", "ASK { BIND('" + strings.Repeat("a", 5000) + "!' AS ?x) FILTER(REGEX(?x, '^(a+)+$')) }", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := ring(200)
			start := time.Now()
			limits := Limits{Time: 5 * time.Minute, Memory: 64 << 20}
			switch c.ends {
			case late:
				limits.Time = 50 * time.Millisecond
			case large:
				limits.Memory = 2 << 20
			}
			err := consume(c.query, data, limits)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			if data.open != 0 {
				t.Errorf("%d cursors are open", data.open)
			}
			if c.ends == "" && err == nil {
				return
			}
			if c.ends == "" || err == nil || !strings.Contains(err.Error(), c.ends) {
				t.Errorf("it ends with %v, want %q", err, c.ends)
			}
		})
	}
}

// consume runs a query to its end.
func consume(text string, d Dataset, l Limits) error {
	q, err := Parse(text, "")
	if err != nil {
		return err
	}
	results, err := q.Run(context.Background(), d, l)
	if err != nil {
		return err
	}
	switch q.Form() {
	case Select:
		for _, err := range results.Solutions() {
			if err != nil {
				return err
			}
		}
	case Construct, Describe:
		for _, err := range results.Triples() {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func TestStoppingEarlyLeavesNoCursor(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SELECT * { ?a <p:next> ?b OPTIONAL { ?b <p:far>+ ?c } FILTER EXISTS { ?a ?p ?o } }",
		"SELECT * { { ?a ?b ?c } UNION { GRAPH ?g { ?a ?b ?c } } MINUS { SELECT ?x { ?x <p:far> ?x } } }",
		"CONSTRUCT { ?a ?b ?c } { ?a ?b ?c }", "DESCRIBE ?a { ?a ?b ?c }", "ASK { ?a ?b ?c }",
	} {
		data := ring(5)
		q, err := Parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		results, err := q.Run(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if data.open != 0 {
			t.Errorf("%s: %d cursors are open before it is iterated over", text, data.open)
		}
		some := false
		for range results.Solutions() {
			some = q.Form() == Select
			break
		}
		for range results.Triples() {
			some = true
			break
		}
		if data.open != 0 || !some && q.Form() != Ask {
			t.Errorf("%s: %d cursors are open, had results: %v", text, data.open, some)
		}
	}
}

func TestCancellingEndsAQuery(t *testing.T) {
	t.Parallel()
	data := ring(50)
	ctx, cancel := context.WithCancelCause(t.Context())
	q, err := Parse("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", "")
	if err != nil {
		t.Fatal(err)
	}
	results, err := q.Run(ctx, data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	left := errors.New("the client has left")
	defer cancel(nil)
	rows := 0
	for _, err = range results.Solutions() {
		if rows++; rows == 10 {
			cancel(left)
		}
	}
	if !errors.Is(err, left) || rows > 10+257 || data.open != 0 {
		t.Errorf("after %d rows: %v, %d cursors are open", rows, err, data.open)
	}
}

// FuzzRun holds that no query crashes, goes beyond its limits by much or leaves a cursor open.
func FuzzRun(f *testing.F) {
	for _, q := range queries {
		f.Add(q)
	}
	cases, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range strings.Split(string(cases), "=== ")[1:] {
		query, _, _ := strings.Cut(one, "---\n")
		_, query, _ = strings.Cut(query, "\n")
		f.Add(query)
	}
	data := ring(20)
	data.Dataset.(*Memory).Add(rdf.Quad{Graph: "<g:1>", Triple: webrace.Triple{Subject: "_:b", Predicate: "<p:next>", Object: `"a red ship"`}})
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		err := consume(text, data, Limits{Time: 20 * time.Millisecond, Memory: 1 << 20})
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("it took %s and ends with %v", took, err)
		}
		if data.open != 0 {
			t.Errorf("%d cursors are open", data.open)
		}
	})
}
