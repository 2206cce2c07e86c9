package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// bare are queries as generators write them that do not know that ampersands are escaped. The names in them are
// entities of HTML, of which HTML takes some without a semicolon.
var bare = []string{
	"id=1&region=2", "id=1&copy=3", "id=1&section=4", "id=1&not=5&lt=6&amp=7", "id=1&para", "id=1&times&sect=8", "id=1&notit;",
	"id=1&region=2&amp;copy=3", // one ampersand of two is escaped
}

// TestAmpersands: XML knows references with semicolons alone, so that a bare ampersand is one, in whatever lists an
// address.
func TestAmpersands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, mediaType, begin, entry, end string }{
		{"sitemap", "application/xml", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`, "<url><loc>%s</loc></url>", "</urlset>"},
		{"rss", "application/rss+xml", `<rss version="2.0"><channel><title>Bed &amp; Breakfast</title>`, "<item><link>%s</link></item>", "</channel></rss>"},
		{"guid", "application/rss+xml", `<rss version="2.0"><channel><title>t</title>`, "<item><guid>%s</guid></item>", "</channel></rss>"},
		{"atom", "application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom">`, `<entry><title>e</title><link href="%s"/></entry>`, "</feed>"},
		{"xhtml", "application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>`, `<p><a href="%s">t</a></p>`, "</body></html>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var list strings.Builder
			want := []string{"200 /start"}
			for _, query := range bare {
				fmt.Fprintf(&list, c.entry, w.URL+"/page?"+query)
				want = append(want, "200 /page?"+strings.ReplaceAll(query, "&amp;", "&"))
			}
			w.handle("/start", func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", c.mediaType)
				fmt.Fprint(rw, c.begin, list.String(), c.end)
			})
			w.page("/page", "tea")
			p := w.start(these(w.asks("ann", "/start", depth(2))))
			p.mustExit(0)
			slices.Sort(want)
			mustBe(t, "requests", w.requests(), want...)
		})
	}
}
