package jsonld_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/jsonld"
)

// told reads a document, and returns what it states and what is told of it.
func told(t *testing.T, body string, o jsonld.Options) (says string, notes []string) {
	t.Helper()
	o.Told = func(e *jsonld.Error) { notes = append(notes, e.Error()) }
	got, err := quads([]byte(body), o)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return text(got), notes
}

// TestIRIs percent-encodes what no IRI can have, wherever an IRI is written.
func TestIRIs(t *testing.T) {
	t.Parallel()
	const context = `"@context": {"@vocab": "v:", "url": {"@type": "@id"}, "ids": {"@container": "@id"}, "no iri": "v:n o"}`
	for _, c := range []struct{ body, want, told string }{
		{`"url": "https://shop.example/my image.jpg"`, "_:b0 <v:url> <https://shop.example/my%20image.jpg> .\n", `my image`},
		{`"url": "my image.jpg#a b"`, "_:b0 <v:url> <https://d.example/x/my%20image.jpg#a%20b> .\n", `my image`},
		{`"url": "/?q={search_term_string}"`, "_:b0 <v:url> <https://d.example/?q=%7Bsearch_term_string%7D> .\n", `{search_term_string}`},
		{`"url": "/a|b^c\\d\"e<f>` + "`" + `"`, "_:b0 <v:url> <https://d.example/a%7Cb%5Ec%5Cd%22e%3Cf%3E%60> .\n", "percent-encoded"},
		{`"url": " \n/a\t"`, "_:b0 <v:url> <https://d.example/a> .\n", "white space"},
		{`"url": "/a\nb"`, "_:b0 <v:url> <https://d.example/ab> .\n", "percent-encoded"},
		{`"@id": "s {}", "p": {"q": 1}`, "<https://d.example/x/s%20%7B%7D> <v:p> _:b0 .\n_:b0 <v:q> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n", "s {}"},
		{`"@type": "My Type"`, "_:b0 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <v:My%20Type> .\n", "My Type"},
		{`"my key": "x"`, "_:b0 <v:my%20key> \"x\" .\n", "my key"},
		{`"no iri": "x"`, "_:b0 <v:n%20o> \"x\" .\n", "n o"},
		{`"p": {"@value": "x", "@type": "v:a b"}`, "_:b0 <v:p> \"x\"^^<v:a%20b> .\n", "a b"},
		{`"ids": {"a b": {"q": "x"}}`, "_:b0 <v:ids> <https://d.example/x/a%20b> .\n<https://d.example/x/a%20b> <v:q> \"x\" .\n", "a b"},
		{`"@id": "v:g h", "@graph": [{"@id": "v:s", "p": "x"}]`, "<v:s> <v:p> \"x\" <v:g%20h> .\n", "g h"},
		{`"url": "v:a#b#c"`, "_:b0 <v:url> <v:a#b%23c> .\n", "a#b#c"},
		{`"url": ["v:ä", "v:a%20b"]`, "_:b0 <v:url> <v:ä> .\n_:b0 <v:url> <v:a%20b> .\n", ""},
	} {
		says, notes := told(t, "{"+context+", "+c.body+"}", jsonld.Options{Base: "https://d.example/x/", Escape: true})
		if says != c.want {
			t.Errorf("%s says\n%swant\n%s", c.body, says, c.want)
		}
		if c.told == "" && len(notes) > 0 || c.told != "" && (len(notes) == 0 || !strings.Contains(strings.Join(notes, "\n"), c.told)) {
			t.Errorf("%s: told %q, want %q", c.body, notes, c.told)
		}
	}
}

// TestNothingIsLeftOutUntold has what the standard leaves out, and what is read as something else.
func TestNothingIsLeftOutUntold(t *testing.T) {
	t.Parallel()
	const schema = `"@context": {"@vocab": "v:"}, `
	for _, c := range []struct{ body, told string }{
		{`{"name": "x", "price": 1}`, `line 1, column 10: left out: there is no @context`},
		{`{"@context": {}, "name": "x"}`, `left out: there is no @context`},
		{`{"@context": {"a": "v:a"}, "a": 1, "name": "x"}`, `left out: no @context says what a key stands for: "name"`},
		{`{` + schema + `"@nothing": "x"}`, `left out: a key looks like a keyword, and is none: "@nothing"`},
		{`{` + schema + `"@default": "x"}`, `left out: a keyword means nothing here: "@default"`},
		{`{` + schema + `"@type": ["@nothing", "T"]}`, `left out: a type stands for nothing: "@nothing"`},
		{`{"@context": {"@nothing": "v:a"}, "v:b": 1}`, `left out: a term looks like a keyword, and is none: "@nothing"`},
		{`{"@context": {"a": "@nothing"}, "v:b": 1}`, `left out: a term stands for what looks like a keyword, and is none: "@nothing"`},
		{`{"@context": {"a": {"@reverse": "@nothing"}}, "v:b": 1}`, `left out: a term stands for what looks like a keyword, and is none: "@nothing"`},
		{`["x", {"v:a": 1}]`, `line 1, column 2: left out: what is no value of a property says nothing`},
		{`[{"@value": "x"}, {"v:a": 1}]`, `left out: what is no value of a property says nothing`},
		{`[{"@list": ["x"]}, {"v:a": 1}]`, `left out: what is no value of a property says nothing`},
		{`{"@context": {"a": {"@id": "v:a", "@container": "@graph"}}, "a": "x"}`, `left out: what is no value of a property says nothing`},
		{`{` + schema + `"p": {"@language": "en"}}`, `left out: a language without a value says nothing`},
		{`{"@id": "relative", "v:a": 1}`, `left out: what is said by a name that is no absolute IRI: "relative"`},
		{`{"@id": "v:a b", "v:a": 1}`, `left out: what is said by a name that is no absolute IRI: "v:a b"`},
		{`{"@id": "@nothing", "v:a": 1}`, `left out: what is said by a name that is no absolute IRI`},
		{`{"_:p": 1}`, `left out: a property is a blank node: "_:p"`},
		{`{"v:a": {"@value": "x", "@language": "en_US"}}`, `left out: a text in what is no language: "en_US"`},
		{`{"@context": {"a": {"@id": "v:a", "@type": "v:t t"}}, "a": "x"}`, `left out: a value whose datatype is no absolute IRI: "v:t t"`},
		{`{"v:a": {"@value": "x", "@direction": "rtl"}}`, `left out: the direction of a text, for which RDF has no place: "rtl"`},
		{`{"@context": {"m": {"@id": "v:m", "@container": "@id"}}, "m": {"v:a": {"@id": "v:b", "v:c": 1}}}`, `left out: the key is not the id`},
		{`{"@context": {"m": {"@id": "v:m", "@container": "@type"}}, "m": {"v:a": {"@value": 1}}}`, `left out: the key is no type`},
		{`{"v:a": 1, "v:a": 2}`, `left out: of a key that an object has twice, the first value: "v:a"`},
		{`{"v:a": 1e999}`, `read as: a number that no double can hold is infinite: "1e999"`},
		{"{\"v:a\": \"\xff\"}", `read as: bytes that are no UTF-8 are U+FFFD`},
		{`{"v:a": "\ud800"}`, `read as: half of a pair of surrogates is U+FFFD`},
	} {
		if _, notes := told(t, c.body, jsonld.Options{}); len(notes) != 1 || !strings.Contains(notes[0], c.told) {
			t.Errorf("%s: told %q, want %q", c.body, notes, c.told)
		}
	}
	for _, body := range []string{
		`{"@context": {"@vocab": "v:", "off": null}, "off": 1, "none": null, "values": [null, {"@value": null}], "@id": "v:s"}`,
		`{"v:a": {"@value": "x", "@language": "en-US"}, "v:b": {"@list": [{}]}, "v:c": {"@id": "v:d"}}`, `{}`, `[]`,
	} {
		if _, notes := told(t, body, jsonld.Options{}); len(notes) > 0 {
			t.Errorf("%s: told %q", body, notes)
		}
	}
}

// TestWhatIsToldIsBounded tells each thing once, and of many the first few.
func TestWhatIsToldIsBounded(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	body.WriteString(`{"@context": {"a": "v:a"}, "a": [`)
	for i := range 3000 {
		fmt.Fprintf(&body, `{"same": 1, "key%d": 1}, `, i/2)
	}
	body.WriteString("{}]}")
	_, notes := told(t, body.String(), jsonld.Options{})
	if len(notes) != 11 || !strings.Contains(notes[0], `"same"`) || !strings.Contains(notes[10], "2982 things more") {
		t.Errorf("%d are told: %q", len(notes), notes)
	}
}

func TestLenient(t *testing.T) {
	t.Parallel()
	const says = "_:b0 <v:a> \"x\" .\n_:b0 <v:b> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
	for name, body := range map[string]string{
		"a comment is passed":              "/* one */ {\"v:a\": \"x\", // two\n \"v:b\": [1 /**/] } // three",
		"a comment is passed over":         `<!-- of HTML --> {"v:a": "x", "v:b": 1}`,
		"the mark of a comment":            `<!-- {"v:a": "x", "v:b": 1} -->`,
		"the mark of a section":            "<![CDATA[\n{\"v:a\": \"x\", \"v:b\": [[1]]}\n]]>",
		"the mark of a section of text is": "<![CDATA[[{\"v:a\": \"x\", \"v:b\": 1}]]]>",
		"a comment":                        "//<![CDATA[\n{\"v:a\": \"x\", \"v:b\": 1}\n//]]>",
		"a comma behind the last value is": `{"v:a": "x", "v:b": [1,],}`,
		"a comma behind the last value":    "[{\"v:a\": \"x\", \"v:b\": 1}\n,\n]",
		"a control character":              "\x00{\"v:a\": \"x\",\f\"v:b\": 1}\x1a",
	} {
		got, notes := told(t, body, jsonld.Options{Lenient: true})
		if got != says || !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "read as: "+name) }) {
			t.Errorf("%q says\n%s, told %q", body, got, notes)
		}
		if _, err := quads([]byte(body), jsonld.Options{}); err == nil || !strings.Contains(err.Error(), "which the option lenient allows") {
			t.Errorf("%q, if it is not to be read: %v", body, err)
		}
	}
	got, notes := told(t, "{\"v:a\": \"one\ntwo\tthree\"}", jsonld.Options{Lenient: true})
	if got != "_:b0 <v:a> \"one\\ntwo\\tthree\" .\n" || len(notes) != 2 {
		t.Errorf("control characters in a string: %s, told %q", got, notes)
	}
	for _, body := range []string{"{,}", "[1,,2]", "[,]", "/* {}", "{\"a\" 1}", "<!-- a", "{} /", "{'a': 1}", "[1 2]", `{"v:a": 1}}`} {
		if got, err := quads([]byte(body), jsonld.Options{Lenient: true}); err == nil {
			t.Errorf("%q is read: %s", body, text(got))
		}
	}
	if says, _ := told(t, `{"v:a": "/* no */ // comment <![CDATA[ ,] ]]>"}`, jsonld.Options{Lenient: true}); says != "_:b0 <v:a> \"/* no */ // comment <![CDATA[ ,] ]]>\" .\n" {
		t.Errorf("what a string has: %s", says)
	}
}
