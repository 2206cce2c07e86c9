package hostile

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// sitemap lists URLs.
func sitemap(urls ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, url := range urls {
		b.WriteString("<url><loc>" + url + "</loc></url>\n")
	}
	return b.String() + "</urlset>"
}

const laughs = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha">` +
	`<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">` +
	`<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;"><!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;">]>` +
	`<rss version="2.0"><channel><title>&g;&g;&g;</title><item><title>&g;</title><link>%s/behind</link></item></channel></rss>`

func feeds() []Case {
	return []Case{
		{
			Name: "sitemap-bomb", Does: "has a compressed sitemap of half a million URLs", Depth: 2,
			Lay: func(s *Site) {
				made := sync.OnceValue(func() []byte {
					urls := make([]string, 500_000)
					for i := range urls {
						urls[i] = fmt.Sprintf("%s/leaf/%d.png", s.URL, i) // which is asked for nowhere
					}
					return encode([]byte(sitemap(urls...)), "gzip")
				})
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/xml")
					w.Header().Set("Content-Encoding", "gzip")
					_, _ = w.Write(made())
				})
			},
			Expect: Expect{Counters: some{"pages": 1, "fetch.truncated": 1, "sitemap-parse.truncated": 1, "frontier.refused_ignored_type": 50_000}, Why: says{bad: "crawl: fetched"}, Asked: 1},
		},
		{
			Name: "sitemap-of-itself", Does: "has an index of sitemaps that lists itself, and another that lists it",
			Lay: func(s *Site) {
				index := func(urls ...string) string {
					return strings.NewReplacer("urlset", "sitemapindex", "<url>", "<sitemap>", "</url>", "</sitemap>").Replace(sitemap(urls...))
				}
				s.handle("/bad.xml", body("application/xml", []byte(index(s.URL+"/bad.xml", s.URL+"/bad-2.xml"))))
				s.hide("/bad-2.xml", body("application/xml", []byte(index(s.URL+"/bad.xml"))))
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{"/bad.xml": "crawl: fetched", "/bad-2.xml": "crawl: fetched"}, Asked: 2},
		},
		{
			Name: "sitemap-of-others", Does: "lists the pages of other hosts in its sitemap",
			Lay: func(s *Site) {
				s.handle("/bad.xml", body("application/xml", []byte(sitemap("http://bank.test/transfer", "http://10.0.0.1/", "javascript:x()", s.URL+"/good/1"))))
			},
			Expect: Expect{Counters: some{"pages": 1, "sitemap-parse.other_host": 2, "sitemap-parse.invalid": 1}, Why: says{"/bad.xml": "crawl: fetched", "http://bank.test/transfer": "never accepted"}, Asked: 1},
		},
		{
			Name: "entity-bomb", Does: "has a feed whose entities grow to gigabytes",
			Lay: func(s *Site) {
				s.handle(bad, body("application/rss+xml", []byte(fmt.Sprintf(laughs, s.URL))))
				s.hide("/behind", page("<p>behind"))
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", "/behind": "crawl: fetched"}, Asked: 2},
		},
		{
			Name: "entity-of-a-file", Does: "has a feed with an entity that is a file, and one that is at another host",
			Lay: func(s *Site) {
				o := s.another()
				s.handle(bad, body("application/rss+xml", []byte(`<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY o SYSTEM "`+o.URL+
					`/asked">]><rss version="2.0"><channel><title>&f;&o;</title><item><link>`+s.URL+`/behind</link></item></channel></rss>`)))
				s.hide("/behind", page("<p>behind"))
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", "/behind": "crawl: fetched", "other:/asked": "never accepted"}, Asked: 2},
		},
		{
			Name: "xml-a-million-deep", Does: "has a feed of a million elements within one another",
			Lay: func(s *Site) {
				s.handle(bad, body("application/xml", []byte("<rss>"+strings.Repeat("<a>", 1_000_000))))
			},
			Expect: Expect{Counters: some{"errors": 1, "pages": 1, "feed-parse.unreadable": 1}, Why: says{bad: "crawl: fetched"}, Asked: 1},
		},
	}
}
