package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// index puts an index of these sitemaps at a path.
func (s *site) index(path string, sitemaps ...string) {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, p := range sitemaps {
		fmt.Fprintf(&b, "<sitemap><loc>%s%s</loc></sitemap>", s.URL, p)
	}
	s.file(path, "application/xml", []byte(b.String()+"</sitemapindex>"))
}

// siteOfSitemaps is a site whose robots.txt names an index of sitemaps, one of them compressed.
func (w *world) siteOfSitemaps() {
	w.handle("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintf(rw, "Sitemap: %s/index.xml\n", w.URL) })
	w.page("/", "a page", "/linked")
	w.page("/linked", "a linked page", "/deep")
	w.page("/deep", "beyond")
	w.index("/index.xml", "/some.xml", "/more.xml.gz")
	w.sitemap("/some.xml", "/one", "/linked")
	w.page("/one", "a listed page", "/beyond")
	w.page("/beyond", "beyond")
	w.page("/two", "another listed page")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, "<urlset><url><loc>%s/two</loc></url></urlset>", w.URL)
	z.Close()
	w.file("/more.xml.gz", "application/gzip", packed.Bytes())
}

func TestASitemapCostsNoLevel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.siteOfSitemaps()
	w.run(these(w.asks("ann", "/", depth(1))))
	mustBe(t, "requests at depth 1", w.requests(), "200 /")
	w.run(these(w.asks("ann", "/", depth(2))), askAll...)
	mustBe(t, "requests at depth 2", w.requests(), "200 /index.xml", "200 /linked", "200 /more.xml.gz", "200 /one", "200 /some.xml", "200 /two", "304 /")
	for path, lister := range map[string]string{"/two": "/more.xml.gz", "/one": "/some.xml", "/some.xml": "/index.xml", "/index.xml": "/robots.txt"} {
		said, _ := w.store("why", w.URL+path)
		mustSay(t, said, "listed by "+w.URL+lister+"\n", "at level 2 of the crawl")
	}
	w.run(these(w.asks("ann", "/", depth(2))), append(askAll, "--set", "frontier.sitemap_levels=1")...)
	mustBe(t, "requests with sitemap_levels = 1", w.requests(), "200 /index.xml", "304 /", "304 /linked")
}

func TestSitemapOnly(t *testing.T) {
	t.Parallel()
	for sitemap, want := range map[string][]string{
		"/some.xml":  {"200 /linked", "200 /one", "200 /some.xml"},
		"/index.xml": {"200 /index.xml", "200 /linked", "200 /more.xml.gz", "200 /one", "200 /some.xml", "200 /two"},
	} {
		w := newWorld(t)
		w.siteOfSitemaps()
		crawl := []string{"crawl", "--data", w.data, "--set", "fetch.allow_networks=loopback", "--sitemap"}
		out, complaints, err := webraceRun(append(crawl, w.URL+sitemap)...)
		if err != nil {
			t.Fatalf("%v\n%s%s", err, out, complaints)
		}
		mustBe(t, "requests from "+sitemap, w.requests(), want...)
		if _, _, err = webraceRun(append(crawl, w.URL+"/")...); err == nil || !strings.Contains(err.Error(), "no sitemap") {
			t.Errorf("a page given as a sitemap: %v", err)
		}
	}
	for _, wrong := range [][]string{{"http://a.example/"}, {"--depth", "3"}} {
		if _, _, err := webraceRun(append([]string{"crawl", "--sitemap", "http://a.example/s.xml"}, wrong...)...); err == nil || !strings.Contains(err.Error(), "--sitemap") {
			t.Errorf("--sitemap with %q: %v", wrong, err)
		}
	}
}
