package sparql

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestSyntaxErrorsSayWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ query, want string }{
		{"", "line 1, column 1: SELECT, ASK, CONSTRUCT or DESCRIBE is expected, but there is the end of the query"},
		{"SELECT ?x\nWHERE { ?x ?y }", `line 2, column 15: a variable, an IRI, a blank node or a literal is expected`},
		{"SELECT * { ?s a 'é' ; ¬ }", `line 1, column 23: "¬" begins nothing that SPARQL knows`},
		{"SELECT * { ?s a ex:T }", `line 1, column 17: the prefix "ex" is not declared`},
		{"SELECT * { ?s a <T> }", `line 1, column 17: <T>: `},
		{"SELECT * { SERVICE <http://a/> { ?s ?p ?o } }", "line 1, column 12: SERVICE is refused"},
		{"INSERT DATA { <a:a> <a:b> <a:c> }", "line 1, column 1: INSERT is refused"},
		{"PREFIX a: <a:>\nDELETE WHERE { ?s ?p ?o }", "line 2, column 1: DELETE is refused"},
		{"SELECT * { FILTER(STRLEN('a', 'b') > 1) }", "line 1, column 19: STRLEN has 2 arguments, and takes 1"},
		{"SELECT * { FILTER(LENGTH('a') > 1) }", "an expression or the name of a function is expected"},
		{"SELECT ?x { ?x ?p ?o } GROUP BY ?p", "line 1, column 8: ?x has many values in a group"},
		{"SELECT * { ?x ?p ?o BIND(1 AS ?o) }", "line 1, column 31: ?o has a value in this group already"},
		{"SELECT * { FILTER(COUNT(?x) > 1) }", "COUNT stands where there are no groups"},
		{"SELECT (SUM(COUNT(?x)) AS ?y) {}", "COUNT stands in another aggregate"},
		{"SELECT * { ?x <a:p> 'abc }", "line 1, column 21: the string is not closed"},
		{"SELECT * { VALUES (?x ?y) { (1) } }", "VALUES has 2 variables, but 1 values here"},
		{"SELECT * { ?x ?y ?z } LIMIT -1", "a whole number from 0 is expected"},
		{"SELECT * { _:a ?p ?o OPTIONAL { _:a ?q ?r } }", "the blank node _:a stands in two patterns"},
		{"SELECT * { " + strings.Repeat("{", 101), "nested deeper than 100 levels"},
		{"SELECT * { (?x ?score) <http://jena.apache.org/text#query> 'x' }", "line 1, column 24: text:query finds a subject"},
		{"SELECT * { ?x <http://jena.apache.org/text#query> ?y }", "a string with words"},
	} {
		_, err := Parse(c.query, "")
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives %v\nwant %s", shorten(c.query), err, c.want)
		}
	}
}

var queries = []string{
	`BASE <http://a/> PREFIX : <b#> SELECT DISTINCT ?x (COUNT(*) AS ?n) FROM <g> FROM NAMED <h> { ?x :p/^:q*|!(:r|^a) "a"@en }
		GROUP BY ?x HAVING (?n > 1) ORDER BY DESC(?n) ?x LIMIT 3 OFFSET 4 VALUES ?x { 1 UNDEF }`,
	`ASK { { ?x a [ <a:p> (1 2.0 -3e4) ] } UNION { ?x <a:q> true . OPTIONAL { ?x <a:r> '''a'b''' } } MINUS { ?x ?y ?z } }`,
	`CONSTRUCT { ?x ?y _:b } WHERE { GRAPH ?g { ?x ?y ?z FILTER NOT EXISTS { ?z ?a ?x } } BIND(IF(?x < ?y&&?y>?z, 1-1, -?z) AS ?c) }`,
	`DESCRIBE <a:x> ?y { ?y <http://jena.apache.org/text#query> (<a:p> "words" 10) FILTER(?y IN (1, "\u00e9"^^<a:t>)) }`,
	`CONSTRUCT WHERE { ?x ?y ?z }`, `SELECT * { { SELECT (SUM(?x+1*2) AS ?s) {} } VALUES () { () } }`,
}

// FuzzParse holds that Parse never crashes, and that white space means nothing: it reads queries anew with other
// space between their tokens.
func FuzzParse(f *testing.F) {
	for _, q := range queries {
		if _, err := Parse(q, ""); err != nil {
			f.Fatalf("%s: %v", q, err)
		}
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, text string) {
		query, err := Parse(text, "")
		if err != nil {
			var syntax *SyntaxError
			var limit *LimitError
			if !errors.As(err, &syntax) && !errors.As(err, &limit) {
				t.Fatalf("%q: %T", text, err)
			}
			return
		}
		other := spaced(text)
		if unescape(other) != other {
			return // escapes that make escapes
		}
		again, err := Parse(other, "")
		if err != nil {
			t.Fatalf("%q\nwith other space\n%q\n%v", text, other, err)
		}
		if !reflect.DeepEqual(query, again) {
			t.Errorf("%q\nmeans something else as\n%q", text, other)
		}
	})
}

// spaced writes a query with other space between its tokens.
func spaced(text string) string {
	l := &lexer{text: unescape(text)}
	var b strings.Builder
	for {
		token := l.next()
		if token.kind == endToken {
			return b.String()
		}
		b.WriteString(l.text[token.start:token.end] + " # a comment\r\n\t")
	}
}
