package jsonld_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/jsonld"
	"github.com/webrace/webrace/internal/rdf"
)

const offer = `{
  "@context": "https://schema.org/",
  "@type": ["Product", "Thing"], "@id": "/p/1",
  "name": "A lamp", "image": ["a.jpg", "/b.jpg"], "releaseDate": "2026-11-23", "doorTime": "2026-11-23T10:00",
  "offers": {"type": "Offer", "price": 12.50, "priceCurrency": "EUR", "inStock": true, "url": "?offer=1"},
  "dcterms:subject": {"id": "https://example.org/s"}
}`

const offerQuads = `<https://example.org/p/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Product> .
<https://example.org/p/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Thing> .
<https://example.org/p/1> <http://schema.org/name> "A lamp" .
<https://example.org/p/1> <http://schema.org/image> <https://example.org/shop/a.jpg> .
<https://example.org/p/1> <http://schema.org/image> <https://example.org/b.jpg> .
<https://example.org/p/1> <http://schema.org/releaseDate> "2026-11-23"^^<http://schema.org/Date> .
<https://example.org/p/1> <http://schema.org/doorTime> "2026-11-23T10:00" .
<https://example.org/p/1> <http://schema.org/offers> _:x0 .
_:x0 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Offer> .
_:x0 <http://schema.org/price> "1.25E1"^^<http://www.w3.org/2001/XMLSchema#double> .
_:x0 <http://schema.org/priceCurrency> "EUR" .
_:x0 <http://schema.org/inStock> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .
_:x0 <http://schema.org/url> <https://example.org/shop/lamp?offer=1> .
<https://example.org/p/1> <http://purl.org/dc/terms/subject> <https://example.org/s> .
`

func TestSchemaOrgIsBuiltIn(t *testing.T) {
	t.Parallel()
	o := jsonld.Options{Base: "https://example.org/shop/lamp", Blank: "x"}
	for _, name := range []string{
		"https://schema.org/", "http://schema.org", "https://www.schema.org", "https://schema.org/docs/jsonldcontext.jsonld",
	} {
		got, err := quads([]byte(strings.Replace(offer, "https://schema.org/", name, 1)), o)
		if err != nil || text(got) != offerQuads {
			t.Errorf("%s: %v\n%s", name, err, text(got))
		}
	}
	o.Contexts = jsonld.NewContexts(map[string][]byte{
		"http://schema.org": []byte(`{"@context": {"name": "v:name"}}`), "https://schema.org/": []byte(`{"@context": {"name": "v:other"}}`),
	})
	for name, property := range map[string]string{
		"http://schema.org": "name", "https://schema.org/": "other", "http://www.schema.org/docs/jsonldcontext.json": "other",
	} {
		want := "_:x0 <v:" + property + "> \"x\" .\n"
		if got, err := quads([]byte(`{"@context": "`+name+`", "name": "x"}`), o); err != nil || text(got) != want {
			t.Errorf("a context in the place of %s: %v\n%s", name, err, text(got))
		}
	}
}

// TestContexts has contexts of one's own, which are shared, name each other, and depend on the document or not.
func TestContexts(t *testing.T) {
	t.Parallel()
	contexts := jsonld.NewContexts(map[string][]byte{
		"https://example.org/a":        []byte(`{"@context": ["b", {"n": {"@id": "v:n", "@type": "@id"}}]}`),
		"https://example.org/b":        []byte(`{"@context": {"v": "https://example.org/v#", "m": "v:m"}}`),
		"https://example.org/relative": []byte(`{"@context": {"@vocab": ""}}`),
		"https://example.org/self":     []byte(`{"@context": ["self"]}`),
		"https://example.org/broken":   []byte("{\"@context\":\n {\"a\": }}"),
		"https://example.org/wrong":    []byte("{\"@context\": {\n  \"a\": \"b\"}}"),
		"https://example.org/none":     []byte(`[]`),
		"https://example.org/french":   []byte(`{"@context": {"@language": "fr", "m": "v:m"}}`),
	})
	var group sync.WaitGroup
	for _, c := range []struct{ body, want string }{
		{`{"@context": "a", "n": "x", "m": 1}`,
			"_:b0 <https://example.org/v#n> <https://example.org/d/x> .\n" +
				"_:b0 <https://example.org/v#m> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"},
		{`{"@context": [{"@language": "de"}, "a"], "m": "x"}`, "_:b0 <https://example.org/v#m> \"x\"@de .\n"},
		{`{"@context": [{"@language": "de"}, "french", "a"], "m": "x"}`, "_:b0 <https://example.org/v#m> \"x\"@fr .\n"},
		{`{"@context": "relative", "m": "x"}`, "_:b0 <https://example.org/d/m> \"x\" .\n"},
		{`{"@context": "self"}`, "context overflow"},
		{`{"@context": "broken"}`, "line 2, column 8"},
		{`{"@context": "wrong"}`, "line 2, column 8 of the context https://example.org/wrong: invalid IRI mapping"},
		{`{"@context": "none"}`, "invalid remote context"},
		{`{"@context": "unknown"}`, "loading remote context failed: the context https://example.org/unknown is not known"},
	} {
		for range 2 {
			group.Go(func() {
				body := strings.NewReplacer(`"@context": "`, `"@context": "../`, `, "a"]`, `, "../a"]`, `"french"`, `"../french"`).Replace(c.body)
				got, err := quads([]byte(body), jsonld.Options{Base: "https://example.org/d/", Contexts: contexts})
				if err == nil && text(got) != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v\n%s", c.body, err, text(got))
				}
			})
		}
	}
	group.Wait()
}

func TestErrorsSayWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, want string }{
		{"", "line 1, column 1: loading document failed: this is no JSON: the document ends where a value is expected"},
		{"{\"a\": 1,\n é}", `line 2, column 2: loading document failed: this is no JSON: there is 'é' where a key is expected`},
		{`{"a": 01}`, `line 1, column 8: loading document failed: this is no JSON: there is '1' where "," or "}" is expected`},
		{"{\"a\": \"x\ny\"}", `line 1, column 9`},
		{`{"a": "\ud8"}`, `line 1, column 12`},
		{`[1] 2`, `line 1, column 5`},
		{"{\n \"@context\": {\"é\": {\"@id\": 1}}}", `line 2, column 28: invalid IRI mapping: @id of the term "é"`},
		{"{\"@context\": {\"@vocab\": \"v:\", \"a\": {\"@context\":\n {\"b\": 2}}}}", `line 2, column 8: invalid scoped context: invalid term`},
		{"{\"v:a\":\n {\"@value\": []}}", `line 2, column 13: invalid value object value: @value is a string, a number, true, false or null, not an array`},
		{`[{"@id": "v:a", "@index": "1"}, {"@id": "v:a", "@index": "2"}]`, `line 1, column 33: conflicting indexes`},
	} {
		got, err := quads([]byte(c.body), jsonld.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(got) > 0 {
			t.Errorf("%s: got %v, want %s; and %v", c.body, err, c.want, got)
		}
	}
}

// TestValues has what the W3C's suite does not ask.
func TestValues(t *testing.T) {
	t.Parallel()
	const p, xsd = "<v:p>", "^^<http://www.w3.org/2001/XMLSchema#"
	for _, c := range []struct{ body, want string }{
		{`{"v:p": 12345678901234567890}`, `"12345678901234567890"` + xsd + "integer>"},
		{`{"v:p": -0}`, `"0"` + xsd + "integer>"},
		{`{"v:p": 1e3}`, `"1000"` + xsd + "integer>"},
		{`{"v:p": 1e21}`, `"1.0E21"` + xsd + "double>"},
		{`{"v:p": -1.5e-7}`, `"-1.5E-7"` + xsd + "double>"},
		{`{"v:p": 1e999}`, `"INF"` + xsd + "double>"},
		{`{"v:p": {"@value": 0, "@type": "http://www.w3.org/2001/XMLSchema#double"}}`, `"0.0E0"` + xsd + "double>"},
		{`{"v:p": "\ud83d\ude00 \ud83d \ud83dx \u00e9\/"}`, "\"😀 \ufffd \ufffdx é/\""},
		{"{\"v:p\": \"a\xffb\"}", "\"a\ufffdb\""},
		{"\ufeff{\"v:p\": \"first\", \"v:p\": \"last\"}", `"last"`},
		{`{"v:p": {"@id": "relative"}}`, ""},
		{`{"v:p": {"@id": "v: space"}}`, ""},
		{`{"v:p": {"@value": "x", "@language": "no language"}}`, ""},
		{`{"v:p": {"@value": {"b": 1e21, "a": [1.0, -0, "\u0001\n"], "\ud83d\ude00": 1, "\ufb33": 2}, "@type": "@json"}}`,
			`"{\"a\":[1,0,\"\\u0001\\n\"],\"b\":1e+21,\"😀\":1,\"` + "\ufb33" +
				`\":2}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>`},
	} {
		got, err := quads([]byte(c.body), jsonld.Options{})
		want := ""
		if c.want != "" {
			want = "_:b0 " + p + " " + c.want + " .\n"
		}
		if err != nil || text(got) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", c.body, err, text(got), want)
		}
	}
}

// TestCorners has what readers disagree on.
func TestCorners(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"a mere reference is included", `{"@id": "v:s", "v:p": 1, "@included": {"@id": "v:o"}}`, "<v:s> <v:p> 1\n"},
		{"a value is included", `{"@included": {"@value": 1}}`, "invalid @included value"},
		{"a reverse term has a context", `{"@context": {"r": {"@reverse": "v:r", "@context": {"@vocab": "v:"}}}, "@id": "v:s",
			"r": {"@id": "v:o", "x": 1}}`, "<v:o> <v:r> <v:s>\n<v:o> <v:x> 1\n"},
		{"terms that are each other's index", `{"@context": {"a": {"@id": "v:a", "@container": "@index", "@index": "b"},
			"b": {"@id": "v:b", "@container": "@index", "@index": "a"}}, "@id": "v:s", "a": {"1": {"@id": "v:o"}}}`,
			"<v:s> <v:a> <v:o>\n<v:o> <v:b> \"1\"\n"},
		{"a reverse term beside @reverse", `{"@context": {"r": {"@reverse": "v:r"}}, "@id": "v:s", "r": {"@id": "v:a"},
			"@reverse": {"v:q": {"@id": "v:b"}}}`, "<v:a> <v:r> <v:s>\n<v:b> <v:q> <v:s>\n"},
		{"the container outside of the scoped context", `{"@context": {"p": {"@id": "v:p", "@container": "@list",
			"@context": null}}, "@id": "v:s", "p": []}`, "<v:s> <v:p> <" + rdf.Nil + ">\n"},
		{"a base below a reverse property", `{"@context": {"@base": "http://h/a/"}, "@id": "x", "@reverse": {"v:p":
			{"@context": {"@base": "b/"}, "@id": "y"}}}`, "<http://h/a/b/y> <v:p> <http://h/a/x>\n"},
		{"an id that is the name of a keyword", `{"@context": {"id": "@id"}, "@id": "v:s", "v:p": {"id": "id"}}`, ""},
	} {
		got, err := quads([]byte(c.body), jsonld.Options{Base: "https://example.org/"})
		said := strings.ReplaceAll(text(got), `"1"^^<`+rdf.XSDInteger+">", "1")
		said = strings.ReplaceAll(said, " .\n", "\n")
		if err != nil {
			said = err.Error()
		}
		if said != c.want && (err == nil || !strings.Contains(said, c.want)) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, said, c.want)
		}
	}
}

func TestDirections(t *testing.T) {
	t.Parallel()
	const body = `{"v:p": [{"@value": "x", "@language": "AR", "@direction": "rtl"}, {"@value": "y", "@direction": "ltr"},
		{"@value": "z", "@language": "no language", "@direction": "ltr"}]}`
	const ns = "<" + rdf.NS
	for direction, want := range map[string]string{
		"":              "_:b0 <v:p> \"x\"@ar .\n_:b0 <v:p> \"y\" .\n",
		"i18n-datatype": "_:b0 <v:p> \"x\"^^<https://www.w3.org/ns/i18n#ar_rtl> .\n_:b0 <v:p> \"y\"^^<https://www.w3.org/ns/i18n#_ltr> .\n",
		"compound-literal": "_:b0 <v:p> _:b1 .\n_:b1 " + ns + "value> \"x\" .\n_:b1 " + ns + "language> \"ar\" .\n_:b1 " + ns +
			"direction> \"rtl\" .\n_:b0 <v:p> _:b2 .\n_:b2 " + ns + "value> \"y\" .\n_:b2 " + ns + "direction> \"ltr\" .\n",
	} {
		if got, err := quads([]byte(body), jsonld.Options{Direction: direction}); err != nil || text(got) != want {
			t.Errorf("%s: %v\n%s", direction, err, text(got))
		}
	}
	o := jsonld.Options{Context: "https://schema.org"} // as a Link header names it
	if got, err := quads([]byte(`{"name": "x"}`), o); err != nil || text(got) != "_:b0 <http://schema.org/name> \"x\" .\n" {
		t.Errorf("under a context from outside: %v\n%s", err, text(got))
	}
}

// A document is read up to the next look at its context, also where it states nothing.
func TestItEnds(t *testing.T) {
	t.Parallel()
	why := errors.New("it takes too long")
	for name, body := range map[string]string{
		"values":                         "[" + strings.Repeat(`{"v:p": 1},`, 5000) + "{}]",
		"values that are no RDF":         `[{"v:p": 1}` + strings.Repeat(`, {"@id": "v:s", "v:p": {"@id": "v: space"}}`, 5000) + "]",
		"nodes of which nothing is said": `[{"v:p": 1}` + strings.Repeat(`, {"@id": "v:s", "@index": "i"}`, 5000) + "]",
		"members of a list that is none": `[{"v:p": 1}, {"_:p": {"@list": [` + strings.Repeat(`{"@id": "v: space"}, `, 5000) + "{}]}}]",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		var last error
		for _, err := range jsonld.ToRDF(ctx, []byte(body), jsonld.Options{}) {
			cancel(why)
			n++
			last = err
		}
		if n > 1001 || !errors.Is(last, why) {
			t.Errorf("%s: %d steps after the end, %v", name, n, last)
		}
		n = 0
		for _, last = range jsonld.ToRDF(ctx, []byte(body), jsonld.Options{}) {
			n++
		}
		if n != 1 || !errors.Is(last, why) {
			t.Errorf("%s, after the end: %d steps, %v", name, n, last)
		}
	}
}

func TestToRDFEndsWhenItsCallerDoes(t *testing.T) {
	t.Parallel()
	n := 0
	for range jsonld.ToRDF(t.Context(), []byte(offer), jsonld.Options{Base: "https://example.org/"}) {
		if n++; n == 3 {
			break // must be possible
		}
	}
}

func TestGraphsKeepTheirNames(t *testing.T) {
	t.Parallel()
	got, err := quads([]byte(`{"@id": "v:g", "@graph": [{"v:p": "x"}]}`), jsonld.Options{})
	if err != nil || text(got) != "_:b0 <v:p> \"x\" <v:g> .\n" {
		t.Errorf("%v\n%s", err, text(got))
	}
}
