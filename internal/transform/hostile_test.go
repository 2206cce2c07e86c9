package transform

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestHostile reads documents of about a megabyte that were made to be costly. Each ends within its time, which is far
// above what it takes, and allocates no more than a small multiple of what a page of its size does.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute")
	}
	many := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(form, "%d", fmt.Sprint(i)))
		}
		return b.String()
	}
	text := strings.Repeat("text ", 40_000)
	for _, c := range []struct {
		name, contentType, body string
		limit                   string // that is told; empty for none
	}{
		{"elements that are left open before many paragraphs", "text/html", "<p itemscope>" + many(500, "<b class=a%d>") + many(50_000, "<p>x"), ""},
		{"attributes of body over and over", "text/html", "<p itemscope><body " + many(20_000, "a%d ") + ">" + many(20_000, "<body b>"), ""},
		{"attributes of html", "text/html", "<html " + many(150_000, "a%d ") + "><html " + many(10_000, "b%d ") + "><p itemscope>", ""},
		{"formatting elements with many attributes", "text/html", "<p itemscope>" + strings.Repeat("<b "+many(5000, "a%d ")+">", 30), ""},
		{"deep elements", "text/html", "<p itemscope>" + strings.Repeat("<div property=x itemprop=x class=h-card>", 20_000), "depth"},
		{"Microdata: items that refer to a large part", "text/html", "<div id=a>" + many(10_000, "<i>x</i>") + "</div>" + many(10_000, "<p itemscope itemref=a>"), "time"},
		{"Microdata: items that refer to many properties", "text/html", "<div id=a>" + many(11_000, "<i itemprop=p%d>x</i>") + "</div>" + many(11_000, "<p itemscope itemref=a>"), "triples"},
		{"Microdata: items that refer to each other", "text/html", many(5000, "<p itemscope itemprop=a id=a%d itemref='a1 a2 a3 a4 a%d7'></p><p itemscope itemref=a%d></p>"), ""},
		{"Microdata: each item refers to the next twice", "text/html",
			many(200, "<p itemscope itemtype=http://x/%d><b itemprop=a id=a%d itemscope itemref='a%d1 b%d1'></b><b itemprop=b id=b%d itemscope itemref='a%d1 b%d1'></b></p>"), ""},
		{"Microdata: properties in properties", "text/html", "<div itemscope>" + strings.Repeat("<div itemprop=a>", 400) + text + text, "literal"},
		{"Microdata: an element with many attributes that all refer to", "text/html",
			"<i id=a " + many(50_000, "x%d ") + "></i>" + many(20_000, "<p itemscope itemref=a>"), "time"},
		{"Microdata: a long vocabulary", "text/html", "<p itemscope itemtype=http://x/" + strings.Repeat("x", 8000) + "/T><i itemprop='" + many(100_000, "p%d ") + "'>x", "literal"},
		{"RDFa: properties in properties", "text/html", strings.Repeat("<div property=dc:title>", 400) + text + text, "literal"},
		{"RDFa: markup in markup", "text/html", strings.Repeat("<div property=dc:title datatype=rdf:HTML>", 400) + strings.Repeat("&amp;", 60_000), "literal"},
		{"RDFa: a long prefix", "text/html", "<p prefix='x: http://x/" + strings.Repeat("x", 8000) + "' property='" + many(100_000, "x:%d ") + "'>x", "literal"},
		{"RDFa: many prefixes, and elements that declare one", "text/html", "<div prefix='" + many(40_000, "p%d: http://%d/ ") + "'>" + many(10_000, "<i prefix='a: b:' property=a:b>"), "depth"},
		{"RDFa: lists that wait for resources", "text/html", "<div inlist rel='" + many(20_000, "x:%d ") + "'>" + many(20_000, "<i about=%d></i>"), "triples"},
		{"RDFa: relations that wait for resources", "text/html", "<div rel='" + many(20_000, "x:%d ") + "'>" + many(20_000, "<i about=%d></i>"), "triples"},
		{"RDFa: patterns of patterns", "text/html", many(2000, "<p resource=_:a%d typeof=rdfa:Pattern><a property=rdfa:copy href=_:a%d1></a>"+
			"<link property=rdfa:copy resource=_:a%d1><link property=rdfa:copy resource=_:a%d2><link property=rdfa:copy resource=_:a%d3><i property=dc:title>%d</i></p>"), ""},
		{"RDFa: all copy one pattern", "text/html", "<p resource=_:a typeof=rdfa:Pattern>" + many(5000, "<i property=dc:title>%d</i>") + "</p>" +
			many(5000, "<p about=%d><link property=rdfa:copy resource=_:a></p>"), "triples"},
		{"a long base", "text/html", "<base href=http://x/" + strings.Repeat("x", 8000) + "/><p itemscope>" + many(10_000, "<a itemprop=a href=%d></a>"), "literal"},
		{"broken scripts behind many tags", "text/html", strings.Repeat(many(1000, "<i class='a%d' title='b'>x</i>"), 200) + many(20, "<script type=application/ld+json>{%d</script>"), ""},
		{"broken scripts", "text/html", many(5_000, "<script type=application/ld+json>{%d</script>"), ""},
		{"scripts with contexts in contexts", "text/html", many(50, "<script type=application/ld+json>"+scoped(8)+"</script>"), "*"},
		{"microformats: properties in properties", "text/html", "<div class=h-entry>" + strings.Repeat("<div class='p-a e-b'>", 300) + text + text, "literal"},
		{"microformats: one element of many properties", "text/html", "<div class=h-entry><div class='" + many(50_000, "p-a%d ") + "'>" + text, "literal"},
		{"microformats: items that include each other", "text/html",
			"<div class=vcard id=a><a class=include href=#b></a></div><div class=vcard id=b><a class=include href=#a></a></div>" +
				"<table class=vcard itemref='a b'><td headers='a b'>x", ""},
		{"microformats: items that are many properties each", "text/html", strings.Repeat("<div class='h-card "+many(30, "p-a%dx ")+"'>", 200), "literal"},
		{"microformats: many links with rel", "text/html", "<div class=h-entry>" + many(10_000, "<a rel=a href=%d></a>"), "literal"},
		{"names of Dublin Core", "text/html", many(20_000, "<meta name=dc.title content=%d>"), ""},
		{"Turtle of many triples", "text/turtle", "<a> <b> " + many(101_000, "%d,") + "1 .", "triples"},
		{"Turtle of deep lists", "text/turtle", "<a> <b> " + strings.Repeat("( ", 500_000), "depth"},
		{"RDF/XML with entities in entities", "application/rdf+xml", "<!DOCTYPE rdf:RDF [<!ENTITY a0 'x'>" + many(30, "<!ENTITY b%d '&a0;&a0;&a0;&a0;'>") + "]>" +
			"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' rdf:ID='&b1;'>", "*"},
		{"RDF/XML of deep elements", "application/rdf+xml", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:a='b:'>" + strings.Repeat("<a:b>", 100_000), "depth"},
		{"JSON-LD of deep lists", "application/ld+json", strings.Repeat("[", 500_000), "depth"},
		{"JSON-LD with contexts in contexts", "application/ld+json", scoped(11), "*"},
		{"a deep feed", "application/rss+xml", "<rss>" + strings.Repeat("<a>", 300_000), "depth"},
		{"a feed of many items", "application/rss+xml", "<rss version='2.0'><channel>" + many(8_000, "<item><title>%d</title><link>%d</link></item>") + "</channel></rss>", ""},
		{"a feed with many namespaces", "application/atom+xml", "<feed xmlns='http://www.w3.org/2005/Atom' " + many(30_000, "xmlns:a%d='b' ") + ">", "depth"},
		{"tags that do not end", "text/html", strings.Repeat("<p itemscope ", 80_000), "*"},
		{"comments that do not end", "text/html", strings.Repeat("<!-- - ", 150_000) + "<p itemscope>", ""},
		{"raw text that does not end", "text/html", strings.Repeat("<svg><style></", 20_000) + "<p itemscope>", "*"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Page: true, Roles: true}
			told := ""
			o.Exceeded = func(limit string) { told += limit + " " }
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			g, err := Document(t.Context(), []byte(c.body), c.contentType, at, o)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d KB: %v, %d MB, %d triples, told %q, problems %.150q", len(c.body)>>10, took, allocated, len(g.Triples), told, g.Problems)
			if c.limit != "*" && (c.limit == "") != (told == "") || c.limit != "" && c.limit != "*" && !strings.Contains(told, c.limit) {
				t.Errorf("told %q, want %q: %.300q", told, c.limit, g.Problems)
			}
			if most := time.Minute; took > most {
				t.Errorf("it took %v", took)
			}
			if allocated > 400 {
				t.Errorf("it allocated %d MB", allocated)
			}
		})
	}
}

// scoped is JSON-LD whose contexts lie below terms of contexts, each twice.
func scoped(depth int) string {
	context := `{"p":"http://x/p"}`
	for i := range depth {
		context = fmt.Sprintf(`{"a%d":{"@id":"http://x/a%d","@context":%s},"b%d":{"@id":"http://x/b%d","@context":%s}}`, i, i, context, i, i, context)
	}
	value := `{"p":1}`
	for i := range depth {
		value = fmt.Sprintf(`{"a%d":%s}`, i, value)
	}
	return fmt.Sprintf(`{"@context":%s,"@graph":[%s]}`, context, value)
}

// A limit of time is an error and no smaller graph: what a document states does not depend on the machine.
func TestHostileTimeIsAnError(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{
		"text/turtle":         strings.Repeat("<a:> <b:> <c:> .\n", 5000),
		"application/ld+json": `{"v:p": [` + strings.Repeat("1,", 5000) + `1]}`,
		"text/html":           `<meta name="dcterms.title" content="a"><script type="application/ld+json">{"v:p": 1}</script>` + strings.Repeat("<p>", 5000),
		"application/rss+xml": `<rss><channel>` + strings.Repeat("<item><link>http://h/</link></item>", 5000),
	} {
		g, err := Document(t.Context(), []byte(body), contentType, "http://h/", Options{Limits: Limits{Time: time.Nanosecond}})
		if g != nil || !errors.Is(err, errTime) {
			t.Errorf("%s: %+v, %v", contentType, g, err)
		}
	}
}
