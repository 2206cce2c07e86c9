package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// feedShapes are the shapes of feeds as they are met: what stands around the entries, and an entry; N is the
// number of an entry, NOW moves at each request, SITE is where the blog is.
var feedShapes = map[string]struct{ contentType, before, entry, behind, between string }{
	"/wordpress": {"application/rss+xml", `<?xml version="1.0"?><rss version="2.0" xmlns:slash="http://purl.org/rss/1.0/modules/slash/" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Blog</title><atom:link href="SITE/wordpress" rel="self"/><link>SITE/</link><lastBuildDate>NOW</lastBuildDate><generator>press NOW</generator>`,
		`<item><title>Entry N</title><link>SITE/entry/N</link><comments>SITE/entry/N#respond</comments><pubDate>Mon, 02 Nov 2026 08:00:00 GMT</pubDate><guid isPermaLink="false">SITE/?p=N</guid><description><![CDATA[<p>Text N</p>]]></description><slash:comments>NOW</slash:comments></item>`, `</channel></rss>`, ""},
	"/text":     {"text/plain", `<rss version="2.0"><channel><title>Blog NOW</title><ttl>NOW</ttl>`, `<item><title>Entry N</title><guid>N</guid><description>Text N</description></item>`, `</channel></rss>`, ""},
	"/rss091":   {"text/xml", `<rss version="0.91"><channel><title>Old</title><link>SITE/</link><pubDate>NOW</pubDate>`, `<item><title>Entry N</title><link>SITE/entry/N</link><description>Text N</description></item>`, `</channel></rss>`, ""},
	"/rdf":      {"application/rdf+xml", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="SITE/rdf"><title>RDF</title><dc:date>NOW</dc:date></channel>`, `<item rdf:about="SITE/entry/N"><title>Entry N</title><link>SITE/entry/N</link><description>Text N</description><dc:date>NOW</dc:date></item>`, `</rdf:RDF>`, ""},
	"/atom":     {"application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom</title><id>urn:a</id><updated>NOW</updated><link href="SITE/"/>`, `<entry><id>urn:N</id><title>Entry N</title><updated>NOW</updated><link href="SITE/entry/N"/><content type="html">&lt;p&gt;Text N</content></entry>`, `</feed>`, ""},
	"/atom03":   {"application/xml", `<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Atom</title><modified>NOW</modified>`, `<entry><id>urn:N</id><title>Entry N</title><modified>NOW</modified><summary>Text N</summary></entry>`, `</feed>`, ""},
	"/json":     {"application/feed+json", `{"version":"https://jsonfeed.org/version/1.1","title":"JSON NOW","home_page_url":"SITE/","items":[`, `{"id":"N","url":"SITE/entry/N","title":"Entry N","content_text":"Text N","date_modified":"NOW"}`, `]}`, ","},
	"/podcast":  {"application/rss+xml", `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>Pod</title><itunes:author>NOW</itunes:author>`, `<item><title>Entry N</title><enclosure url="SITE/N.mp3" length="1" type="audio/mpeg"/><guid>N</guid><itunes:summary>Text N</itunes:summary></item>`, `</channel></rss>`, ""},
	"/guids":    {"application/rss+xml", `<rss version="2.0"><channel><title>Guids</title>`, `<item><title>Entry N</title><link>SITE/entry/N</link><guid isPermaLink="false">N-NOW</guid><description>Text N</description></item>`, `</channel></rss>`, ""},
	"/nameless": {"application/rss+xml", `<rss version="2.0"><channel><title>No names</title><lastBuildDate>NOW</lastBuildDate>`, `<item><title>Entry N</title><description>Text N</description></item>`, `</channel></rss>`, ""},
}

// TestOPML imports what a feed reader subscribes to: feeds of ten shapes, whose dates and counters move at each
// round, as do the home page and the pages of entries. In rounds 2 and 4 each gets an entry, in round 3 an entry
// falls out at its end. Told is each new entry once, with its text, and nothing else.
func TestOPML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var round atomic.Int64
	lists := map[int64][]int{1: {2, 1}, 2: {3, 2, 1}, 3: {3, 2}, 4: {4, 3, 2}, 5: {4, 3, 2}}
	var outlines strings.Builder
	paths := make([]string, 0, len(feedShapes))
	for path, shape := range feedShapes {
		paths = append(paths, path)
		fmt.Fprintf(&outlines, `<outline text="%s" type="rss" xmlUrl="%s%s" htmlUrl="%[2]s/"/>`, path, w.URL, path)
		w.handle(path, func(rw http.ResponseWriter, _ *http.Request) {
			var entries []string
			for _, n := range lists[round.Load()] {
				entries = append(entries, strings.ReplaceAll(shape.entry, "N", "\x00"))
				entries[len(entries)-1] = strings.NewReplacer("\x00OW", "NOW", "\x00", fmt.Sprint(n)).Replace(entries[len(entries)-1])
			}
			rw.Header().Set("Content-Type", shape.contentType)
			body := shape.before + strings.Join(entries, shape.between) + shape.behind
			fmt.Fprint(rw, strings.NewReplacer("NOW", fmt.Sprintf("2026-11-28T08:00:%02dZ", round.Load()), "SITE", w.URL).Replace(body))
		})
	}
	slices.Sort(paths)
	moving := func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, "<title>Blog</title><p>%d visitors online", round.Load())
	}
	w.handle("/", moving)
	for n := range 5 {
		w.handle(fmt.Sprintf("/entry/%d", n), moving)
	}
	opml := filepath.Join(t.TempDir(), "feeds.opml")
	writeFile(t, opml, `<opml version="2.0"><body><outline text="All">`+outlines.String()+`</outline></body></opml>`)
	if err := os.MkdirAll(w.data, 0o755); err != nil {
		t.Fatal(err)
	}
	if said, status := w.store("urd", "import", opml, "--owner", "ann"); status != cli.OK {
		t.Fatalf("import ends with %d: %s", status, said)
	}
	if said, _ := w.store("urd", "list", "--xpath", `/urd[@labels="All"]`, "--select", "string(/urd/@title)"); len(strings.Fields(said)) != len(paths) || !strings.Contains(said, "/atom\n") {
		t.Errorf("in the folder All are\n%s", said)
	}
	for n := int64(1); n <= 5; n++ {
		round.Store(n)
		startCommand(t, append([]string{"webrace", "--data", w.data, "--set", "fetch.allow_networks=loopback"}, askAll...)...).mustExit(cli.OK)
		var told []string
		for _, aci := range w.acis() {
			path := strings.TrimPrefix(aci.URI, w.URL)
			told = append(told, path)
			latest := lists[n][0]
			if n > 1 && aci.Summary != fmt.Sprintf("«Entry %d · Text %[1]d»", latest) && aci.Summary != fmt.Sprintf("«Entry %d · Text %[1]d» · [−Entry %d · Text %[2]d]", latest, latest-3) {
				t.Errorf("round %d: of %s ann is told %q", n, path, aci.Summary)
			}
		}
		slices.Sort(told)
		var want []string
		if n == 1 || n == 2 || n == 4 {
			want = paths
		}
		mustBe(t, fmt.Sprintf("told in round %d", n), told, want...)
	}
}
