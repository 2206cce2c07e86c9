package rdf_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/rdf"
)

// endless is a document that begins and then goes on with the same text, in which %d counts, without an end.
type endless struct{ head, unit string }

func (e endless) reader() io.Reader {
	return &endlessReader{endless: e, rest: []byte(e.head), buffer: make([]byte, 0, 4096+len(e.unit)+100)}
}

// endlessReader allocates nothing while it is read.
type endlessReader struct {
	endless
	rest, buffer []byte
	n            int64
}

func (r *endlessReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		b := r.buffer
		for ; len(b) < 4096; r.n++ {
			text, behind, counts := strings.Cut(r.unit, "%d")
			for ; counts; text, behind, counts = strings.Cut(behind, "%d") {
				b = strconv.AppendInt(append(b, text...), r.n, 10)
			}
			b = append(b, text...)
		}
		r.rest = b
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

const (
	rdfHead = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://a/">`
	open    = `<rdf:Description><p>`

	manyTerms = "bytes of terms that the document makes"
)

var long = strings.Repeat("a", 8000)

var endlessDocuments = []struct {
	name   string
	syntax rdf.Syntax
	doc    endless
	want   string // the limit that ends it, or the mistake
	memory int    // MB that it may allocate in all
}{
	{"a literal without an end", rdf.NTriples, endless{`<http://a> <http://a> "`, "literal "}, "262144 bytes of a literal", 2},
	{"a literal of escapes", rdf.NQuads, endless{`<http://a> <http://a> "`, `\u0001`}, "262144 bytes of a literal", 3},
	{"a long literal of quotation marks", rdf.Turtle, endless{`<http://a> <http://a> """`, `"" \"`}, "262144 bytes of a literal", 3},
	{"a long literal of line ends", rdf.Turtle, endless{`<http://a> <http://a> '''`, "\r\n"}, "262144 bytes of a literal", 3},
	{"an IRI without an end", rdf.NTriples, endless{`<http://a`, "/b"}, "8192 bytes of an IRI", 1},
	{"an IRI of escapes", rdf.Turtle, endless{`<http://a`, `\U0001F600`}, "8192 bytes of an IRI", 1},
	{"a label without an end", rdf.NTriples, endless{`_:a`, `a.`}, "8192 bytes of a label", 1},
	{"a label of dots", rdf.Turtle, endless{`_:a`, `.`}, "8192 bytes of a label", 1},
	{"a language without an end", rdf.NTriples, endless{`<http://a> <http://a> "a"@a`, `-a1`}, "8192 bytes of a language tag", 1},
	{"a number without an end", rdf.Turtle, endless{`<http://a> <http://a> `, `1`}, "262144 bytes of a literal", 2},
	{"a number of many places", rdf.Turtle, endless{`<http://a> <http://a> 1.`, `1`}, "262144 bytes of a literal", 2},
	{"an exponent without an end", rdf.Turtle, endless{`<http://a> <http://a> 1e`, `1`}, "262144 bytes of a literal", 2},
	{"a prefix without an end", rdf.Turtle, endless{`a`, `a.b`}, "8192 bytes of a prefix", 1},
	{"a local name without an end", rdf.Turtle, endless{`@prefix : <http://a/> . :`, `a.%41\~`}, "8192 bytes of a name", 1},
	{"a plain local name without an end", rdf.Turtle, endless{`@prefix : <http://a/> . :`, `a`}, "8192 bytes of a name", 1},
	{"a base that grows", rdf.Turtle, endless{"@base <http://a/> .\n", "@base <%d-and-so-on-and-so-on/> .\n"}, "8192 bytes of an IRI", 8},
	{"a long namespace", rdf.Turtle, endless{"@prefix : <http://a/" + long + "/> .\n", ":a%d :b :c%d .\n"}, manyTerms, 16},
	{"a long namespace in graphs", rdf.TriG, endless{"@prefix : <http://a/" + long + "/> .\n", ":a%d { [] a [] }\n"}, manyTerms, 16},
	{"a long base", rdf.Turtle, endless{"@base <http://a/" + long + "/> .\n", "<a%d> a <b> .\n"}, manyTerms, 16},
	{"a long datatype", rdf.Turtle, endless{"@prefix : <http://a/" + long + "/> .\n<> a 1", ", '%d'^^:"}, manyTerms, 16},
	{"prefixes without an end", rdf.Turtle, endless{"", "@prefix a%d: <http://a> .\n"}, "10000 prefixes", 24},
	{"lists within lists", rdf.Turtle, endless{`<http://a> <http://a> `, `(`}, "256 collections and property lists", 1},
	{"brackets within brackets", rdf.TriG, endless{`{ `, `[ <http://a> `}, "256 collections and property lists", 1},
	{"brackets and lists", rdf.Turtle, endless{``, `( [ <http://a> `}, "256 collections and property lists", 1},
	{"a list without an end", rdf.Turtle, endless{`<http://a> <http://a> (`, ` 1`}, "10000 triples", 16},
	{"objects without an end", rdf.Turtle, endless{`<http://a> <http://a> 1`, `, []`}, "10000 triples", 8},
	{"millions of blank nodes", rdf.NTriples, endless{``, "_:a%d <http://a> _:b%d .\n"}, "10000 triples", 64},
	{"millions of graphs", rdf.NQuads, endless{``, "_:a%d <http://a> _:b%d _:c%d .\n"}, "10000 triples", 96},
	{"millions of blank nodes in brackets", rdf.Turtle, endless{``, "[ <http://a> [] ] .\n"}, "10000 triples", 16},
	{"semicolons without an end", rdf.Turtle, endless{`<http://a> <http://a> 1 `, "; "}, "deadline", 1},
	{"a comment without an end", rdf.NTriples, endless{`# `, "and so on "}, "deadline", 1},
	{"line ends without an end", rdf.NQuads, endless{``, "\n"}, "deadline", 1},
	{"spaces without an end", rdf.Turtle, endless{``, " \t\r\n"}, "deadline", 1},
	{"empty graphs without an end", rdf.TriG, endless{``, "{}"}, "deadline", 1},

	{"elements within elements", rdf.RDFXML, endless{rdfHead, `<a>`}, "256 elements within each other", 1},
	{"elements in a literal", rdf.RDFXML, endless{rdfHead + `<a><p rdf:parseType="Literal">`, `<a>`}, "256 elements within each other", 1},
	{"properties that are nodes", rdf.RDFXML, endless{rdfHead + `<a>`, `<p rdf:parseType="Resource">`}, "256 elements within each other", 1},
	{"text without an end", rdf.RDFXML, endless{rdfHead + open, `text `}, "262144 bytes of a literal", 2},
	{"text of references", rdf.RDFXML, endless{rdfHead + open, `&amp;&#65;`}, "262144 bytes of a literal", 3},
	{"text of brackets", rdf.RDFXML, endless{rdfHead + open, `]] `}, "262144 bytes of a literal", 2},
	{"text where there is none", rdf.RDFXML, endless{rdfHead, ` `}, "262144 bytes of a literal", 2},
	{"a CDATA section without an end", rdf.RDFXML, endless{rdfHead + open + "<![CDATA[", `]]`}, "262144 bytes of a literal", 2},
	{"a literal of many elements", rdf.RDFXML, endless{rdfHead + `<a><p rdf:parseType="Literal">`, `<a/>`}, "262144 bytes of a literal", 8},
	{"a literal with a comment without an end", rdf.RDFXML, endless{rdfHead + `<a><p rdf:parseType="Literal"><!--`, `-a`}, "262144 bytes of a literal", 2},
	{"a value without an end", rdf.RDFXML, endless{rdfHead + `<a b="`, `b&gt;`}, "262144 bytes of a literal", 3},
	{"a name without an end", rdf.RDFXML, endless{rdfHead + `<`, `a`}, "8192 bytes of a name", 1},
	{"the name of an attribute without an end", rdf.RDFXML, endless{rdfHead + `<a `, `a`}, "8192 bytes of a name", 1},
	{"attributes without an end", rdf.RDFXML, endless{rdfHead + `<a`, ` a%d=""`}, "10000 attributes of a tag", 12},
	{"namespaces without an end", rdf.RDFXML, endless{rdfHead + `<a`, ` xmlns:a%d="http://a/"`}, "10000 attributes of a tag", 16},
	{"some namespaces too many", rdf.RDFXML, endless{rdfHead + `<a` + manyNamespaces(), `>`}, "1000 namespaces of one tag", 4},
	{"a tag of spaces", rdf.RDFXML, endless{rdfHead + `<a`, ` `}, "1048576 bytes of a tag", 8},
	{"nodes that say nothing", rdf.RDFXML, endless{rdfHead, `<rdf:Description rdf:ID="a%d"/>`}, "10000 nodes with an ID", 48},
	{"labels that say nothing", rdf.RDFXML, endless{rdfHead, `<rdf:Description rdf:nodeID="a%d"/>`}, "20000 blank nodes", 64},
	{"properties without an end", rdf.RDFXML, endless{rdfHead + `<a>`, `<p>%d</p>`}, "10000 triples", 16},
	{"a base that grows in XML", rdf.RDFXML, endless{rdfHead + `<a xml:base="http://a/">`, `<p rdf:parseType="Resource" xml:base="` + strings.Repeat("b", 100) + `/">`}, "8192 bytes of an IRI", 4},
	{"a long base in XML", rdf.RDFXML, endless{rdfHead + `<a xml:base="http://a/` + long + `/">`, `<p rdf:resource="%d"/>`}, manyTerms, 16},
	{"a long namespace in XML", rdf.RDFXML, endless{rdfHead + `<a xmlns:a="http://a/` + long + `/">`, `<a:p%d/>`}, manyTerms, 16},
	{"a long datatype in XML", rdf.RDFXML, endless{rdfHead + `<a xml:base="http://a/` + long + `/">`, `<p rdf:datatype="">%d</p>`}, manyTerms, 16},
	{"a long language in XML", rdf.RDFXML, endless{rdfHead + `<a xml:lang="a-` + long + `">`, `<p>%d</p>`}, manyTerms, 16},
	{"a longer language in XML", rdf.RDFXML, endless{rdfHead + `<a xml:lang="a-` + long + long + `">`, `<p>%d</p>`}, "8192 bytes of a language tag", 1},
	{"a long namespace in literals of XML", rdf.RDFXML, endless{rdfHead + `<a xmlns:a="http://a/` + long + `/">`, `<p rdf:parseType="Literal"><a:b%d/></p>`}, manyTerms, 16},
	{"a comment without an end in XML", rdf.RDFXML, endless{`<!--`, `- comment `}, "deadline", 1},
	{"an instruction without an end", rdf.RDFXML, endless{`<?a `, `? `}, "deadline", 1},
	{"a document type without an end", rdf.RDFXML, endless{`<!DOCTYPE a `, `a `}, "deadline", 1},
	{"declarations without an end", rdf.RDFXML, endless{`<!DOCTYPE a [`, `<!ELEMENT a (#PCDATA)>`}, "deadline", 1},
	{"an entity without an end", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY b "`, `b`}, "65536 bytes of entities", 1},
	{"an entity of references", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY b "`, `&#65;`}, "65536 bytes of entities", 1},
	{"entities without an end", rdf.RDFXML, endless{`<!DOCTYPE a [`, `<!ENTITY a%d "">`}, "65536 bytes of entities", 4},
	{"an entity, many times", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY b "` + strings.Repeat("b", 60<<10) + `">]>` + rdfHead + `<a>`, `<p>&b;</p>`}, "bytes that entities add", 4},
	{"an entity, many times in values", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY b "` + strings.Repeat("b", 60<<10) + `">]>` + rdfHead, `<a xmlns:b="http://b/" b:p="&b;"/>`}, "bytes that entities add", 4},
	{"entities within entities", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">]>` + rdfHead + open, `&c;`}, "has a reference or a tag within", 1},
	{"an entity within itself", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY a "&a;">]>` + rdfHead + open, `&a;`}, "has a reference or a tag within", 1},
	{"a file in the document", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY a SYSTEM "/etc/passwd">]>` + rdfHead + open, `&a;`}, "lies outside of the document", 1},
	{"an entity of markup", rdf.RDFXML, endless{`<!DOCTYPE a [<!ENTITY a "<p><p>">]>` + rdfHead + open, `&a;`}, "has a reference or a tag within", 1},
}

// Documents that have no end are read up to a limit, or until their time is over, in the memory that the limit needs.
func TestHostile(t *testing.T) {
	for _, c := range endlessDocuments {
		t.Run(c.name, func(t *testing.T) {
			within, patience := time.Minute, time.Minute
			if c.want == "deadline" {
				within = 5 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			reader := c.doc.reader()
			before, began := allocated(), time.Now()
			var last error
			for _, err := range rdf.Parse(ctx, reader, c.syntax, rdf.Options{Base: "http://a/", Limits: rdf.Limits{Triples: 10_000}}) {
				last = err
			}
			used, took := (allocated()-before)>>20, time.Since(began)
			switch {
			case c.want == "deadline" && !errors.Is(last, context.DeadlineExceeded),
				c.want != "deadline" && (last == nil || !strings.Contains(last.Error(), c.want)):
				t.Errorf("the error is %.300v, want %s", last, c.want)
			case took > patience:
				t.Errorf("it took %v", took)
			case used > uint64(c.memory):
				t.Errorf("it allocated %d MB, want %d at most", used, c.memory)
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func manyNamespaces() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, " xmlns:a%d='http://a/'", i)
	}
	return b.String()
}
