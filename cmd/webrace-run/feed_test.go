package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// feed puts a feed at a path, of entries that each have a path and a text.
func (s *site) feed(path string, entries ...[2]string) {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>Feed</title>`)
	for _, e := range entries {
		fmt.Fprintf(&b, "<item><link>%s%s</link><title>%s</title><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item>", s.URL, e[0], e[1])
	}
	b.WriteString("</channel></rss>")
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml")
		w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(len(entries))))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(b.String()))
	})
}

func TestReadersOfAFeedAreToldOfEntriesAndOfWhatTheyLeadTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed("/feed", [2]string{"/one", "water"})
	w.page("/one", "a page with tea")
	w.page("/two", "nothing of that kind")
	urds := these(w.asks("ann", "/feed", depth(2), about("tea")))
	w.run(urds)
	mustBe(t, "requests", w.requests(), "200 /feed", "200 /one")
	mustBe(t, "told", w.news(), "ann /one")
	w.run(urds, askAll...)
	mustBe(t, "requests when nothing is new", w.requests(), "304 /feed", "304 /one") // by the links that were kept
	w.feed("/feed", [2]string{"/one", "water"}, [2]string{"/two", "tea"})
	w.run(urds, askAll...)
	mustBe(t, "requests when an entry is new", w.requests(), "200 /feed", "200 /two", "304 /one")
	mustBe(t, "told of the entry", w.news(), "ann /feed")
}
