package rdf_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/rdf"
)

const xmlHead = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://a/" xmlns:b="http://b/">` + "\n"

// mistakes are documents with one each, and where it is and what is said of it.
var mistakes = []struct {
	syntax    rdf.Syntax
	doc, want string
}{
	{rdf.NTriples, "<http://a> <http://a> <http://a> .\n<http://é> <b> <http://c> .", "2:12: the IRI <b> is relative"},
	{rdf.NTriples, "<http://a> <http://a> <http://a> <http://g> .", "1:34: expected a dot"},
	{rdf.NTriples, "<http://a> <http://a> <http://a> . <http://b>", "1:36: expected the end of the line, found '<'"},
	{rdf.NTriples, "<http://a> <http://a>\n <http://a> .", "1:22: expected the object, an IRI, a blank node or a literal, found '\\n'"},
	{rdf.NTriples, "<http://a> _:p <http://a> .", "1:12: expected the predicate"},
	{rdf.NTriples, `"s" <http://a> <http://a> .`, "1:1: expected the subject"},
	{rdf.NTriples, "<http://a b> <http://a> <http://a> .", "1:10: no IRI has the character ' '"},
	{rdf.NTriples, `<http://a\u0020b> <http://a> <http://a> .`, "1:10: no IRI has the character ' ', even escaped"},
	{rdf.NTriples, `<http://a\n> <http://a> <http://a> .`, `1:10: expected \u and four`},
	{rdf.NTriples, `<http://a\uD800> <http://a> <http://a> .`, "1:10: U+D800 is no character"},
	{rdf.NTriples, `<http://a\U00110000> <http://a> <http://a> .`, "1:10: U+00110000 is no character"},
	{rdf.NTriples, `<http://a`, "1:1: an IRI does not end"},
	{rdf.NTriples, `<http://a> <http://a> "é\x" .`, `1:25: a string has \ before what is no escape`},
	{rdf.NTriples, `<http://a> <http://a> "é\u00G0" .`, `1:25: expected \u and four`},
	{rdf.NTriples, "<http://a> <http://a> \"é\n\" .", `1:25: a line ends within a string, which wants \n`},
	{rdf.NTriples, `<http://a> <http://a> "é`, `1:23: a string does not end with "`},
	{rdf.NTriples, `<http://a> <http://a> "é"@ .`, "1:27: expected a language tag"},
	{rdf.NTriples, `<http://a> <http://a> "é"@en- .`, "1:30: expected a language tag"},
	{rdf.NTriples, `<http://a> <http://a> "é"@1 .`, "1:27: expected a language tag"},
	{rdf.NTriples, `<http://a> <http://a> "é"^<http://a> .`, "1:26: expected ^^"},
	{rdf.NTriples, `<http://a> <http://a> "é"^^xsd:string .`, "1:28: expected the datatype"},
	{rdf.NTriples, "_:-a <http://a> <http://a> .", "1:3: the label of a blank node begins"},
	{rdf.NTriples, "_a <http://a> <http://a> .", "1:1: expected a blank node"},
	{rdf.NTriples, "<http://a> <http://a> \"\xff\" .", "1:24: this is not UTF-8"},
	{rdf.NTriples, "<http://a> <http://a> \"é\xc3", "1:25: this is not UTF-8"},
	{rdf.NQuads, `<http://a> <http://a> <http://a> "g" .`, "1:34: expected the graph, an IRI or a blank node, or a dot"},
	{rdf.NQuads, `<http://a> <http://a> <http://a> <http://g> <http://h> .`, "1:45: expected a dot"},

	{rdf.Turtle, "a:b <p> <o> .", `1:1: the prefix "a" is not declared`},
	{rdf.Turtle, "@prefix a <b> .", "1:10: expected a colon behind the prefix a"},
	{rdf.Turtle, "@prefix a. : <b> .", "1:11: expected a colon"},
	{rdf.Turtle, "@prefix 1: <b> .", "1:9: expected a prefix"},
	{rdf.Turtle, "@prefix a: b .", "1:12: expected the namespace"},
	{rdf.Turtle, "@prefix a: <b>\n<a> <b> <c> .", "2:1: expected a dot"},
	{rdf.Turtle, "@PREFIX a: <b> .", "1:1: expected @prefix or @base"},
	{rdf.Turtle, "@prefixa: <b> .", "1:1: expected @prefix or @base"},
	{rdf.Turtle, "@prefix-a: <b> .", "1:1: expected @prefix or @base"},
	{rdf.Turtle, "PREFIX a: <b> .", "1:15: expected a subject, found '.'"},
	{rdf.Turtle, "BASE a", "1:6: expected the base"},
	{rdf.Turtle, "<a> <b> <c>, .", "1:14: expected a number"},
	{rdf.Turtle, "<a> <b> <c> <d> .", "1:13: expected a dot"},
	{rdf.Turtle, "<a> <b> <c>", "1:12: expected a dot at the end of the statement, found the end of the document"},
	{rdf.Turtle, "<a> <b> .", "1:9: expected a number, or another object"},
	{rdf.Turtle, "<a> 'b' <c> .", "1:5: expected a predicate"},
	{rdf.Turtle, "<a> A <c> .", "1:6: expected a colon"},
	{rdf.Turtle, "<a> <b> True .", "1:13: expected a colon behind the prefix True"},
	{rdf.Turtle, "<a> <b> +", "1:9: expected a number"},
	{rdf.Turtle, "<a> <b> 1e .", "1:10: expected a dot"},
	{rdf.Turtle, "<a> <b> '''\n\n", "1:9: a string does not end with '''"},
	{rdf.Turtle, "<a> <b> \"a\"@en^^<c> .", "1:15: expected a dot"},
	{rdf.Turtle, "<a> <b> [ <c> <d> .", "1:19: expected a ]"},
	{rdf.Turtle, "<a> <b> [ <c> ] .", "1:15: expected an object"},
	{rdf.Turtle, "<a> <b> ( <c> .", "1:15: expected a number"},
	{rdf.Turtle, "[] .", "1:4: expected a predicate"},
	{rdf.Turtle, "(<a>) .", "1:7: expected a predicate"},
	{rdf.Turtle, "<g> { <a> <b> <c> }", "1:5: expected a predicate"},
	{rdf.Turtle, "@prefix : <a> . :a%g0 <b> <c> .", "1:19: expected two hexadecimal digits"},
	{rdf.Turtle, `@prefix : <a> . :a\b <b> <c> .`, `1:19: a name has \ before`},
	{rdf.Turtle, "@prefix : <a> . :-a <b> <c> .", "1:18: expected a predicate"},
	{rdf.Turtle, "# \n<a> <b> <c>;;; ; <d> .", "2:22: expected a number"},
	{rdf.TriG, "<g> { <a> <b> <c> <d> }", "1:19: expected a dot or a }"},
	{rdf.TriG, "<g> { <a> <b> <c> ", "1:19: expected a dot or a }, found the end"},
	{rdf.TriG, "GRAPH <g> <a> <b> <c> .", "1:11: expected a {"},
	{rdf.TriG, "GRAPH { <a> <b> <c> }", "1:7: expected the name of a graph"},
	{rdf.TriG, "GRAPH [ <a> <b> ] { }", "1:18: a graph has a name"},
	{rdf.TriG, "<g> { <h> { } }", "1:11: expected a predicate"},
	{rdf.TriG, "<g> { @prefix a: <b> . }", "1:7: expected a subject"},
	{rdf.TriG, "[ <a> <b> ] { }", "1:13: expected a predicate"},
	{rdf.TriG, "(<a>) { }", "1:7: expected a predicate"},
	{rdf.TriG, "}", "1:1: expected a subject, or the name of a graph"},

	{rdf.RDFXML, "", "1:1: the document has no element"},
	{rdf.RDFXML, "text", "1:1: there is text outside of the root element"},
	{rdf.RDFXML, " <?xml version='1.0'?>", "1:7: the declaration of XML stands only at the beginning"},
	{rdf.RDFXML, "<!DOCTYPE a><!DOCTYPE a>", "1:13: a document has one document type"},
	{rdf.RDFXML, "<!DOCTYPE a [ <!ENTITY b 'c>", "1:29: the text of an entity does not end"},
	{rdf.RDFXML, "<!DOCTYPE a [ b ]>", "1:15: expected a declaration"},
	{rdf.RDFXML, "<!-- a -- b -->", "1:10: a comment has --"},
	{rdf.RDFXML, "<!-- a", "1:7: a comment does not end with --"},
	{rdf.RDFXML, xmlHead + "<b>", "2:4: the document ends within the element b"},
	{rdf.RDFXML, xmlHead + "</rdf:RDF>\n<b/>", "3:1: there is an element behind the root element"},
	{rdf.RDFXML, xmlHead + "</rdf:RDF>\nb", "3:1: there is text outside"},
	{rdf.RDFXML, xmlHead + "<b></c>", "2:7: the element b ends with </c>"},
	{rdf.RDFXML, xmlHead + "<b c:d='e'/>", "2:4: the prefix c is not declared"},
	{rdf.RDFXML, xmlHead + "<c:d/>", "2:1: the prefix c is not declared"},
	{rdf.RDFXML, xmlHead + "<b b:c='1'\n  b:c='2'/>", "3:3: a tag has the attribute b:c twice"},
	{rdf.RDFXML, xmlHead + "<b xmlns:c='1:' xmlns:c='2:'/>", "2:17: a tag has the attribute xmlns:c twice"},
	{rdf.RDFXML, xmlHead + "<b xmlns:c=''/>", "2:4: the prefix c is declared without a namespace"},
	{rdf.RDFXML, xmlHead + "<b xmlns:xml='http://a/'/>", "2:4: the prefixes xml and xmlns"},
	{rdf.RDFXML, xmlHead + "<b\n  c/>", "3:4: expected = behind the name of an attribute"},
	{rdf.RDFXML, xmlHead + "<b b:c=d/>", "2:8: expected the value of an attribute in quotation marks"},
	{rdf.RDFXML, xmlHead + "<b b:c='<'/>", "2:9: the value of an attribute has <"},
	{rdf.RDFXML, xmlHead + "<b b:c='d'b:e='f'/>", "2:11: expected a space, > or />"},
	{rdf.RDFXML, xmlHead + "<b b:c='\x01'/>", "2:9: XML does not have the character U+0001"},
	{rdf.RDFXML, xmlHead + "<b><b>\uFFFE</b></b>", "2:7: XML does not have the character U+FFFE"},
	{rdf.RDFXML, xmlHead + "<b><b>]]></b></b>", "2:7: text has ]]>"},
	{rdf.RDFXML, xmlHead + "<b><b>a & b</b></b>", "2:9: & begins no reference"},
	{rdf.RDFXML, xmlHead + "<b><b>&eacute;</b></b>", "2:7: the entity &eacute; is not declared"},
	{rdf.RDFXML, xmlHead + "<b><b>&#0;</b></b>", "2:7: &#0; is no character"},
	{rdf.RDFXML, "<!DOCTYPE a [<!ENTITY b SYSTEM 'c'>]>" + xmlHead + "<b><b>&b;</b></b>", "2:7: the entity &b; lies outside of the document"},
	{rdf.RDFXML, "<!DOCTYPE a [<!ENTITY b '&#38;#65;'>]>" + xmlHead + "<b><b>&b;</b></b>", "2:7: the entity &b; has a reference or a tag within"},
	{rdf.RDFXML, xmlHead + "<b><![CDATA[a]]></b>", "2:17: there is text before this tag, where only properties"},
	{rdf.RDFXML, "<a/>", "1:1: a has no namespace"},
	{rdf.RDFXML, "<a xmlns='b'/>", `1:1: a is no IRI, where the namespace is "b"`},
	{rdf.RDFXML, xmlHead + "<rdf:li/>", "2:1: rdf:li is no node"},
	{rdf.RDFXML, xmlHead + "<b><rdf:Description/></b>", "2:4: rdf:Description is no property"},
	{rdf.RDFXML, xmlHead + "<b rdf:bagID='c'/>", "2:4: rdf:bagID is no property"},
	{rdf.RDFXML, xmlHead + "<b c='d'/>", "2:4: the attribute c has no namespace"},
	{rdf.RDFXML, xmlHead + "<b rdf:resource='d'/>", "2:4: a node has the attribute rdf:resource"},
	{rdf.RDFXML, xmlHead + "<b rdf:about='c:' rdf:nodeID='d'/>", "2:19: a node has two of"},
	{rdf.RDFXML, xmlHead + "<b rdf:ID='1'/>", `2:4: rdf:ID is "1", which is no name`},
	{rdf.RDFXML, xmlHead + "<b rdf:nodeID='a:b'/>", `2:4: rdf:nodeID is "a:b", which is no name`},
	{rdf.RDFXML, xmlHead + "<b rdf:ID='c'/>\n<b rdf:ID='c'/>", "3:4: rdf:ID gives <http://base/d/e#c> a second time"},
	{rdf.RDFXML, xmlHead + "<b xml:lang='not a tag'/>", `2:4: "not a tag" is no language tag`},
	{rdf.RDFXML, xmlHead + "<b><b rdf:resource='a:' rdf:nodeID='c'/></b>", "2:25: a property has rdf:resource and rdf:nodeID"},
	{rdf.RDFXML, xmlHead + "<b><b rdf:resource='a:' rdf:datatype='c'/></b>", "2:4: a property with rdf:datatype has attributes"},
	{rdf.RDFXML, xmlHead + "<b><b rdf:resource='a:' rdf:parseType='Literal'/></b>", "2:4: a property with rdf:parseType has attributes"},
	{rdf.RDFXML, xmlHead + "<b><b rdf:resource='a:'><b/></b></b>", "2:25: a property that has its object in an attribute has elements"},
	{rdf.RDFXML, xmlHead + "<b><b rdf:resource='a:'>c</b></b>", "2:26: there is text before this tag"},
	{rdf.RDFXML, xmlHead + "<b><b rdf:datatype='a:'><b/></b></b>", "2:25: a property with rdf:datatype has elements"},
	{rdf.RDFXML, xmlHead + "<b><b><b/><b/></b></b>", "2:11: a property has a second node"},
	{rdf.RDFXML, xmlHead + "<b><b>text<b/></b></b>", "2:11: there is text before this tag"},
}

func TestErrorsSayWhere(t *testing.T) {
	t.Parallel()
	for _, c := range mistakes {
		_, err := read(strings.NewReader(c.doc), c.syntax, "http://base/d/e")
		var wrong *rdf.SyntaxError
		if !errors.As(err, &wrong) {
			t.Errorf("%s\nis read: %v", c.doc, err)
			continue
		}
		place, says, _ := strings.Cut(c.want, " ")
		line, column, _ := strings.Cut(place, ":")
		if want := "line " + line + ", column " + strings.TrimSuffix(column, ":") + ": " + says; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\nhas the error\n     %v\nwant %s", c.doc, err, want)
		}
		readAlike(t, []byte(c.doc), c.syntax)
	}
}

// An error is kept and shown, so it quotes no more of a document than a person reads.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 4000)
	for _, doc := range []string{
		xmlHead + "<b xmlns:" + long + "=''/>", xmlHead + "<b xmlns:" + long + "='a:' xmlns:" + long + "='a:'/>",
		xmlHead + "<b rdf:ID='" + long + "'/><b rdf:ID='" + long + "'/>",
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" rdf:` + long + "='a'/>",
	} {
		_, err := read(strings.NewReader(doc), rdf.RDFXML, "http://a/")
		var wrong *rdf.SyntaxError
		if !errors.As(err, &wrong) || len(err.Error()) > 600 || !utf8.ValidString(err.Error()) {
			t.Errorf("%.80q has the error %v", doc, err)
		}
	}
}
