package transform

import (
	"strings"
	"testing"
)

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	const rdfRoot = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`
	for _, c := range []struct{ name, body, header, url, want string }{
		{"RDF/XML as XML", "<?xml version='1.0'?>\n<!-- x -->\n" + rdfRoot, "text/xml", "", "application/rdf+xml"},
		{"RDF/XML with a DTD", "<!DOCTYPE rdf:RDF [\n<!ENTITY a 'b>'>\n]>\n" + rdfRoot, "text/plain", "", "application/rdf+xml"},
		{"RDF/XML with a DTD that goes on", "<!DOCTYPE rdf:RDF [\n" + strings.Repeat("<!ENTITY a 'b'>\n", 300) + "]>" + rdfRoot, "", "", "application/rdf+xml"},
		{"RDF/XML in UTF-16", "\xff\xfe" + wide(rdfRoot), "", "", "application/rdf+xml"},
		{"RSS 1.0 is RDF", rdfRoot, "application/rss+xml", "", "application/rdf+xml"},
		{"RSS 2.0", "<rss version='2.0'>", "application/xml; charset=x", "", "application/rss+xml"},
		{"Atom", "\ufeff<?xml version='1.0'?><a:feed\nxmlns:a = 'http://www.w3.org/2005/Atom'>", "text/html", "", "application/atom+xml"},
		{"a feed of something else", "<feed>", "application/xml", "", "application/xml"},
		{"XML of an unknown root", "<?xml version='1.0'?><x>", "application/vnd.x+xml", "", "application/vnd.x+xml"},
		{"XML of an unknown root as HTML", "<?xml version='1.0'?><x>", "text/html", "", "application/xml"},
		{"XML of an unknown root as RDF", "<foaf:Person xmlns:foaf='f'>", "application/rdf+xml", "", "application/rdf+xml"},
		{"HTML as XML", "<!DOCTYPE html><html>", "application/xml", "", "text/html"},
		{"HTML as nothing", "<title>x</title>", "", "", "text/html"},
		{"XHTML as HTML", "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", "text/html", "", "text/html"},
		{"XHTML as XML", "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", "text/xml", "", "application/xhtml+xml"},
		{"XHTML as itself", "<html>", "application/xhtml+xml", "", "application/xhtml+xml"},
		{"Turtle", "# x\n@prefix a: <b> .\n", "text/plain", "", "text/turtle"},
		{"Turtle of SPARQL's kind", "BASE <http://x/>\nprefix a:<b>\na:b a <c> .", "text/html", "", "text/turtle"},
		{"TriG", "@prefix a: <b> .\na:g {\n", "text/plain", "", "application/trig"},
		{"TriG after a text", "@prefix a: <b> .\na:b a:c \"\"\"one\n{\n\"\"\" .\na:g {\n", "text/plain", "", "application/trig"},
		{"Turtle that explains a program", "@prefix a: <b> .\na:b a:c \"\"\"\n  GRAPH x\nif (x) {\n{\n\"\"\" .\n", "text/plain", "", "text/turtle"},
		{"Turtle whose explanation is cut", "@prefix a: <b> .\na:b a:c '''int main() {\n" + strings.Repeat("{\n", head), "", "", "text/turtle"},
		{"TriG by its header", "@prefix a: <b> .\n", "application/x-trig", "", "application/trig"},
		{"a query", "PREFIX a: <b>\nSELECT * {}", "text/plain", "", "text/plain"},
		{"a style", "@import url(x);", "text/css", "", "text/css"},
		{"N-Triples", "<http://a/b> <b:c> \"d \\\" .\"@e .\n_:a <b:c> _:d . # x\n", "text/plain", "", "application/n-triples"},
		{"N-Triples with datatypes", "<http://a/b> <b:c> \"1\"^^<x:int> .", "", "", "application/n-triples"},
		{"N-Quads", "<http://a/b> <b:c> _:d <e:f> .\n", "text/plain", "", "application/n-quads"},
		{"N-Triples as Turtle", "<http://a/b> <b:c> <d:e> .\n", "text/turtle", "", "text/turtle"},
		{"a statement, and Turtle", "<http://a/b> <b:c> <d:e> .\n<http://a/b> a <f> .", "text/plain", "", "text/turtle"},
		{"a statement that is cut", "<http://a/b> <b:c> <d:e> .\n<http://a/b> <b:c> \"" + strings.Repeat("x", 4000), "text/plain", "", "application/n-triples"},
		{"JSON-LD", "{\n \"@context\": {}}", "application/json", "", "application/ld+json"},
		{"JSON", "{\"a\": 1}", "application/json", "", "application/json"},
		{"JSON-LD without a sign", "{\"a\": 1}", "application/ld+json;profile=x", "", "application/ld+json"},
		{"JSON Feed", `{"version": "https://jsonfeed.org/version/1"}`, "application/json", "", "application/feed+json"},
		{"an alias", "", "text/rdf+n3; charset=utf-8", "", "text/turtle"},
		{"an extension", "x", "text/plain", "http://x/y.TTL?z=.rdf", "text/turtle"},
		{"an extension of nothing in particular", "x", "application/octet-stream", "http://x/y.nq", "application/n-quads"},
		{"an extension below a header", "x", "text/html", "http://x/y.ttl", "text/html"},
		{"C", "#include <a.h>\n", "", "http://x/y.h", "text/plain"},
		{"an e-mail address", "<a@b.c> says: x .", "text/plain", "", "text/plain"},
		{"a picture", "\x89PNG\r\n\x1a\n", "", "", "image/png"},
		{"a picture of nothing in particular", "\x89PNG\r\n\x1a\n", "application/octet-stream", "", "image/png"},
		{"nothing", "", "", "", "text/plain"},
	} {
		if got := MediaType([]byte(c.body), c.header, c.url); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// wide is ASCII in UTF-16.
func wide(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteString(text[i:i+1] + "\x00")
	}
	return b.String()
}

// What is looked at is the beginning, whatever follows, and looking changes nothing.
func FuzzMediaType(f *testing.F) {
	for _, body := range []string{"<!DOCTYPE a [<!ENTITY b 'c'>]><a:b xmlns:a=c d>", "@prefix a: <b> .\na:b {", "<a:a> <b:b> \"c\"@d .\n", "{\"@context\":1}", "<?a?><!--b--><c"} {
		f.Add([]byte(body), "text/plain", "http://a/b.ttl")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType, url string) {
		before := string(body)
		got := MediaType(body, contentType, url)
		if string(body) != before {
			t.Error("the body was changed")
		}
		if len(body) >= head {
			if more := MediaType(append(body[:len(body):len(body)], "<html>"...), contentType, url); len(body) > head && more != got {
				t.Errorf("%s, and with more behind it %s", got, more)
			}
		}
		if again := MediaType(body, got, url); strongSign(body, got, extensionOf(url)) == "" && aliases[got] == "" && got != typeText && !generic[got] && again != got {
			t.Errorf("what is %s is %s where it is sent as that", got, again)
		}
	})
}
