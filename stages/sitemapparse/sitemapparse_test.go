package sitemapparse

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/stagetest"
)

const here = "https://example.org/sitemap.xml"

// fetched is one that came over the network.
func fetched(url, contentType, body string) *webrace.Document {
	mediaType, _, _ := strings.Cut(contentType, ";")
	return &webrace.Document{
		URL: url, Reach: []webrace.Reach{{Crawl: "c1", Distance: 1}}, Outcome: webrace.Fetched, Status: 200, MediaType: mediaType,
		Header: http.Header{"Content-Type": {contentType}}, At: time.Unix(1e9, 0), Body: []byte(body),
	}
}

// urlset is a sitemap of these addresses.
func urlset(addresses ...string) string {
	return "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>" + strings.Join(addresses, "</loc></url><url><loc>") + "</loc></url></urlset>"
}

var with = stagetest.Changed(defaults)

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// result is what the stage makes of one document.
type result struct {
	*stagetest.Result
	passed bool
	urls   []string
}

func try(t *testing.T, o Options, d *webrace.Document) result {
	t.Helper()
	r := result{Result: stagetest.Try(t, stagetest.Case{Type: "sitemap-parse", Options: o, Inputs: []any{d}})}
	if int64(len(r.Failures)) != r.Counters["unreadable"] {
		t.Fatal(r.Failures, r.Counters)
	}
	for _, v := range r.Out[""] {
		if r.passed = v == d; !r.passed {
			t.Errorf("another document passed: %+v", v)
		}
	}
	for _, v := range r.Out["links"] {
		l := v.(*webrace.Links)
		if l.From != d.URL || l.Via != webrace.ViaSitemap || !slices.Equal(l.Reach, d.Reach) || len(l.URLs) == 0 || l.Changed != nil && len(l.Changed) != len(l.URLs) {
			t.Errorf("links %+v", l)
		}
		r.urls = append(r.urls, l.URLs...)
	}
	return r
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "sitemap-parse", Inputs: []any{
		fetched(here, "application/xml", urlset("https://example.org/a", "https://example.org/b")), fetched(here, "text/html", "<p>text"),
		fetched(here, "application/gzip", gzipped(urlset("https://example.org/c"))), &webrace.Document{URL: here, Outcome: webrace.NotModified},
	}})
}

func TestSitemapsOfAllKindsAreRead(t *testing.T) {
	t.Parallel()
	wide := "\xff\xfe"
	for _, c := range utf16.Encode([]rune(urlset("https://example.org/a"))) {
		wide += string([]byte{byte(c), byte(c >> 8)})
	}
	for name, d := range map[string]*webrace.Document{
		"XML":                             fetched(here, "application/xml", urlset("https://example.org/a")),
		"text/xml with a charset":         fetched(here, "text/xml; charset=iso-8859-1", urlset("https://example.org/a")),
		"of no type":                      fetched(here, "", urlset("https://example.org/a")),
		"sent as a page":                  fetched(here, "text/html", urlset("https://example.org/a")),
		"sent as text":                    fetched(here, "text/plain", urlset("https://example.org/a")),
		"in UTF-16":                       fetched(here, "text/xml", wide),
		"with a byte order mark":          fetched(here, "text/xml", "\ufeff"+urlset("https://example.org/a")),
		"compressed":                      fetched(here+".gz", "application/gzip", gzipped(urlset("https://example.org/a"))),
		"compressed, by an older type":    fetched(here+".gz", "application/x-gzip", gzipped(urlset("https://example.org/a"))),
		"compressed, and called XML":      fetched(here+".gz", "text/xml", gzipped(urlset("https://example.org/a"))),
		"compressed, and a download":      fetched(here+".gz", "application/octet-stream", gzipped(urlset("https://example.org/a"))),
		"an index":                        fetched(here, "application/xml", "<sitemapindex><sitemap><loc>https://example.org/a</loc></sitemap></sitemapindex>"),
		"plain text":                      fetched("https://example.org/sitemap.txt", "text/plain", "https://example.org/a\r\n"),
		"plain text, compressed":          fetched("https://example.org/sitemap.txt.gz", "application/gzip", gzipped("https://example.org/a\n")),
		"relative, which it must not be":  fetched(here, "text/xml", urlset("/a")),
		"with what tells who followed it": fetched(here, "text/xml", urlset("https://example.org/a?utm_source=x")),
	} {
		r := try(t, defaults, d)
		if r.passed || !slices.Equal(r.urls, []string{"https://example.org/a"}) || r.Counters["sitemaps"] != 1 || r.Counters["sitemap_urls"] != 1 {
			t.Errorf("%s: passed is %t, URLs %q, counters %v", name, r.passed, r.urls, r.Counters)
		}
	}
}

func TestWhatIsNoSitemapPasses(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]*webrace.Document{
		"a page":              fetched(here, "text/html", "<!DOCTYPE html><p>"+urlset("https://example.org/a")),
		"a page of XHTML":     fetched(here, "application/xhtml+xml", "<?xml version='1.0'?><html><p>urlset</p></html>"),
		"a feed":              fetched(here, "application/rss+xml", "<rss><channel/></rss>"),
		"an empty document":   fetched(here, "text/xml", ""),
		"an image":            fetched(here, "image/png", urlset("https://example.org/a")),
		"an archive":          fetched("https://example.org/a.gz", "application/gzip", gzipped("some text")),
		"gzip that is broken": fetched(here+".gz", "application/gzip", gzipped(urlset("https://example.org/a"))[:12]),
		"a text":              fetched("https://example.org/a.txt", "text/plain", "https://example.org/a\nis a page\n"),
		"robots.txt":          fetched("https://example.org/robots.txt", "text/plain", "Sitemap: https://example.org/sitemap.xml\n"),
		"a list without .txt": fetched("https://example.org/list", "text/plain", "https://example.org/a\n"),
		"a list of others":    fetched("https://example.org/list.txt", "text/plain", "https://example.com/a\n"),
		"not modified":        {URL: here, Outcome: webrace.NotModified, MediaType: "text/xml"},
		"fresh":               {URL: here, Outcome: webrace.Fresh},
	} {
		if r := try(t, defaults, d); !r.passed || len(r.urls) > 0 || len(r.Counters) > 0 {
			t.Errorf("%s: passed is %t, URLs %q, counters %v", name, r.passed, r.urls, r.Counters)
		}
	}
}

func TestPagesPassAtNoCost(t *testing.T) {
	page := fetched("https://example.org/", "text/html; charset=utf-8", "<!DOCTYPE html><title>urlset</title>"+strings.Repeat("<p>text", 1000))
	s := &stage{options: defaults}
	if n := testing.AllocsPerRun(100, func() { s.open(page) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTimesOfChangeGoWithTheURLs(t *testing.T) {
	t.Parallel()
	body := `<urlset><url><loc>/a</loc><lastmod>2026-01-02T03:04:05Z</lastmod></url><url><loc>/b</loc></url><url><loc>/c</loc><lastmod>yesterday</lastmod></url>
		<url><loc>/a#again</loc><lastmod>2026-05-01</lastmod></url></urlset>`
	r := try(t, defaults, fetched(here, "text/xml", body))
	got := r.Out["links"][0].(*webrace.Links).Changed
	want := []time.Time{time.Date(2026, 5, 1, 23, 59, 59, 0, time.UTC), {}, {}}
	if !slices.Equal(got, want) || r.Counters["repeated"] != 1 {
		t.Errorf("changed %v, want %v; counters %v", got, want, r.Counters)
	}
	if l := try(t, defaults, fetched(here, "text/xml", urlset("/a"))).Out["links"][0].(*webrace.Links); l.Changed != nil {
		t.Errorf("times that the sitemap does not say: %v", l.Changed)
	}
}

func TestASitemapSpeaksForItsHost(t *testing.T) {
	t.Parallel()
	list := []string{"https://example.org/a", "http://example.org/b", "https://www.example.org/c", "https://example.com/d", "https://example.org:8443/e", "http://[", "mailto:x@example.org"}
	r := try(t, defaults, fetched(here, "text/xml", urlset(list...)))
	if !slices.Equal(r.urls, list[:2]) || r.Counters["other_host"] != 3 || r.Counters["invalid"] != 2 {
		t.Errorf("URLs %q, counters %v", r.urls, r.Counters)
	}
	r = try(t, with(func(o *Options) { o.CrossHost = true }), fetched(here, "text/xml", urlset(list...)))
	if !slices.Equal(r.urls, list[:5]) || r.Counters["other_host"] != 0 {
		t.Errorf("with cross_host: URLs %q, counters %v", r.urls, r.Counters)
	}
}

func TestPagesInOtherLanguagesAreTakenIfWanted(t *testing.T) {
	t.Parallel()
	d := fetched(here, "text/xml", `<urlset xmlns:x="y"><url><loc>/a</loc><x:link rel="alternate" href="/el/a"/></url></urlset>`)
	for wanted, want := range map[bool]int{false: 1, true: 2} {
		if r := try(t, with(func(o *Options) { o.Alternates = wanted }), d); len(r.urls) != want {
			t.Errorf("%t: %q", wanted, r.urls)
		}
	}
}

func TestLimitsAreKept(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 2500 {
		many = append(many, fmt.Sprintf("https://example.org/%d", i))
	}
	whole := urlset(many...)
	r := try(t, defaults, fetched(here, "text/xml", whole))
	if len(r.urls) != 2500 || len(r.Out["links"]) != 3 {
		t.Errorf("%d URLs in %d sets", len(r.urls), len(r.Out["links"]))
	}
	r = try(t, with(func(o *Options) { o.MaxURLs = 1200 }), fetched(here, "text/xml", whole))
	if !slices.Equal(r.urls, many[:1200]) || r.Counters["over_limit"] != 1300 {
		t.Errorf("%d URLs, counters %v", len(r.urls), r.Counters)
	}
	for name, d := range map[string]*webrace.Document{"plain": fetched(here, "text/xml", whole), "compressed": fetched(here, "application/gzip", gzipped(whole))} {
		r = try(t, with(func(o *Options) { o.MaxSize = 10_000 }), d)
		if n := len(r.urls); n < 100 || n > 300 || r.Counters["truncated"] != 1 {
			t.Errorf("%s: %d URLs, counters %v", name, n, r.Counters)
		}
	}
	half := fetched(here, "application/gzip", gzipped(whole)[:4000])
	half.Truncated = true
	if r = try(t, defaults, half); len(r.urls) < 100 || len(r.urls) >= 2500 || r.Counters["truncated"] != 1 {
		t.Errorf("half of it: %d URLs, counters %v", len(r.urls), r.Counters)
	}
}

// A sitemap whose end is damaged is rejected, and what stands before the damage is taken.
func TestADamagedSitemapIsRejected(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 2500 {
		many = append(many, fmt.Sprintf("https://example.org/%d", i*i))
	}
	damaged := []byte(gzipped(urlset(many...)))
	clear(damaged[len(damaged)-8:]) // its checksum
	for name, body := range map[string]string{"its checksum": string(damaged), "its middle": string(damaged[:4000])} {
		d := fetched(here, "application/gzip", body)
		r := try(t, defaults, d)
		if len(r.urls) < 100 || !slices.Equal(r.urls, many[:len(r.urls)]) || r.passed || len(r.Failures) != 1 || r.Counters["truncated"] != 0 {
			t.Errorf("%s: %d URLs, passed is %t, %v, %v", name, len(r.urls), r.passed, r.Failures, r.Counters)
		} else if f := r.Failures[0]; f.Value != any(d) || !strings.HasPrefix(f.Err.Error(), here+": the sitemap cannot be read: what is compressed is damaged behind byte ") {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// Wherever a sitemap is cut, what is left are addresses that it lists, in their order, and nothing else.
func TestACutSitemapListsNoHalfAddress(t *testing.T) {
	t.Parallel()
	listed := []string{"https://example.org/one", "https://example.org/two", "https://example.org/three"}
	list := strings.Join(listed, "\n") + "\n"
	for name, c := range map[string]struct{ url, mediaType, body string }{
		"xml":  {here, "text/xml", urlset(listed...)},
		"list": {"https://example.org/sitemap.txt", "text/plain", list},
	} {
		last := 0
		for n := 1; n <= len(c.body); n++ {
			d := fetched(c.url, c.mediaType, c.body[:n])
			d.Truncated = true
			r := try(t, defaults, d)
			if r.passed {
				continue // too little of it to tell what it is
			}
			if len(r.urls) < last || !slices.Equal(r.urls, listed[:len(r.urls)]) || r.Counters["other_host"]+r.Counters["invalid"] != 0 {
				t.Errorf("%s: cut after %d bytes lists %q, counters %v", name, n, r.urls, r.Counters)
			}
			last = len(r.urls)
		}
		if last != len(listed) {
			t.Errorf("%s: %d of %d listed by the whole", name, last, len(listed))
		}
	}
}

// A gzip of 64 KB that would be 64 MB: as much is read of it as max_size allows.
func TestABombIsNotInflated(t *testing.T) {
	t.Parallel()
	bomb := fetched(here, "application/gzip", gzipped(urlset("https://example.org/a")+strings.Repeat(" ", 8<<20)))
	s := &stage{options: with(func(o *Options) { o.MaxSize = 1 << 20 })}
	if found := s.open(bomb); found == nil || len(found.text) != 1<<20 || !found.cut {
		t.Errorf("opened %t", found != nil)
	}
}

func TestNofollowIsObeyed(t *testing.T) {
	t.Parallel()
	d := fetched(here, "text/xml", urlset("/a"))
	d.Header.Set("X-Robots-Tag", "noindex") // which is said of most sitemaps
	if r := try(t, defaults, d); len(r.urls) != 1 {
		t.Errorf("noindex: URLs %q", r.urls)
	}
	d.Header.Set("X-Robots-Tag", "noindex, nofollow")
	if r := try(t, defaults, d); r.passed || len(r.urls) != 0 || r.Counters["nofollow"] != 1 {
		t.Errorf("URLs %q, counters %v", r.urls, r.Counters)
	}
	if r := try(t, with(func(o *Options) { o.ObeyRobots = false }), d); len(r.urls) != 1 {
		t.Errorf("not obeyed: URLs %q", r.urls)
	}
}

func TestTheNextVisitAsksForTheSitemapAnew(t *testing.T) {
	t.Parallel()
	d := fetched(here, "text/xml", urlset("/a"))
	v := webrace.Visit{ETag: "e", LastModified: "l", Version: 3, Status: 200}
	for _, what := range try(t, defaults, d).Outcomes[0].Learned {
		what.(webrace.Learned)(&v)
	}
	if v.ETag != "" || v.LastModified != "" || v.Version != 0 || v.Digest != sha256.Sum256(d.Body) || v.Status != 200 {
		t.Errorf("learned %+v", v)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{with(func(o *Options) { o.MaxSize = 0 }), with(func(o *Options) { o.MaxURLs = 0 })} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
