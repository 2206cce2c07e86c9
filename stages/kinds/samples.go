package kinds

import (
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// Samples returns values to try a stage on that takes a kind: plain ones, as a small site would give them.
// There are none for a kind of other packages.
func Samples(kind pipeline.Kind) []any {
	var samples []any
	for _, v := range []any{samplePage("iris", "Storm Iris"), samplePage("", ""), sampleRequest(), sampleLinks(), sampleACI(), "a text", []byte("bytes")} {
		if kind.Holds(v) {
			samples = append(samples, v)
		}
	}
	return slices.Clip(samples)
}

const site = "https://site.example/" // of a domain that there will never be

func samplePage(name, title string) *webrace.Document {
	body := "<title>" + title + "</title><p>Hello <a href=/next>world</a>"
	return &webrace.Document{
		URL: site + name, Outcome: webrace.Fetched, Status: 200, MediaType: "text/html", Charset: "utf-8", Language: "en",
		Header: map[string][]string{"Content-Type": {"text/html"}}, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Took: 20 * time.Millisecond, Body: []byte(body), Title: title, Links: []string{site + "next"},
		Text: &webrace.Text{Bytes: []byte("Hello world"), Blocks: []webrace.Block{{Start: 0, End: 11}}},
	}
}

func sampleRequest() webrace.Request {
	return webrace.Request{URL: site, Crawl: &webrace.Crawl{ID: "c", Start: site, Scope: webrace.ScopeHost, Levels: 2}}
}

func sampleLinks() *webrace.Links {
	return &webrace.Links{From: site, Via: webrace.ViaLink, URLs: []string{site + "next", site + "iris"}}
}

func sampleACI() *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: "a", URD: "u", Owner: "eleni", URI: site + "iris", Title: "Storm Iris", Format: xmlschema.FormatHTML, Relevance: 95,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Urgency: 3, Summary: "Storm Iris passed over Levanda",
	}
}
