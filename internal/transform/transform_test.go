package transform

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

const at = "http://example.org/dir/page"

// document reads a document that must not fail.
func document(t testing.TB, body, contentType string, o Options) *webrace.Graph {
	t.Helper()
	g, err := Document(t.Context(), []byte(body), contentType, at, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const prefixes = `PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> PREFIX s: <http://schema.org/> PREFIX og: <http://ogp.me/ns#>
PREFIX article: <http://ogp.me/ns/article#> PREFIX dc: <http://purl.org/dc/elements/1.1/> PREFIX dct: <http://purl.org/dc/terms/>
PREFIX rss: <http://purl.org/rss/1.0/> PREFIX mf: <http://microformats.org/profile/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX xhv: <http://www.w3.org/1999/xhtml/vocab#>
`

func TestWhatDocumentsSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, contentType, body, want string }{
		{"N-Triples", "application/n-triples", "<http://a/> <http://b/> _:x .", "<http://a/> <http://b/> []."},
		{"N-Quads without names", "application/n-quads", "<http://a/> <http://b/> \"1\" <http://elsewhere/> .", "<http://a/> <http://b/> '1'."},
		{"Turtle", "text/turtle", "<x> a <#y>; <../z> [].", "</dir/x> a <page#y>; </z> []."},
		{"TriG without names", "application/trig", "<http://elsewhere/> { <x> a <y> }", "<x> a <y>."},
		{"RDF/XML with an entity", "text/xml", "<!DOCTYPE rdf:RDF [<!ENTITY x 'http://x/'>]><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' " +
			"xmlns:x='&x;'><x:T rdf:about='a'><x:p xml:lang='EL'>\u03b3</x:p></x:T></rdf:RDF>", "<a> a <http://x/T>; <http://x/p> '\u03b3'@el."},
		{"RDF/XML in another encoding", "text/plain", "<?xml version='1.0' encoding='iso-8859-7'?><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' " +
			"xmlns:x='http://x/'><rdf:Description rdf:about='a' x:p='\xe3'/></rdf:RDF>", "<a> <http://x/p> '\u03b3'."},
		{"Turtle by its sign", "text/plain", "@prefix x: <http://x/> .\nx:a a x:b.", "<http://x/a> a <http://x/b>."},
		{"JSON-LD", "application/ld+json", `{"@context":{"@vocab":"http://x/"},"@id":"y","@graph":[{"@id":"a","p":{"q":1}}]}`,
			"<a> <http://x/p> [<http://x/q> 1]."},
		{"JSON-LD in a page", "text/html", `<base href=/b/><script type='application/LD+json; x=1'>{"@context":"http://schema.org",
			"@id":"x","@type":"Person","name":"Jane"}</script>`, "</b/x> a s:Person; s:name 'Jane'."},
		{"JSON-LD in a page that is XML", "application/xhtml+xml", "<html xmlns='http://www.w3.org/1999/xhtml'><head><script type='application/ld+json'>\n<![CDATA[{\"@id\":\"x\",\"http://x/p\":\"<&\"}]]></script></head></html>",
			"<x> <http://x/p> '<&'."},
		{"JSON-LD in XHTML that is escaped", "application/xhtml+xml", "<html xmlns='http://www.w3.org/1999/xhtml'><script type='application/ld+json'>{\"@id\":\"x\",\"http://x/p\":\"&lt;&amp;\"}</script></html>",
			"<x> <http://x/p> '<&'."},
		{"scripts have blank nodes of their own", "text/html", strings.Repeat(`<script type=application/ld+json>{"@id":"_:b0","http://x/p":1}</script>`, 2),
			"[] <http://x/p> 1 . [] <http://x/p> 1 ."},
		{"Microdata", "text/html; charset=iso-8859-1", "<p itemscope itemtype=https://schema.org/Thing lang=de><b itemprop=name>Gr\xfc\xdfe</b>" +
			"<link itemprop=additionalType href=http://x/T>", "[] a s:Thing, <http://x/T>; " +
			"s:name 'Grüße'@de; s:additionalType <http://x/T>."},
		{"RDFa with a list", "text/html", "<p vocab=http://x/ typeof=T><a property=p inlist href=1></a><a property=p inlist href=2></a>",
			"<> <http://www.w3.org/ns/rdfa#usesVocabulary> <http://x/>. [] a <http://x/T>; <http://x/p> (<1> <2>)."},
		{"RDFa with rel around", "text/html", "<div prefix='x: http://x/' about=a rel=x:knows><p about=b><p typeof=x:T><i property=x:name>c</i></div>",
			"<a> <http://x/knows> <b>, _:c. _:c a <http://x/T>; <http://x/name> 'c'."},
		{"RDFa with rev and datatypes", "text/html", "<a prefix='x: http://x/' rev=x:r href=o></a><b property=dc:date datatype=xsd:date content=2026-01-02>x</b>",
			"<o> <http://x/r> <>. <> dct:date '2026-01-02'^^xsd:date."},
		{"RDFa's markup", "text/html", "<p property=dc:description datatype=rdf:HTML>a <b>c</b>", "<> dct:description 'a <b>c</b>'^^rdf:HTML."},
		{"XHTML with namespaces", "application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:x="http://x/"><body><div about="a"/>` +
			`<p property="x:p" xml:lang="el">γ</p></body></html>`, "<> <http://x/p> 'γ'@el."},
		{"XHTML with a script that closes itself", "application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/></head>` +
			`<body><p itemscope="" itemid="a"><b itemprop="http://x/p">y</b></p></body></html>`, "<a> <http://x/p> 'y'."},
		{"the language of XML before that of HTML", "application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml" lang="de" xml:lang="el"><p property="dc:title">x</p></html>`,
			"<> dct:title 'x'@el."},
		{"the language of HTML before that of XML", "text/html", `<html lang=de xml:lang=el><p property=dc:title>x<p xml:lang=fr property=dc:title>x`, "<> dct:title 'x'@de, 'x'@fr."},
		{"an address over several lines", "text/html", "<p itemscope itemid=a><a itemprop=http://x/p href='/b\n\t/c d'>", "<a> <http://x/p> </b/c%20d>."},
		{"a link without an address is not one to the page", "text/html", "<p itemscope itemid=a><a itemprop=http://x/p>x</a>", "<a> <http://x/p> ''."},
		{"Dublin Core in a link alone", "text/html", "<link rel=DCTERMS.isPartOf href=/b>", "<> dct:isPartOf </b>."},
		{"Open Graph and Dublin Core", "text/html", "<html lang=en><meta property=og:title content=T><meta name=og:type content=x>" +
			"<meta property=article:tag content=y><meta name=DC.Creator content=z><link rel=schema.q href=http://q/><meta name=q.p content=1>" +
			"<link rel=dcterms.license href=/l><meta name=twitter:card content=n>",
			"<> og:title 'T'@en; og:type 'x'@en; article:tag 'y'@en; dc:creator 'z'@en; <http://q/p> '1'@en; dct:license </l>."},
		{"microformats", "text/html", "<div class='h-entry h-full'><a class='u-url p-name' href=/e>E</a><time class=dt-published datetime=2026-01-02>x</time>" +
			"<p class='p-author h-card'>Jane</p></div><p class=h-full>no</p>",
			"[] a mf:h-entry; mf:url </e>; mf:name 'E'; mf:published '2026-01-02'^^xsd:date; mf:author [a mf:h-card; mf:name 'Jane']."},
		{"microformats: a number is no year", "text/html", "<p class=h-card><b class=p-tel>5551234</b><b class=p-org>2026-01-02</b><b class=dt-bday>1990</b>",
			"[] a mf:h-card; mf:tel '5551234'; mf:org '2026-01-02'; mf:bday '1990'^^xsd:gYear."},
		{"RSS whose entries are known by where they are", "text/xml", "<rss version='2.0'><channel><item><guid>/i</guid><link>/i</link></item></channel></rss>",
			"<> a rss:channel; rss:items [a rdf:Seq; rdf:_1 </i>]. </i> a rss:item; rss:link </i>; dct:identifier '/i'."},
		{"RSS", "text/xml", "<rss version='2.0'><channel><title>F</title><language>de</language><item><title>I</title><link>/i</link>" +
			"<pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate></item><item><guid>urn:x:1</guid></item></channel></rss>",
			"<> a rss:channel; rss:title 'F'@de; rss:items [a rdf:Seq; rdf:_1 </i>; rdf:_2 <urn:x:1>]. " +
				"</i> a rss:item; rss:title 'I'@de; rss:link </i>; dct:issued '2026-01-02T03:04:05Z'^^xsd:dateTime. <urn:x:1> a rss:item; dct:identifier 'urn:x:1'."},
		{"Atom", "application/xml", "<?xml version='1.0' encoding='utf-8'?><feed xmlns='http://www.w3.org/2005/Atom'><entry><id>urn:e</id>" +
			"<updated>2026-01-02T03:04:05Z</updated></entry></feed>",
			"<> a rss:channel; rss:items [a rdf:Seq; rdf:_1 <urn:e>]. <urn:e> a rss:item; dct:identifier 'urn:e'; dct:modified '2026-01-02T03:04:05Z'^^xsd:dateTime."},
		{"JSON Feed", "application/json", `{"version":"https://jsonfeed.org/version/1.1","title":"F","items":[{"id":"1","url":"http://i/","title":"I"}]}`,
			"<> a rss:channel; rss:title 'F'; rss:items [a rdf:Seq; rdf:_1 <http://i/>]. <http://i/> a rss:item; rss:title 'I'; rss:link <http://i/>; dct:identifier '1'."},
		{"a page that says nothing", "text/html", "<p class=x role=note>itemscope property=og:title</p><!-- <p itemscope> --><script>'<p itemscope>'</script>", ""},
		{"a picture", "image/png", "\x89PNG", ""},
	} {
		g := document(t, c.body, c.contentType, Options{})
		if d := testutil.Isomorphic(turtle(t, []byte(prefixes+c.want), at), quadsOf(g.Triples)); d != "" || !g.Whole || len(g.Problems) > 0 {
			t.Errorf("%s: %s\nwhole %v, problems %q", c.name, d, g.Whole, g.Problems)
		}
	}
}

func TestPagesAsInThePaper(t *testing.T) {
	t.Parallel()
	g := document(t, "<title> A  page </title><p><a href='x y?z'>to <b>x</b></a><a href='mailto:a@b.c?subject=x'>me</a><img src=i.png alt=I><a href=javascript:no>", "text/html",
		Options{Page: true})
	want := `<> dct:title 'A page'; dct:references <x%20y?z>; foaf:mbox <mailto:a@b.c>; foaf:depiction <i.png>.
		<x%20y?z> rdfs:label 'to x'. <mailto:a@b.c> rdfs:label 'me'. <i.png> rdfs:label 'I'.`
	if d := testutil.Isomorphic(turtle(t, []byte(prefixes+want), at), quadsOf(g.Triples)); d != "" {
		t.Error(d)
	}
}

func TestProblemsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, contentType, body, problem string
		whole                            bool
		triples                          int
	}{
		{"Turtle", "text/turtle", "<a> <b> <c> .\n<a> <b ", "line 2, column", false, 1},
		{"RDF/XML", "application/rdf+xml", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n<rdf:Description></x>", "line 2, column", false, 0},
		{"RDF in lines", "application/n-triples", "<http://a/> <http://b/> \"c .", "line 1, column", false, 0},
		{"JSON-LD", "application/ld+json", "{\"@context\":{},\n \"a\":", "line 2, column", false, 0},
		{"a broken script, which costs itself alone", "text/html", "<p itemscope><i itemprop=name>x</i></p>\n<script type=application/ld+json>{\n\"@id\": x}</script>" +
			"<script type=application/ld+json>{\"@id\":\"a\",\"http://x/p\":1}</script>", "JSON-LD: line 3, column 8", true, 2},
		{"a context that is not known", "text/html", "\n<script type=application/ld+json>{\"@context\":\"http://unknown.example/\",\"name\":1}</script>",
			"JSON-LD: line 2, column", true, 0},
		{"a feed", "application/rss+xml", "<rss><channel>\n<title>x</tit", "line 2, column", false, 0},
	} {
		g := document(t, c.body, c.contentType, Options{})
		if len(g.Problems) != 1 || !strings.Contains(g.Problems[0], c.problem) || g.Whole != c.whole || len(g.Triples) != c.triples {
			t.Errorf("%s: whole %v, %d triples, problems %q", c.name, g.Whole, len(g.Triples), g.Problems)
		}
	}
}

// A document whose URL has characters that no IRI may have speaks of the IRI in which they are percent-encoded.
func TestAURLThatIsNoIRI(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{
		"text/turtle":         "<#a> <http://p/> <?b=%7Bc%7D> .",
		"text/html":           `<p itemscope itemid="#a" itemtype="http://t/"><link itemprop="http://p/" href="?b={c}">`,
		"application/ld+json": `{"@id": "#a", "http://p/": {"@id": "?b=%7Bc%7D"}}`,
	} {
		g, err := Document(t.Context(), []byte(body), contentType, "http://example.org/x|y?z={}", Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := webrace.Triple{Subject: "<http://example.org/x%7Cy?z=%7B%7D#a>", Predicate: "<http://p/>", Object: "<http://example.org/x%7Cy?b=%7Bc%7D>"}
		if !g.Whole || !slices.Contains(g.Triples, want) {
			t.Errorf("%s: whole %v, %v, problems %q", contentType, g.Whole, g.Triples, g.Problems)
		}
	}
}

// The same document has the same graph, and none of its blank nodes is in that of another URL.
func TestBlankNodesAreOfTheirDocument(t *testing.T) {
	t.Parallel()
	page := `<p itemscope><i itemprop=a itemscope></i><p typeof=foaf:Person><script type=application/ld+json>[{"http://x/p":{}}, {"http://x/p":{}}]</script>`
	for contentType, body := range map[string]string{"text/html": page, "text/turtle": "[] <p> [], [ <q> _:x ] ."} {
		first, again := document(t, body, contentType, Options{}), document(t, body, contentType, Options{})
		if !slices.Equal(first.Triples, again.Triples) || len(first.Triples) < 3 {
			t.Errorf("%s: %v, then %v", contentType, first.Triples, again.Triples)
		}
		other, err := Document(t.Context(), []byte(body), contentType, at+"2", Options{})
		if err != nil {
			t.Fatal(err)
		}
		of := make(map[webrace.Term]bool)
		for _, triple := range first.Triples {
			of[triple.Subject], of[triple.Object] = true, true
		}
		for _, triple := range other.Triples {
			if of[triple.Subject] && strings.HasPrefix(string(triple.Subject), "_:") {
				t.Errorf("%s is in both", triple.Subject)
			}
		}
		if s := string(first.Triples[0].Subject); !strings.HasPrefix(s, "_:x") || len(strings.TrimRight(s, "0123456789")) < 3 || s[23] != 'n' {
			t.Errorf("a blank node is called %s", s)
		}
	}
}

func TestLimitsAreToldByName(t *testing.T) {
	t.Parallel()
	few := Options{}
	few.Limits.Triples, few.Limits.Literal, few.Limits.IRI, few.Limits.Depth = 3, 10, 60, 4
	for _, c := range []struct {
		name, contentType, body, limit string
		whole                          bool
		triples                        int
	}{
		{"triples of Turtle", "text/turtle", "<a> <b> 1, 2, 3, 4 .", "triples", false, 3},
		{"triples of a page", "text/html", "<p itemscope><i itemprop='a b c d'>x</i></p>", "triples", false, 0},
		{"a literal of N-Triples", "application/n-triples", "<a:a> <b:b> \"01234567890\" .", "literal", false, 0},
		{"a literal of a page is left out", "text/html", "<p itemscope><i itemprop=a>01234567890</i><i itemprop=b>x</i></p>", "literal", true, 1},
		{"an IRI of a page is left out", "text/html", "<p itemscope><a itemprop=a href='" + strings.Repeat("x", 61) + "'></a><i itemprop=b>x</i></p>", "iri", true, 1},
		{"an IRI that is long with its base is left out", "text/html", "<p itemscope><a itemprop=a href='" + strings.Repeat("x", 50) + "'></a><i itemprop=b>x</i></p>", "iri", true, 1},
		{"a name of Dublin Core that is long is left out", "text/html", "<meta name=dc." + strings.Repeat("x", 60) + " content=a><meta name=dc.x content=b>", "iri", true, 1},
		{"a name of microformats that is long is left out", "text/html", "<p class=h-card><b class=p-" + strings.Repeat("x", 60) + ">a</b>", "iri", true, 1},
		{"items in each other", "text/html", strings.Repeat("<p itemscope itemprop=a>", 1) + strings.Repeat("<b itemscope itemprop=a>", 1) +
			"<div itemscope>" + strings.Repeat("<i itemprop=a itemscope>", 5), "depth", true, 0},
		{"properties in each other", "text/turtle", strings.Repeat("[ <a> ", 6), "depth", false, 0},
	} {
		var told []string
		o := few
		o.Exceeded = func(limit string) { told = append(told, limit) }
		g := document(t, c.body, c.contentType, o)
		if !slices.Equal(told, []string{c.limit}) || g.Whole != c.whole || len(g.Problems) != 1 || len(g.Triples) != c.triples {
			t.Errorf("%s: told %q; whole %v, problems %q, %v", c.name, told, g.Whole, g.Problems, g.Triples)
		}
	}
}

func TestContextThatEnds(t *testing.T) {
	t.Parallel()
	why := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for contentType, body := range map[string]string{
		"text/html": "<p itemscope>" + strings.Repeat("<i itemprop=a>x</i>", 2000), "text/turtle": strings.Repeat("<a> <b> <c>.", 2000),
		"application/ld+json": `{"http://x/p": [` + strings.Repeat("1,", 2000) + `1]}`,
	} {
		if g, err := Document(ctx, []byte(body), contentType, at, Options{}); !errors.Is(err, why) {
			t.Errorf("%s: %v, %v", contentType, g, err)
		}
	}
	if _, err := Document(t.Context(), nil, "text/html", "no URL", Options{}); err == nil {
		t.Error("a URL that is none is taken")
	}
}

// Items of microformats are told apart by addresses of memory, which is used again.
func TestEachItemOfMicroformatsIsOneOfItsOwn(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	const items = 3000
	var page strings.Builder
	for i := range items {
		fmt.Fprintf(&page, "<p class=h-card><b class=p-name>%d</b></p>", i)
	}
	if g := document(t, page.String(), "text/html", Options{}); len(g.Triples) != 2*items {
		t.Errorf("%d triples of %d items, two each", len(g.Triples), items)
	}
}
