package demosite

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/charsets"
)

// ask sends a request with headers given in pairs, and does not follow redirects.
func ask(site *Site, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "http://harbour.test"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, contentType string
		status            int
		want              string // in the body, or the Location of a redirect
	}{
		{"/", "text/html; charset=utf-8", 200, "<h1>Welcome to Levanda</h1>"},
		{"/news/", "text/html; charset=utf-8", 200, `<a href="/news/" aria-current="true">`},
		{"/news/archive.html?year=2024", "text/html; charset=utf-8", 200, "News of 2024"},
		{"/news/archive.html?year=1999", "text/html; charset=utf-8", 200, "Choose a year"},
		{"/about.html", "text/html; charset=utf-8", 200, `<base href="http://harbour.test/history/">`},
		{"/library/ellinika.html", "text/html; charset=ISO-8859-7", 200, "\xe2\xe9\xe2\xeb\xe9\xef\xe8\xde\xea\xe7"},
		{"/library/local-history.html", "text/html", 200, "\x93except what matters.\x94"},
		{"/private/", "text/html; charset=utf-8", 200, "Papers for the councillors"},
		{"/style.css", "text/css; charset=utf-8", 200, "body {"},
		{"/port/notices.txt", "text/plain; charset=utf-8", 200, "NOTICES TO MARINERS"},
		{"/robots.txt", "text/plain; charset=utf-8", 200, "Sitemap: http://harbour.test/sitemap.xml"},
		{"/sitemap.xml", "application/xml", 200, "<loc>http://harbour.test/history/lighthouse.html</loc>"},
		{"/feed.xml", "application/rss+xml; charset=utf-8", 200, "<link>http://harbour.test/news/"},
		{"/atom.xml", "application/atom+xml; charset=utf-8", 200, `href="http://harbour.test/atom.xml"`},
		{"/images/harbour.png", "image/png", 200, "\x89PNG"},
		{"/old-news", "text/html; charset=utf-8", 301, "/news/"},
		{"/timetable", "text/html; charset=utf-8", 302, "/port/ferries.html"},
		{"/port/ferries.html", "text/html; charset=utf-8", 301, "/port/timetable.html"},
		{"/port", "text/html; charset=utf-8", 301, "/port/"},
		{"/port/hovercraft.html", "text/plain; charset=utf-8", 410, "will not come back"},
		{"/council/minutes-2019.html", "text/plain; charset=utf-8", 404, "no such page"},
		{"/index.html", "text/plain; charset=utf-8", 404, "no such page"},
	} {
		r := ask(New(), c.path)
		got := bodyOf(t, r)
		if c.status/100 == 3 {
			got = r.Header.Get("Location")
		}
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != c.contentType || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d, %s without %q:\n%s", c.path, r.StatusCode, r.Header.Get("Content-Type"), c.want, got)
		}
	}
}

func TestTheSiteCanOnlyBeRead(t *testing.T) {
	t.Parallel()
	site := New()
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/news/", strings.NewReader("x")))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
	w = httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/news/", nil))
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("ETag") == "" {
		t.Errorf("HEAD: %d with %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}
}

func TestEncodingsAreWhatTheyClaim(t *testing.T) {
	t.Parallel()
	site := New()
	seen := map[string]int{}
	for path, res := range site.resources {
		if !res.isPage() {
			continue
		}
		r := ask(site, path)
		body := bodyOf(t, r)
		text, charset, err := charsets.ToUTF8([]byte(body), r.Header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.ReplaceAll(res.content, Address, "http://harbour.test"); string(text) != want {
			t.Errorf("%s: read as %s it is not what was written", path, charset)
		}
		if charset != "utf-8" && utf8.ValidString(body) {
			t.Errorf("%s: the same in UTF-8 as in %s", path, charset)
		}
		seen[charset]++
	}
	if len(seen) != 3 || seen["iso-8859-7"] != 1 || seen["windows-1252"] != 1 {
		t.Errorf("encodings %v", seen)
	}
}

func TestWhatAnEncodingLacksIsWrittenAsAReference(t *testing.T) {
	t.Parallel()
	site := New()
	site.Edit("/library/ellinika.html", func(old string) string { return strings.Replace(old, "τσάι", "τσάι — 茶", 1) })
	if body := bodyOf(t, ask(site, "/library/ellinika.html")); !strings.Contains(body, "&#8212; &#33590;") {
		t.Errorf("no references in %q", body)
	}
}

func TestUnchangedPagesAreNotSentAgain(t *testing.T) {
	t.Parallel()
	site := New()
	for path := range site.resources {
		for _, coding := range []string{"identity", "gzip"} {
			first := ask(site, path, "Accept-Encoding", coding)
			tag, modified := first.Header.Get("ETag"), first.Header.Get("Last-Modified")
			for _, condition := range [][]string{{"If-None-Match", tag}, {"If-Modified-Since", modified}, {"If-None-Match", `"x", ` + tag}} {
				r := ask(site, path, append(condition, "Accept-Encoding", coding)...)
				if body := bodyOf(t, r); r.StatusCode != http.StatusNotModified || body != "" || r.Header.Get("ETag") != tag {
					t.Errorf("%s %v: %d with ETag %s and %d bytes", path, condition, r.StatusCode, r.Header.Get("ETag"), len(body))
				}
			}
			if r := ask(site, path, "If-None-Match", `"x"`, "If-Modified-Since", modified); r.StatusCode != http.StatusOK {
				t.Errorf("%s: %d for another ETag", path, r.StatusCode)
			}
		}
	}
}

func TestEditedPagesAreSentAgain(t *testing.T) {
	t.Parallel()
	site := New()
	const path = "/port/timetable.html"
	before := ask(site, path)
	for i, edit := range []func(string) string{
		func(old string) string { return strings.Replace(old, "6:30", "6:47", 1) },
		func(old string) string { return old },
	} {
		if !site.Edit(path, edit) {
			t.Fatal("there is no timetable")
		}
		byTag := ask(site, path, "If-None-Match", before.Header.Get("ETag"))
		byTime := ask(site, path, "If-Modified-Since", before.Header.Get("Last-Modified"))
		if byTag.StatusCode != 200 || byTime.StatusCode != 200 || !strings.Contains(bodyOf(t, byTag), "6:47") {
			t.Errorf("edit %d: %d by ETag, %d by time", i, byTag.StatusCode, byTime.StatusCode)
		}
		older, err1 := http.ParseTime(before.Header.Get("Last-Modified"))
		newer, err2 := http.ParseTime(byTag.Header.Get("Last-Modified"))
		if err1 != nil || err2 != nil || newer.Sub(older) < time.Second {
			t.Errorf("edit %d: modified %v, then %v", i, older, newer)
		}
		before = byTag
	}
	if site.Edit("/council/minutes-2019.html", strings.ToUpper) {
		t.Error("a page that is not there was edited")
	}
	if r := ask(New(), path); strings.Contains(bodyOf(t, r), "6:47") {
		t.Error("an edit shows in another site")
	}
}

func TestTextIsCompressedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	site := New()
	plain := ask(site, "/news/")
	body := bodyOf(t, plain)
	for accepted, want := range map[string]bool{
		"gzip": true, "br, GZip;q=0.5": true, "deflate,gzip ;q=1": true,
		"": false, "identity": false, "gzip;q=0": false, "gzip; q=0.0, br": false, "xgzip": false, "gzip;q=x": false,
	} {
		r := ask(site, "/news/", "Accept-Encoding", accepted)
		got := bodyOf(t, r)
		if (r.Header.Get("Content-Encoding") == "gzip") != want || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v", accepted, r.Header)
		}
		if want {
			z, err := gzip.NewReader(strings.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			unpacked, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			got = string(unpacked)
		}
		if got != body || (r.Header.Get("ETag") != plain.Header.Get("ETag")) != want {
			t.Errorf("%q: another page, or ETag %s", accepted, r.Header.Get("ETag"))
		}
	}
	if r := ask(site, "/images/harbour.png", "Accept-Encoding", "gzip"); r.Header.Get("Content-Encoding") != "" {
		t.Error("a picture is compressed twice")
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	site := New()
	const visitors = 8
	var wg sync.WaitGroup
	for range visitors {
		wg.Go(func() {
			for range 20 {
				ask(site, "/")
				ask(site, "/nowhere?x=%20y")
				ask(site, "/port")
				site.Edit("/news/", func(old string) string { return old + "\n" })
				ask(site, "/news/")
				site.Requests()
			}
			site.Pages()
		})
	}
	wg.Wait()
	want := map[string]int{"/": 20 * visitors, "/nowhere?x=%20y": 20 * visitors, "/port": 20 * visitors, "/news/": 20 * visitors}
	if got := site.Requests(); !maps.Equal(got, want) {
		t.Errorf("requests %v, want %v", got, want)
	}
	text := bodyOf(t, ask(site, "/news/"))
	if n := len(text) - len(bytes.TrimRight([]byte(text), "\n")); n < 20*visitors {
		t.Errorf("%d edits are left of %d", n, 20*visitors)
	}
}
