package extract_test

import (
	"slices"
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
