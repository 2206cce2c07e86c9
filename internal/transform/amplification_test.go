package transform

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads each construct that states something as RDF, or refers to what does. More of JSON-LD is in
// internal/jsonld.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	const (
		page, turtle, quads, xml = "text/html", "text/turtle", "application/n-quads", "application/rdf+xml"
		rss, atom, json          = "application/rss+xml", "application/atom+xml", "application/ld+json"
		rdf                      = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:v="v:">`
	)
	for _, c := range []struct {
		contentType string
		testutil.Construct
	}{
		{page, repeated("items", "", "<p itemscope><b itemprop=a>%d</b></p>", "")},
		{page, repeated("items in items", "", "<p itemscope itemprop=a>", "")},
		{page, repeated("properties of an item", "<p itemscope>", "<i itemprop=p%d>a</i>", "")},
		{page, repeated("names of a property", "<p itemscope><b itemprop='", "p%d ", "'>a")},
		{page, repeated("properties in properties", "<p itemscope>", "<b itemprop=p%d>a", "")},
		{page, repeated("types of an item", "<p itemscope itemtype='", "http://v/%d ", "'>")},
		{page, repeated("references to parts", "<p id=a itemprop=b>a</p>", "<p itemscope itemref=a>", "")},
		{page, repeated("references of an item", "<p itemscope itemref='", "a%d ", "'>")},
		{page, repeated("RDFa", "", "<p property=dc:title>%d</p>", "")},
		{page, repeated("RDFa in RDFa", "", "<p property=dc:title rel=v:%d>a", "")},
		{page, repeated("subjects", "", "<p about=%d typeof=v:A></p>", "")},
		{page, repeated("prefixes", "<p prefix='", "a%d: http://v/%d ", "'>")},
		{page, repeated("prefixes of elements", "", "<p prefix='a: v:' property=a:b>a", "")},
		{page, repeated("relations that wait", "<p rel='", "v:%d ", "'><a href=a>")},
		{page, repeated("lists of RDFa", "<p about=a>", "<b inlist property=v:a>%d</b>", "")},
		{page, repeated("languages", "", "<p lang=l%d property=dc:title>a", "")},
		{page, repeated("bases", "", "<base href=http://h/%d/><a itemscope>", "")},
		{page, repeated("meta", "", "<meta name=dc.title content=%d>", "")},
		{page, repeated("microformats", "", "<p class=h-card><b class=p-name>%d</b></p>", "")},
		{page, repeated("microformats in microformats", "", "<div class='h-card p-a'>", "")},
		{page, repeated("classes", "<p class='h-card ", "p-a%d ", "'>a")},
		{page, repeated("properties of a microformat", "<p class=h-card>", "<b class=p-a%d>a</b>", "")},
		{page, repeated("relations of a microformat", "<p class=h-entry>", "<a rel=tag href=%d>a</a>", "")},
		{page, repeated("scripts", "", `<script type="application/ld+json">{"@id":"v:%d","v:p":1}</script>`, "")},
		{page, repeated("scripts that are broken", "", `<script type="application/ld+json">{%d</script>`, "")},
		{page, repeated("roles", "", "<p role=main id=%d>", "")},
		{page, repeated("links", "", "<a href=%d>a</a>", "")},
		{page, repeated("pictures", "", "<img src=%d alt=a>", "")},
		{turtle, repeated("triples", "<a> <b> ", "%d, ", "1 .")},
		{turtle, repeated("nodes without names", "", "[ <a> 1 ] .", "")},
		{turtle, repeated("nodes in nodes", "<a> <b> ", "[ <c> ", "")},
		{turtle, repeated("lists", "<a> <b> (", "%d ", ") .")},
		{turtle, repeated("prefixes of Turtle", "", "@prefix a%d: <v:> .\n", "")},
		{turtle, repeated("prefixes that are set again", "", "@prefix a: <v:> .\n", "")},
		{turtle, repeated("escapes", `<a> <b> "`, `\u0061`, `" .`)},
		{turtle, repeated("escapes of IRIs", `<a> <`, `\u0061`, `> 1 .`)},
		{turtle, repeated("dots of an IRI", `<a> <`, `../`, `> 1 .`)},
		{turtle, repeated("quotes", `<a> <b> """`, `""a`, `""" .`)},
		{quads, repeated("quads", "", "_:a%d <v:b> \"c\" <v:g%d> .\n", "")},
		{xml, repeated("descriptions", rdf, `<rdf:Description rdf:about="%d" v:a="b"/>`, "</rdf:RDF>")},
		{xml, repeated("properties of a description", rdf+"<rdf:Description>", "<v:a>b</v:a>", "</rdf:Description></rdf:RDF>")},
		{xml, repeated("attributes of a description", rdf+"<rdf:Description", ` v:a%d="b"`, "/></rdf:RDF>")},
		{xml, repeated("ids", rdf, `<v:a rdf:ID="i%d"/>`, "</rdf:RDF>")},
		{xml, repeated("markup as a value", rdf+`<v:a><v:b rdf:parseType="Literal">`, `<b xmlns="u:"/>`, "</v:b></v:a></rdf:RDF>")},
		{xml, repeated("namespaces", strings.TrimSuffix(rdf, ">"), ` xmlns:a%d="v:"`, "/>")},
		{xml, repeated("namespaces of elements", rdf, `<v:a xmlns:b="v:%d"/>`, "</rdf:RDF>")},
		{xml, repeated("namespaces in deep elements", rdf+times(`<v:a xmlns:b="v:"><v:c>`, 50), `<v:a xmlns:d="v:"/>`, "")},
		{xml, repeated("entities", "<!DOCTYPE a [", `<!ENTITY a%d "b">`, "]>"+rdf+"</rdf:RDF>")},
		{xml, repeated("uses of an entity", `<!DOCTYPE a [<!ENTITY a "`+times("b", 1000)+`">]>`+rdf+`<v:a><v:b>`, "&a;", "</v:b></v:a></rdf:RDF>")},
		{rss, repeated("entries", "<rss version='2.0'><channel>", "<item><link>%d</link></item>", "</channel></rss>")},
		{rss, repeated("elements of an entry", "<rss version='2.0'><channel><item>", "<category>%d</category>", "</item></channel></rss>")},
		{rss, repeated("extensions", "<rss version='2.0' xmlns:a='b'><channel>", "<a:b/>", "</channel></rss>")},
		{rss, repeated("names that are used once", "<rss version='2.0' xmlns:a='b'><channel>", "<a:b%d/>", "</channel></rss>")},
		{atom, repeated("entries of Atom", "<feed xmlns='http://www.w3.org/2005/Atom'>", "<entry><link href='%d'/></entry>", "</feed>")},
		{json, repeated("values", `{"@id":"v:a","v:p":[`, "%d,", "1]}")},
		{json, repeated("blank nodes", `[`, `{"v:p":%d},`, "1]")},
		{"application/feed+json", repeated("empty items", `{"version":"https://jsonfeed.org/version/1.1","items":[`, "{},", "{}]}")},
		{atom, repeated("bases of Atom", "<feed xmlns='http://www.w3.org/2005/Atom'>", "<entry xml:base='%d/'><link href='a'/></entry>", "</feed>")},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) (over bool) {
			_, err := Document(t.Context(), body, c.contentType, "http://h/", Options{
				Page: true, Roles: true, Limits: Limits{Time: -1}, Exceeded: func(string) { over = true },
			})
			if err != nil {
				t.Fatal(err)
			}
			return over
		})
	}
}
