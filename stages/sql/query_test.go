package sql

import (
	"strings"
	"testing"
)

// TestParametersAreFound where they are some, and nowhere else.
func TestParametersAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ driver, query, want string }{
		{"postgres", "SELECT $a, $b, $a", "SELECT $1, $2, $1"},
		{"postgres", "select '$a' \"$a\" $a", "select '$a' \"$a\" $1"},
		{"postgres", "SELECT 'it''s $a', E'\\'$a', $b", "SELECT 'it''s $a', E'\\'$a', $1"},
		{"postgres", "SELECT E'a'\n  '\\'$a', $b", "SELECT E'a'\n  '\\'$a', $1"},
		{"postgres", "SELECT '\\', $a, '\\'", "SELECT '\\', $1, '\\'"},
		{"postgres", "SELECT $$ $a $$, $x$ $$ $a $x$, $b", "SELECT $$ $a $$, $x$ $$ $a $x$, $1"},
		{"postgres", "SELECT a$b, $c -- $d\n, /* $e /* $f */ $g */ $h", "SELECT a$b, $1 -- $d\n, /* $e /* $f */ $g */ $2"},
		{"postgres", "SELECT data ? 'a', 1 WHERE $a::text = x; -- done", "SELECT data ? 'a', 1 WHERE $1::text = x"},
		{"postgres", "\n-- a comment\n(SELECT $é)", "\n-- a comment\n(SELECT $1)"},
		{"mariadb", "SELECT $a, $b, $a", "SELECT ?, ?, ?"},
		{"mariadb", `SELECT '\'$a', "\"$a", ` + "`$a`, $b # $c", `SELECT '\'$a', "\"$a", ` + "`$a`, ? # $c"},
		{"mariadb", "SELECT 1 --$a\n, 2 -- $b\n", "SELECT 1 --?\n, 2 -- $b\n"},
		{"mariadb", "SELECT /* /* $a */ $b", "SELECT /* /* $a */ ?"},
		{"sqlite", "SELECT $a, [$a], `$a`, $b, $a", "SELECT ?1, [$a], `$a`, ?2, ?1"},
		{"sqlite", "WITH x AS (SELECT 1) SELECT $mark", "WITH x AS (SELECT 1) SELECT ?1"},
		{"postgres", "VALUES ($a)", "VALUES ($1)"},

		{"postgres", "", "line 1, column 1 of the query: it is empty"},
		{"postgres", "-- nothing", "it is empty"},
		{"postgres", "SELECT 1;\nDELETE FROM a", "line 2, column 1 of the query: a second statement begins here"},
		{"postgres", "SELECT 1;;", "line 1, column 10 of the query: a second statement begins here"},
		{"postgres", "DELETE FROM a", "begins with SELECT, WITH, VALUES, TABLE, and not with DELETE"},
		{"postgres", "COPY a TO PROGRAM 'touch x'", "not with COPY"},
		{"sqlite", "ATTACH 'a' AS b", "not with ATTACH"},
		{"mariadb", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE a", "not with LOAD"},
		{"mariadb", "SELECT a INTO OUTFILE '/tmp/x' FROM b", "INTO writes what is read somewhere"},
		{"mariadb", "SELECT a /*! INTO OUTFILE '/tmp/x' */ FROM b", "a comment that is executed is none"},
		{"mariadb", "SELECT a /*M!50000 INTO OUTFILE '/tmp/x' */ FROM b", "a comment that is executed is none"},
		{"postgres", "SELECT $1", "line 1, column 8 of the query: $ stands before no name"},
		{"sqlite", "SELECT ?", "write $name in the place of ?"},
		{"mariadb", "SELECT ?", "write $name in the place of ?"},
		{"postgres", "SELECT 'é\n', 'a", "line 2, column 4 of the query: what is quoted from here on does not end"},
		{"postgres", "SELECT $x$ a $y$", "what is quoted by $x$ does not end"},
		{"postgres", "SELECT /* /* */", "this comment does not end"},
		{"postgres", "'a' SELECT", "a query begins with"},
	} {
		l := engines[c.driver].lexis
		q, err := l.parse(c.query)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = q.render(l, "", "").text
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.driver, c.query, got, c.want)
		}
	}
}

// TestPlacesAreThoseOfTheQuery, whatever stands around it and in the place of its parameters.
func TestPlacesAreThoseOfTheQuery(t *testing.T) {
	t.Parallel()
	l := engines["postgres"].lexis
	q, err := l.parse("SELECT $first,\n  $second, wrong FROM é")
	if err != nil {
		t.Fatal(err)
	}
	st := q.render(l, "SELECT * FROM (\n", ")")
	for what, want := range map[string]string{"wrong": "line 2, column 12 of the query", "FROM é": "line 2, column 18 of the query", "SELECT $1": "line 1, column 1 of the query", "$2": "line 2, column 3 of the query"} {
		if got := st.place(strings.Index(st.text, what)); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	if got := st.place(3); got != "" {
		t.Errorf("before the query: %q", got)
	}
}

// FuzzParameters holds that what stands around parameters stays as it is, that no parameter is found in what is quoted,
// and that a value never becomes text.
func FuzzParameters(f *testing.F) {
	drivers := []string{"postgres", "mariadb", "sqlite"}
	for i := range drivers {
		for _, q := range []string{"SELECT $a, '$b' -- $c", "SELECT E'\\'$a' $$ $b $$ $x$$x$", "SELECT `$a` [$b] \"$c\" # $d", "WITH /* $a */ b AS (SELECT 1); ", "SELECT $é$1"} {
			f.Add(i, q)
		}
	}
	f.Fuzz(func(t *testing.T, n int, text string) {
		driver := drivers[uint(n)%3]
		l := engines[driver].lexis
		q, err := l.parse(text)
		if err == nil {
			var again strings.Builder
			for _, p := range q.parts {
				if text[p.at:p.at+len(p.text)] != p.text {
					t.Fatalf("%q: %q does not stand at %d", text, p.text, p.at)
				}
				again.WriteString(p.text)
				if p.name != "" {
					again.WriteString("$" + p.name)
				}
			}
			rest, whole := strings.CutPrefix(text, again.String())
			if !whole || rest != "" && rest[0] != ';' {
				t.Fatalf("%q became %q", text, again.String())
			}
			if len(q.names) == 0 && q.render(l, "", "").text != again.String() {
				t.Fatalf("%q without parameters became %q", text, q.render(l, "", "").text)
			}
		}
		quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
		if l.backslashes {
			quoted = "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", `\'`) + "'"
		}
		if q, err := l.parse("SELECT " + quoted + ", $x"); err != nil || len(q.names) != 1 || q.parts[0].text != "SELECT "+quoted+", " {
			t.Fatalf("%s: in the text %s: %v", driver, quoted, err)
		}
		if line := strings.NewReplacer("\n", " ").Replace(text); true {
			if q, err := l.parse("SELECT 1 -- " + line + "\n, $x"); err != nil || len(q.names) != 1 {
				t.Fatalf("%s: in the comment %q: %v", driver, line, err)
			}
		}
	})
}
