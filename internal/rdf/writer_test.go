package rdf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// readBack sees that quads which were written in a syntax are read again as they were.
func readBack(t testing.TB, quads []rdf.Quad, syntax rdf.Syntax, prefixes map[string]string) {
	t.Helper()
	want := quads
	if syntax != rdf.NQuads && syntax != rdf.TriG {
		want = nil
		for _, q := range quads {
			want = append(want, rdf.Quad{Triple: q.Triple})
		}
	}
	text := write(quads, syntax, prefixes)
	if reason, ok := strings.CutPrefix(text, "error: RDF/XML cannot write "); ok && syntax == rdf.RDFXML {
		if strings.HasPrefix(reason, "the predicate") || strings.HasPrefix(reason, "the literal") {
			return
		}
	}
	// What was written may be longer than what was read: by the names that XML has twice, and its escapes.
	got, err := readWith(strings.NewReader(text), syntax, rdf.Options{Limits: rdf.Limits{Literal: -1, IRI: -1}})
	if err != nil {
		t.Fatalf("%s is not read back: %v\n%s", syntax, err, text)
	}
	if d := testutil.Isomorphic(want, got); d != "" && !strings.HasPrefix(d, "the blank nodes are too many") {
		t.Fatalf("%s is read back otherwise: %s\n%s", syntax, d, text)
	}
}

func TestWhatIsWrittenReadsBackTheSame(t *testing.T) {
	t.Parallel()
	prefixes := map[string]string{"": "http://a/", "é": "http://é/#", "x": "http://a/x#", "xml": "http://b/", "p": "http://b/c/", "rdf": "http://a/s", "-": "http://b/"}
	for _, file := range documents(t) {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		quads, err := read(bytes.NewReader(body), syntaxes[filepath.Ext(file)], "http://base/d/e")
		if err != nil {
			t.Fatal(err)
		}
		for _, syntax := range syntaxes {
			readBack(t, quads, syntax, nil)
			readBack(t, quads, syntax, prefixes)
		}
	}
}

func quad(s, p, o, g string) rdf.Quad {
	return rdf.Quad{Triple: webrace.Triple{Subject: webrace.Term(s), Predicate: webrace.Term(p), Object: webrace.Term(o)}, Graph: webrace.Term(g)}
}

func TestWriters(t *testing.T) {
	t.Parallel()
	prefixes := map[string]string{"a": "http://a/", "ab": "http://a/b/"}
	quads := []rdf.Quad{
		quad("<http://a/s>", "<"+rdf.Type+">", "<http://a/b/C>", ""),
		quad("<http://a/s>", "<http://a/p>", `"1"^^<`+rdf.XSDInteger+`>`, ""),
		quad("<http://a/s>", "<http://a/p>", `"1."^^<`+rdf.XSDDecimal+`>`, ""),
		quad("<http://a/s>", "<http://c/p>", `"<&>"@en`, ""),
		quad("_:x", "<http://a/p>", "<http://a/o.>", "<http://a/g>"),
		quad("_:x", "<http://a/p>", "_:1", "<http://a/h>"),
	}
	for syntax, want := range map[rdf.Syntax]string{
		rdf.Turtle: `@prefix a: <http://a/> .
@prefix ab: <http://a/b/> .

a:s a ab:C ;
    a:p 1, "1."^^<http://www.w3.org/2001/XMLSchema#decimal> ;
    <http://c/p> "<&>"@en .
_:x a:p <http://a/o.>, _:1 .
`,
		rdf.TriG: `@prefix a: <http://a/> .
@prefix ab: <http://a/b/> .

a:s a ab:C ;
    a:p 1, "1."^^<http://www.w3.org/2001/XMLSchema#decimal> ;
    <http://c/p> "<&>"@en .
a:g {
_:x a:p <http://a/o.> .
}
a:h {
_:x a:p _:1 .
}
`,
		rdf.RDFXML: `<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:a="http://a/"
    xmlns:ab="http://a/b/">
  <rdf:Description rdf:about="http://a/s">
    <rdf:type rdf:resource="http://a/b/C"/>
    <a:p rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</a:p>
    <a:p rdf:datatype="http://www.w3.org/2001/XMLSchema#decimal">1.</a:p>
    <p:p xmlns:p="http://c/" xml:lang="en">&lt;&amp;&gt;</p:p>
  </rdf:Description>
  <rdf:Description rdf:nodeID="x">
    <a:p rdf:resource="http://a/o."/>
    <a:p rdf:nodeID="_31"/>
  </rdf:Description>
</rdf:RDF>
`,
	} {
		if got := write(quads, syntax, prefixes); got != want {
			t.Errorf("%s is written as\n%s", syntax, got)
		}
	}
	if got := write(nil, rdf.Turtle, nil); got != "" {
		t.Errorf("nothing is written as %q", got)
	}
	readBack(t, nil, rdf.RDFXML, nil)
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	for _, q := range []rdf.Quad{
		quad("<http://a>", "<http://a/1>", `"a"`, ""),
		quad("<http://a>", "<http://a/>", `"a"`, ""),
		quad("<http://a>", "<"+rdf.NS+"li>", `"a"`, ""),
		quad("<http://a>", "<"+rdf.NS+"Description>", `"a"`, ""),
		quad("<http://a>", "<http://a/p>", `"\u0001"`, ""),
	} {
		if got := write([]rdf.Quad{q}, rdf.RDFXML, nil); !strings.HasPrefix(got, "error: RDF/XML cannot write") {
			t.Errorf("%v is written as %s", q, got)
		}
	}
	if got := write(nil, "text/html", nil); !strings.Contains(got, "text/html") {
		t.Errorf("HTML is written: %s", got)
	}
}
