package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/extract"
)

func TestJSONFeeds(t *testing.T) {
	t.Parallel()
	const version = `{"version": "https://jsonfeed.org/version/1.1", `
	for _, c := range []struct {
		name, in, title, text string
		links                 []string
	}{
		{"all of it", version + `"title": " A  feed ", "language": "el", "description": "d", "home_page_url": "/", "next_url": "?p=2", "authors": [{"name": "x"}], "items": [
			{"id": 1, "url": "/one", "title": "One", "summary": "s", "content_html": "<p>a &amp; <b>b</b><p><a href=/no>c</a>", "content_text": "not twice"},
			{"id": "2", "external_url": "http://example.com/", "content_text": "a\n\nb"}]}`,
			"A feed", "title:A  feed|d|heading:One|s|a & b|c|a|b", []string{"http://example.org/", "http://example.org/a/b?p=2", "http://example.org/one", "http://example.com/"}},
		{"fields of other types", version + `"title": 7, "items": [{"url": 7, "title": "One"}, null, {"url": "/two"}]}`, "", "heading:One", []string{"http://example.org/two"}},
		{"cut off", version + `"items": [{"title": "One", "url": "/one"}, {"title": "Two", "ur`, "", "heading:One", []string{"http://example.org/one"}},
		{"items that are none", version + `"items": {"a": 1}, "title": "T"}`, "", "", nil},
		{"no object", `["https://jsonfeed.org/version/1"]`, "", "", nil},
		{"no feed", `{"title": "T", "items": [{"url": "/one"}]}`, "", "title: T|items[0].url: /one", nil},
	} {
		r := document(t, c.in, "application/json", extract.Options{})
		if r.Title != c.title || render(r.Text) != c.text || !slices.Equal(r.Links, c.links) {
			t.Errorf("%s: title %q\n got %q %q\nwant %q %q", c.name, r.Title, render(r.Text), r.Links, c.text, c.links)
		}
	}
}

func FuzzJSONFeed(f *testing.F) {
	for _, s := range []string{`{"version":"https://jsonfeed.org/version/1","title":"a","items":[{"url":"/x","content_html":"<p>a"}]}`, `{"items":[{}],"title":null}`, "{"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := extract.Document(body, "application/feed+json", at, extract.Options{MaxLinks: 5})
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, 5)
	})
}

// A feed that is sent as text is known by its first tag alone, and only by what nothing else has.
func TestFeedsThatAreSentAsTextAreRead(t *testing.T) {
	t.Parallel()
	const item = `<item><title>One</title><link>/one</link></item>`
	for name, c := range map[string]struct{ body, mediaType string }{
		"RSS":             {`<?xml version="1.0"?><!-- made by hand --><rss version="0.91"><channel><title>F</title>` + item + `</channel></rss>`, "application/rss+xml"},
		"behind space":    {"\ufeff\n <rss version='2.0'><channel>" + item, "application/rss+xml"},
		"RSS 1.0":         {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">` + item, "application/rss+xml"},
		"Atom":            {`<a:feed xmlns:a="http://www.w3.org/2005/Atom">`, "application/atom+xml"},
		"about feeds":     {"A feed begins with <rss version=\"2.0\">", "text/plain"},
		"a line of code":  {`<rss version="2.0"`, "text/plain"},
		"RSS of no kind":  {"<rss><channel>" + item, "text/plain"},
		"a feed of goods": {`<feed xmlns="http://shop.example/"><entry/></feed>`, "text/plain"},
		"RDF":             {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></rdf:RDF>`, "text/plain"},
	} {
		for _, sent := range []string{"text/plain; charset=utf-8", "application/octet-stream"} {
			r, err := extract.Document([]byte(c.body), sent, at, extract.Options{})
			want := c.mediaType
			if want == "text/plain" {
				want, _, _ = strings.Cut(sent, ";")
			}
			if err != nil || r.MediaType != want || strings.Contains(c.body, item) && want == "application/rss+xml" && len(r.Links) != 1 {
				t.Errorf("%s as %s: %s, links %q, %v", name, sent, r.MediaType, r.Links, err)
			}
		}
	}
}
