package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// sitemap puts a sitemap of these paths at a path.
func (s *site) sitemap(path string, listed ...string) {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, p := range listed {
		fmt.Fprintf(&b, "<url><loc>%s%s</loc><lastmod>2026-11-21</lastmod></url>", s.URL, p)
	}
	b.WriteString("</urlset>")
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("ETag", `"same"`)
		if r.Header.Get("If-None-Match") == `"same"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, b.String())
	})
}

func TestASitemapIsFollowedAndNobodyIsToldOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "a page", "/sitemap.xml")
	w.page("/listed", "tea")
	w.page("/also", "water")
	w.sitemap("/sitemap.xml", "/listed", "/also")
	urds := these(w.asks("ann", "/", depth(3)))
	said := w.run(urds)
	mustBe(t, "requests", w.requests(), "200 /", "200 /also", "200 /listed", "200 /sitemap.xml")
	mustBe(t, "told", w.news(), "ann /", "ann /also", "ann /listed")
	mustSay(t, said, "3 annotations")
	w.sitemap("/sitemap.xml", "/listed", "/also", "/new")
	w.page("/new", "a new page")
	w.run(urds, askAll...)
	mustBe(t, "requests of the next round", w.requests(), "200 /new", "200 /sitemap.xml", "304 /", "304 /also", "304 /listed")
	mustBe(t, "told by the next round", w.news(), "ann /new")
}

func TestOfASitemapThatIsTooLongWhatIsWholeIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/1", "tea")
	w.page("/2", "water")
	w.sitemap("/sitemap.xml", "/1", "/2", "/3-"+strings.Repeat("x", 1000))
	file := filepath.Join(t.TempDir(), "report.json")
	said := w.run(these(w.asks("ann", "/sitemap.xml", depth(2))), "--set", "fetch.max_body=800", "--report", file)
	mustBe(t, "requests", w.requests(), "200 /1", "200 /2", "200 /sitemap.xml")
	mustSay(t, said, "raise fetch.max_body", w.URL+"/sitemap.xml")
	var report runReport
	if readJSON(t, file, &report); report.Stages["sitemap-parse"].Counters["truncated"] != 1 {
		t.Errorf("counted %v", report.Stages["sitemap-parse"].Counters)
	}
}

// A page that is not to be kept leads those who come to it later on, without another request, and they are not told
// of what it said when it was kept.
func TestWhoComesLaterToAPageThatIsNotToBeKeptIsLedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "/list", "/never")
	w.page("/list", "a list of tea", "/deep")
	unkept := func(path string, content ...string) {
		w.handle(path, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("X-Robots-Tag", "noindex")
			out.Write(document(content...))
		})
	}
	unkept("/never", "tea that is never kept", "/hidden")
	w.page("/hidden", "hidden tea")
	w.page("/deep", "deep tea", "/deeper")
	w.page("/deeper", "deeper tea")
	ann := w.asks("ann", "/", depth(4), about("tea"))
	w.run(these(ann))
	unkept("/list", "another list of tea", "/deep")
	w.run(these(ann), askAll...)
	w.requests()
	w.news()
	w.run(these(w.asks("bob", "/list", depth(3), about("tea")), w.asks("eve", "/never", depth(2), about("tea"))))
	mustBe(t, "requests", w.requests())
	mustBe(t, "told", w.news(), "bob /deep", "bob /deeper", "eve /hidden")
}

// What a sitemap lists is stored nowhere, so those who come to it later cost a request for it.
func TestWhoComesToASitemapLaterGetsWhatItLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/listed", "tea")
	w.sitemap("/sitemap.xml", "/listed")
	w.run(these(w.asks("ann", "/sitemap.xml", depth(2), about("tea"))))
	mustBe(t, "told", w.news(), "ann /listed")
	w.requests()
	w.run(these(w.asks("ann", "/sitemap.xml", depth(2), about("tea")), w.asks("bob", "/sitemap.xml", depth(2), about("tea"))))
	mustBe(t, "requests", w.requests(), "200 /sitemap.xml")
	mustBe(t, "told by the next round", w.news(), "bob /listed")
}
