package xslt

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/transform"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

const (
	berthsRoot = "{http://harbour.example/ns#}berths"
	pageRoot   = "{http://www.w3.org/1999/xhtml}html"
)

func berthOptions() Options {
	o := defaults()
	o.Rules = []Rule{{Root: berthsRoot, Stylesheet: "testdata/berths.xsl"}}
	return o
}

func document(t testing.TB, mediaType, file string) *webrace.Document {
	body, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return documentOf(mediaType, string(body))
}

func documentOf(mediaType, body string) *webrace.Document {
	return &webrace.Document{
		URL: "http://harbour.example/a/b", Outcome: webrace.Fetched, MediaType: mediaType, Body: []byte(body), Charset: "windows-1252",
		Header: http.Header{"Content-Type": {mediaType}, "X-Robots-Tag": {"nofollow"}},
	}
}

// try runs the stage over documents, none of which may fail, and returns what comes of them.
func try(t *testing.T, o Options, documents ...*webrace.Document) ([]*webrace.Document, map[string]int64) {
	t.Helper()
	inputs := make([]any, len(documents))
	for i, d := range documents {
		inputs[i] = d
	}
	r := stagetest.Try(t, stagetest.Case{Type: "xslt", Options: o, Inputs: inputs})
	if len(r.Failures) > 0 || len(r.Out[""]) != len(documents) {
		t.Fatalf("%v, %d documents of %d", r.Failures, len(r.Out[""]), len(documents))
	}
	var out []*webrace.Document
	for _, value := range r.Out[""] {
		out = append(out, value.(*webrace.Document))
	}
	return out, r.Counters
}

// says returns what a document states once it is transformed.
func says(t *testing.T, d *webrace.Document) []webrace.Triple {
	t.Helper()
	g, err := transform.Document(t.Context(), d.Body, d.Header.Get("Content-Type"), d.URL, transform.Options{})
	if err != nil || !g.Whole {
		t.Fatalf("%v, %+v\n%s", err, g, d.Body)
	}
	return g.Triples
}

func objects(triples []webrace.Triple, predicate webrace.Term) (list []string) {
	for _, triple := range triples {
		if triple.Predicate == predicate {
			list = append(list, string(triple.Object))
		}
	}
	return list
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "xslt", Options: berthOptions(), Inputs: []any{
		document(t, "application/xml", "berths.xml"), &webrace.Document{URL: "http://example.org/b", Outcome: webrace.NotModified},
		documentOf("text/html", "<p>a page"),
	}})
}

func TestADocumentOfXMLBecomesRDF(t *testing.T) {
	t.Parallel()
	given := document(t, "application/xml", "berths.xml")
	out, counters := try(t, berthOptions(), given)
	d := out[0]
	if d.MediaType != "application/rdf+xml" || d.Charset != "utf-8" || d.Header.Get("Content-Type") != "application/rdf+xml; charset=utf-8" || d.Header.Get("X-Robots-Tag") != "nofollow" {
		t.Errorf("it is %s in %s, with the header %v", d.MediaType, d.Charset, d.Header)
	}
	if given.MediaType != "application/xml" || given.Header.Get("Content-Type") != "application/xml" {
		t.Error("what came was changed")
	}
	triples := says(t, d)
	if got := objects(triples, "<http://schema.org/name>"); !slices.Equal(got, []string{`"Berth 01"`, `"Berth 02"`}) {
		t.Errorf("the names are %q", got)
	}
	if got := objects(triples, "<http://schema.org/containsPlace>"); !slices.Equal(got, []string{`"Å"`}) {
		t.Errorf("the ships are %q", got)
	}
	if triples[0].Subject != "<http://harbour.example/a/b#berth1>" || counters["transformed"] != 1 {
		t.Errorf("%v; %v", triples[0], counters)
	}
}

func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sheet := func(name string) pipeline.File {
		file := filepath.Join(dir, name)
		text := `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><` + name + `/></xsl:template></xsl:stylesheet>`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return pipeline.File(file)
	}
	o := defaults()
	o.Rules = []Rule{
		{Root: "berths", Stylesheet: sheet("bare")}, {Root: berthsRoot, MediaType: "application/harbour+xml", Stylesheet: sheet("both")},
		{Root: berthsRoot, Stylesheet: sheet("root")}, {MediaType: "application/x+xml", Stylesheet: sheet("type")}, {Root: pageRoot, Stylesheet: sheet("page")},
	}
	const harbour = `<b:berths a="1" xmlns:b='http://harbour.example/ns#'/>`
	for _, c := range []struct{ mediaType, body, want string }{
		{"application/xml", "<berths/>", "bare"},
		{"application/xml", "\ufeff<?xml version='1.0'?><!-- <x> --><!DOCTYPE a [<!ENTITY b 'c'>]>\n<berths>x</berths>", "bare"},
		{"application/harbour+xml", harbour, "both"},
		{"text/xml", harbour, "root"},
		{"application/x+xml", "<anything/>", "type"},
		{"text/html", "anything", "page"},
		{"application/xhtml+xml", "<html xmlns='http://www.w3.org/1999/xhtml'/>", "page"},
		{"application/xml", "<other/>", ""},
		{"application/json", "<berths/>", ""},
		{"", "<berths/>", ""},
		{"application/xml", "berths", ""},
	} {
		given := documentOf(c.mediaType, c.body)
		out, _ := try(t, o, given)
		switch {
		case c.want == "" && out[0] != given:
			t.Errorf("%s %s became %s", c.mediaType, c.body, out[0].Body)
		case c.want != "" && !strings.HasSuffix(string(out[0].Body), "<"+c.want+"/>"):
			t.Errorf("%s %s became %s, not %s", c.mediaType, c.body, out[0].Body, c.want)
		}
	}
}

func TestAPageIsTransformedAsXHTML(t *testing.T) {
	t.Parallel()
	o := defaults()
	o.Rules = []Rule{{MediaType: "text/html", Stylesheet: "testdata/people.xsl"}, {Root: pageRoot, Stylesheet: "testdata/people.xsl"}}
	page := document(t, "text/html", "people.html")
	unclosed := document(t, "application/xhtml+xml", "people.html") // is none, as many are
	unclosed.Body = []byte(strings.Replace(string(unclosed.Body), "<html>", `<html xmlns="http://www.w3.org/1999/xhtml">`, 1))
	out, _ := try(t, o, page, unclosed)
	for _, d := range out {
		if got := objects(says(t, d), "<http://xmlns.com/foaf/0.1/name>"); d.MediaType != "text/turtle" || !slices.Equal(got, []string{`"NinaK."`, `"Iason"`}) {
			t.Errorf("it is %s and names %q", d.MediaType, got)
		}
	}
}

func TestWhatADocumentNamesIsLookedUpInTheList(t *testing.T) {
	t.Parallel()
	o := defaults()
	o.GRDDL = map[string]pipeline.File{"http://harbour.example/a/people.xsl": "testdata/people.xsl", "http://harbour.example/berths.xsl": "testdata/berths.xsl"}
	page := document(t, "text/html", "people.html")
	unprofiled := document(t, "text/html", "people.html")
	unprofiled.Body = []byte(strings.Replace(string(unprofiled.Body), "profile=", "data-profile=", 1))
	xml := documentOf("application/xml", `<berths xmlns="http://harbour.example/ns#" xmlns:g="http://www.w3.org/2003/g/data-view#" g:transformation="http://other.example/x
		http://harbour.example/berths.xsl"><berth number="3"/></berths>`)
	based := documentOf("application/xml", `<berths xmlns="http://harbour.example/ns#" xmlns:g="http://www.w3.org/2003/g/data-view#" xml:base="/c/d" g:transformation="../berths.xsl"/>`)
	unlisted := documentOf("application/xml", `<a xmlns:g="http://www.w3.org/2003/g/data-view#" g:transformation="file:///etc/passwd"/>`)
	broken := documentOf("application/xml", `<a xmlns:g="http://www.w3.org/2003/g/data-view#" g:transformation="/berths.xsl">`)
	out, counters := try(t, o, page, unprofiled, xml, based, unlisted, broken)
	for i, transformed := range []bool{true, false, true, true, false, false} {
		if (out[i].MediaType != []*webrace.Document{page, unprofiled, xml, based, unlisted, broken}[i].MediaType) != transformed {
			t.Errorf("document %d is %s: %s", i, out[i].MediaType, out[i].Body)
		}
	}
	if out[1] != unprofiled || out[4] != unlisted || out[5] != broken {
		t.Error("what names nothing that is known is another document")
	}
	if counters["transformed"] != 3 || counters["grddl_unknown"] != 3 {
		t.Errorf("%v", counters)
	}
}

func TestARuleComesBeforeWhatADocumentNames(t *testing.T) {
	t.Parallel()
	o := berthOptions()
	o.Rules[0] = Rule{MediaType: "text/html", Stylesheet: "testdata/berths.xsl"}
	o.GRDDL = map[string]pipeline.File{"http://harbour.example/a/people.xsl": "testdata/people.xsl"}
	out, _ := try(t, o, document(t, "text/html", "people.html"))
	if out[0].MediaType != "application/rdf+xml" {
		t.Errorf("it is %s", out[0].MediaType)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	for option, set := range map[string]func(*Options){
		"max_input": func(o *Options) { o.MaxInput = 0 }, "max_output": func(o *Options) { o.MaxOutput = -1 }, "timeout": func(o *Options) { o.Timeout = 0 },
		"rules[0]":            func(o *Options) { o.Rules[0].Root = "" },
		"rules[0]: no sheet":  func(o *Options) { o.Rules[0].Stylesheet = "" },
		"rules[0].root":       func(o *Options) { o.Rules[0].Root = "{http://a/}" },
		"rules[0].root: none": func(o *Options) { o.Rules[0].Root = "http://a/b" },
		"rules[0].media_type": func(o *Options) { o.Rules[0].MediaType = "text/HTML; charset=utf-8" },
		"grddl.a":             func(o *Options) { o.GRDDL = map[string]pipeline.File{"a": "b"} },
		"grddl.http://a/":     func(o *Options) { o.GRDDL = map[string]pipeline.File{"http://a/": ""} },
	} {
		o := berthOptions()
		set(&o)
		err := o.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), strings.Split(option, ": ")[0]+": ") {
			t.Errorf("%s: %v", option, err)
		}
	}
	if err := berthOptions().Validate(); err != nil {
		t.Error(err)
	}
}
