package detect

import (
	"net/http"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/stagetest"
)

func turtle() *webrace.Document {
	return &webrace.Document{URL: "http://example.org/a", MediaType: "text/html", Body: []byte("@prefix a: <b> .\n<a> a <b> .")}
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "detect", Inputs: []any{turtle(), &webrace.Document{URL: "http://example.org/b", MediaType: "text/html"}}})
}

func TestDocumentsGetTheMediaTypeThatTheyHave(t *testing.T) {
	page := &webrace.Document{URL: "http://example.org/b", MediaType: "text/html", Body: []byte("<html>")}
	notModified := &webrace.Document{URL: "http://example.org/c.ttl", MediaType: "text/plain"}
	unsaid := &webrace.Document{URL: "http://example.org/d.nt", Header: http.Header{"Content-Type": {"text/rdf+n3; charset=utf-8"}}, Body: []byte("# nothing")}
	given := turtle()
	r := stagetest.Try(t, stagetest.Case{Type: "detect", Inputs: []any{given, page, notModified, unsaid}})
	if len(r.Failures) > 0 || len(r.Out[""]) != 4 {
		t.Fatalf("%v, %d documents of 4", r.Failures, len(r.Out[""]))
	}
	for i, want := range []string{"text/turtle", "text/html", "text/plain", "text/turtle"} {
		if d := r.Out[""][i].(*webrace.Document); d.MediaType != want {
			t.Errorf("%s is %s, want %s", d.URL, d.MediaType, want)
		}
	}
	if r.Out[""][1] != any(page) || r.Out[""][2] != any(notModified) || given.MediaType != "text/html" {
		t.Error("what it had right is another document, or what came was changed")
	}
	if n := r.Counters["detected"]; n != 2 {
		t.Errorf("%d detected, want 2", n)
	}
}

func TestTheEncodingThatTheServerSaysStaysKnown(t *testing.T) {
	t.Parallel()
	sent := func(header, mediaType string) *webrace.Document {
		return &webrace.Document{URL: "http://example.org/a", MediaType: mediaType, Header: http.Header{"Content-Type": {header}}, Body: []byte("<rss version='2.0'>")}
	}
	given := sent("text/xml; charset=iso-8859-7", "text/xml")
	r := stagetest.Try(t, stagetest.Case{Type: "detect", Inputs: []any{
		given, sent("Text/XML;Charset=iso-8859-7", ""), sent("text/xml", "text/xml"), sent("text/html; charset=iso-8859-7", "text/xml"),
	}})
	if len(r.Failures) > 0 || len(r.Out[""]) != 4 {
		t.Fatalf("%v, %d documents of 4", r.Failures, len(r.Out[""]))
	}
	for i, want := range []string{"application/rss+xml; charset=iso-8859-7", "application/rss+xml; charset=iso-8859-7", "text/xml", "text/html; charset=iso-8859-7"} {
		if d := r.Out[""][i].(*webrace.Document); d.MediaType != "application/rss+xml" || d.Header.Get("Content-Type") != want {
			t.Errorf("document %d is %s, %s, want %s", i, d.MediaType, d.Header.Get("Content-Type"), want)
		}
	}
	if given.Header.Get("Content-Type") != "text/xml; charset=iso-8859-7" {
		t.Error("what came was changed")
	}
}
