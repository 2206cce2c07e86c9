package transform

import (
	"html"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// A reference means the same IRI in JSON-LD as in Microdata, RDFa and microformats, whatever characters it has.
func TestIRIsAreTheSameInAllSyntaxes(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{
		"https://shop.example/my image.jpg", "my image.jpg", "/search?q={search_term_string}", "/a|b^c`d\\e", "/<a>\"b\"", " /white\n", "/line\nbreak",
		"/ä/ö?ü#ß", "/a%20b%zz", "?a=1&b={}", "#a b", "mailto:a b@c.example", "//other.example/{x}", "../../up it",
	} {
		object := func(syntax, page string) webrace.Term {
			g := document(t, page, "text/html", Options{})
			for _, triple := range g.Triples {
				if strings.HasSuffix(string(triple.Predicate), "/url>") {
					return triple.Object
				}
			}
			t.Errorf("%q in %s: %v, problems %q", reference, syntax, g.Triples, g.Problems)
			return ""
		}
		escaped := html.EscapeString(reference)
		want := object("Microdata", `<p itemscope itemtype=http://schema.org/Thing><link itemprop=url href="`+escaped+`">`)
		for syntax, page := range map[string]string{
			"JSON-LD":      `<script type=application/ld+json>{"@context":"https://schema.org","@type":"Thing","url":` + strconv.Quote(reference) + `}</script>`,
			"RDFa":         `<p vocab=http://schema.org/ typeof=Thing><a property=url href="` + escaped + `"></a>`,
			"microformats": `<p class=h-card><a class=u-url href="` + escaped + `"></a>`,
		} {
			if syntax == "microformats" && strings.ContainsAny(reference, "äß%<|\\\n") { // their library has rules of its own for URLs
				continue
			}
			if got := object(syntax, page); got != want {
				t.Errorf("%q in %s is %s, in Microdata %s", reference, syntax, got, want)
			}
		}
	}
}

// What is read otherwise than it is written, or left out, is told with its place in the page.
func TestIRIsThatAreMendedAreTold(t *testing.T) {
	t.Parallel()
	const script = "<title>x</title>\n<script type=application/ld+json>\n" + `{"@context":"https://schema.org","@id":"/","potentialAction":{"@type":"SearchAction",
 "target":{"@type":"EntryPoint","urlTemplate":"x"}, "url":"/?q={search_term_string}"}}</script>`
	g := document(t, script, "text/html", Options{})
	want := `</> s:potentialAction [a s:SearchAction; s:url </?q=%7Bsearch_term_string%7D>; s:target [a s:EntryPoint; s:urlTemplate 'x']].`
	if d := testutil.Isomorphic(turtle(t, []byte(prefixes+want), at), quadsOf(g.Triples)); d != "" || !g.Whole {
		t.Error(d)
	}
	if len(g.Problems) != 1 || !strings.HasPrefix(g.Problems[0], "JSON-LD: line 4, column 59: read as: an IRI is percent-encoded") ||
		!strings.HasSuffix(g.Problems[0], `"http://example.org/?q={search_term_string}"`) {
		t.Errorf("problems %q", g.Problems)
	}
	g = document(t, `<script type=application/ld+json>{"@type":"Person","name":"Jane","url":"/"}</script>`, "text/html", Options{})
	if len(g.Problems) != 1 || !strings.Contains(g.Problems[0], "left out: there is no @context") || len(g.Triples) != 1 {
		t.Errorf("without a context: %v, problems %q", g.Triples, g.Problems)
	}
	g = document(t, `{"@id":"a b","http://x/p":1, "q": 2}`, "application/ld+json", Options{})
	if len(g.Problems) != 2 || len(g.Triples) != 1 || !g.Whole || g.Triples[0].Subject != "<http://example.org/dir/a%20b>" {
		t.Errorf("a document: %v, problems %q", g.Triples, g.Problems)
	}
}

func TestLenient(t *testing.T) {
	t.Parallel()
	const page = "<script type=application/ld+json>\n//<![CDATA[\n{\"@context\":\"https://schema.org\", /* whose */\n\"name\":\"A\tB\",}\n//]]>\n</script>"
	if g := document(t, page, "text/html", Options{Lenient: true}); len(g.Triples) != 1 || len(g.Problems) != 3 || g.Triples[0].Object != `"A\tB"` {
		t.Errorf("leniently: %v, problems %q", g.Triples, g.Problems)
	}
	if g := document(t, page, "text/html", Options{}); len(g.Triples) > 0 || len(g.Problems) != 1 || !strings.Contains(g.Problems[0], "lenient") {
		t.Errorf("strictly: %v, problems %q", g.Triples, g.Problems)
	}
}

// The terms of schema.org are those at http: in all syntaxes; addresses of the site's documents are their own.
func TestSchemaOrg(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contentType, body string }{
		{"text/html", `<script type=application/ld+json>{"@context":{"@vocab":"https://schema.org/"},"@id":"x","@type":"Thing","name":{"@value":"N","@type":"Text"},"url":{"@id":"https://schema.org/docs/a.html"}}</script>`},
		{"text/html", `<p vocab=https://schema.org/ resource=x typeof=Thing><b property=name datatype=https://schema.org/Text>N</b><a property=url href=https://schema.org/docs/a.html></a>`},
		{"text/turtle", `@prefix s: <https://schema.org/> . <x> a s:Thing ; s:name "N"^^s:Text ; s:url <https://schema.org/docs/a.html> .`},
		{"application/n-quads", `<http://example.org/dir/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://www.schema.org/Thing> .
			<http://example.org/dir/x> <http://www.schema.org/name> "N"^^<https://schema.org/Text> .
			<http://example.org/dir/x> <http://schema.org/url> <https://schema.org/docs/a.html> .`},
	} {
		for _, two := range []bool{false, true} {
			var said []webrace.Triple
			for _, triple := range document(t, c.body, c.contentType, Options{TwoSchemaOrgs: two}).Triples {
				if triple.Subject == "<http://example.org/dir/x>" {
					said = append(said, triple)
				}
			}
			want := `<x> a s:Thing; s:name 'N'^^s:Text; s:url <https://schema.org/docs/a.html>.`
			if d := testutil.Isomorphic(turtle(t, []byte(prefixes+want), at), quadsOf(said)); (d == "") == two {
				t.Errorf("%s, two %v: %s", c.body, two, d)
			}
		}
	}
}

// A string that is the address of a term of schema.org is that term in all syntaxes, as the value of its properties
// alone, and unless there are to be two.
func TestSchemaOrgStringsThatAreTerms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contentType, body, object string }{
		{"text/html", `<script type=application/ld+json>{"@context":"https://schema.org","@id":"x","availability":"https://schema.org/InStock"}</script>`, "<http://schema.org/InStock>"},
		{"text/html", `<script type=application/ld+json>{"@context":"https://schema.org","@id":"x","availability":"http://schema.org/InStock"}</script>`, "<http://schema.org/InStock>"},
		{"text/html", `<p itemscope itemid=x itemtype=https://schema.org/Offer><meta itemprop=availability content=https://www.schema.org/InStock>`, "<http://schema.org/InStock>"},
		{"text/html", `<p vocab=http://schema.org/ resource=x><meta property=availability content=https://schema.org/InStock>`, "<http://schema.org/InStock>"},
		{"text/turtle", `<x> <http://schema.org/availability> "https://schema.org/InStock" .`, "<http://schema.org/InStock>"},
		{"text/turtle", `<x> <http://schema.org/availability> "InStock" .`, `"InStock"`},
		{"text/turtle", `<x> <http://schema.org/availability> "http://schema.org/In Stock" .`, `"http://schema.org/In Stock"`},
		{"text/turtle", `<x> <http://schema.org/availability> "see https://schema.org/InStock" .`, `"see https://schema.org/InStock"`},
		{"text/turtle", `<x> <http://schema.org/availability> "http://schema.org/InStock"@en .`, `"http://schema.org/InStock"@en`},
		{"text/turtle", `<x> <http://example.org/availability> "http://schema.org/InStock" .`, `"http://schema.org/InStock"`},
	} {
		objects := func(o Options) (all []webrace.Term) {
			for _, triple := range document(t, c.body, c.contentType, o).Triples {
				if strings.HasSuffix(string(triple.Predicate), "availability>") {
					all = append(all, triple.Object)
				}
			}
			return all
		}
		if got := objects(Options{}); len(got) != 1 || got[0] != webrace.Term(c.object) {
			t.Errorf("%s has the objects %q", c.body, got)
		}
		if got := objects(Options{TwoSchemaOrgs: true}); len(got) != 1 || got[0][0] != '"' {
			t.Errorf("with two: %s has the objects %q", c.body, got)
		}
	}
}
