package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
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

// What a feed reader subscribes to is watched as it is imported: the feed, and each entry, also of another host.
func TestSubscriptionsOfAFeedReaderAreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := newSite(t)
	other.page("/elsewhere", "tea in another place", "/further")
	other.page("/further", "tea, which no entry leads to")
	w.feed("/feed", [2]string{"/one", "water"})
	w.handle("/atom", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/atom+xml")
		fmt.Fprintf(rw, `<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom</title><entry><title>away</title><link href="%s/elsewhere"/></entry></feed>`, other.URL)
	})
	w.page("/one", "a page with tea")
	opml := filepath.Join(t.TempDir(), "feeds.opml")
	writeFile(t, opml, fmt.Sprintf(`<opml version="2.0"><body><outline text="News"><outline xmlUrl="%s/feed"/><outline xmlUrl="%[1]s/atom"/></outline></body></opml>`, w.URL))
	if err := os.MkdirAll(w.data, 0o755); err != nil {
		t.Fatal(err)
	}
	if said, status := w.store("urd", "import", opml, "--owner", "ann", "--keyword", "tea:5"); status != cli.OK {
		t.Fatalf("import ends with %d: %s", status, said)
	}
	startCommand(t, "webrace", "--data", w.data, "--set", "fetch.allow_networks=loopback").mustExit(cli.OK)
	mustBe(t, "requests", w.requests(), "200 /atom", "200 /feed", "200 /one")
	mustBe(t, "requests elsewhere", other.requests(), "200 /elsewhere")
	mustBe(t, "told", w.news(), "ann /one", "ann "+other.URL+"/elsewhere")
}
