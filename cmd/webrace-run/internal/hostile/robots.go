package hostile

import (
	"io"
	"net"
	"net/http"
	"strings"
)

// robots answers for the site's robots.txt.
func robots(h http.HandlerFunc) func(*Site) {
	return func(s *Site) { s.hide("/robots.txt", h) }
}

// forbidding lets the site link to a page that its robots.txt forbids.
func forbidding(lay func(*Site)) func(*Site) {
	return func(s *Site) {
		lay(s)
		s.handle(bad, page("<p>forbidden"))
	}
}

// elsewhere puts the page on another host, whose robots.txt is answered for.
func elsewhere(answer func(o *Site) http.HandlerFunc) func(*Site) {
	return func(s *Site) {
		o := s.another()
		o.hide("/robots.txt", answer(o))
		o.hide(bad, page("<p>never asked for"))
		s.link(o.URL + bad)
	}
}

func just(h http.HandlerFunc) func(*Site) http.HandlerFunc {
	return func(*Site) http.HandlerFunc { return h }
}

// forbidden is what comes of a URL that robots.txt forbids, or what stands for that.
func forbidden(url, because string) Expect {
	return Expect{Counters: some{"errors": 1, "fetch.robots_refused": 1}, Why: says{url: "gave no document: refused by robots.txt: " + because}}
}

// without is what comes of a host that does not give its robots.txt, by a fault of the network.
func without(because string) Expect {
	return Expect{Counters: some{"errors": 1, "fetch.network_failures": 1}, Why: says{"other:" + bad: because}}
}

const rules = "User-agent: *\nDisallow: /bad\n"

func robotsTxts() []Case {
	return []Case{
		{Name: "robots-huge", Does: "has a robots.txt of ten megabytes, and forbids all at its end",
			Lay: forbidding(robots(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, rules+long("# nothing\n", 10<<20)+"\nUser-agent: *\nDisallow: /\n")
			})), Expect: forbidden(bad, "")},
		{Name: "robots-endless", Does: "never ends its robots.txt",
			Lay: forbidding(func(s *Site) {
				s.hide("/robots.txt", s.hijacked(forEver(head+"\r\n"+rules, long("# nothing\n", 8192))))
			}), Expect: forbidden(bad, "")},
		{Name: "robots-error", Does: "answers 500 for its robots.txt", Scope: "any",
			Lay: elsewhere(just(status(500))), Expect: forbidden("other:"+bad, "it could not be had: 500")},
		{Name: "robots-loop", Does: "redirects its robots.txt to itself",
			Lay: robots(to("/robots.txt"))},
		{Name: "robots-chain", Does: "redirects its robots.txt on and on",
			Lay: func(s *Site) {
				s.hide("/robots.txt", to("/robots/"))
				s.hide("/robots/*", func(w http.ResponseWriter, r *http.Request) { to(r.URL.Path+"x")(w, r) })
			}, Expect: Expect{Asked: 5}},
		{Name: "robots-elsewhere", Does: "redirects its robots.txt to another host, whose rules count",
			Lay: forbidding(func(s *Site) {
				o := s.another()
				o.hide("/robots.txt", body("text/plain", []byte(rules)))
				s.hide("/robots.txt", to(o.URL+"/robots.txt"))
			}), Expect: forbidden(bad, "")},
		{Name: "robots-private", Does: "redirects its robots.txt to a private address", Scope: "any",
			Lay: elsewhere(just(to("http://10.1.2.3/robots.txt"))), Expect: forbidden("other:"+bad, "it is redirected to where it may not be fetched from")},
		{Name: "robots-html", Does: "answers with a page for its robots.txt, which has a word of rules",
			Lay: robots(page("<!DOCTYPE html><title>Disallow: /</title>\n<p>User-agent: *\n<p>Disallow: /\n"))},
		{Name: "robots-silent", Does: "never answers for its robots.txt", Scope: "any", Slow: true, Options: impatient,
			Lay: elsewhere(func(o *Site) http.HandlerFunc { return o.hijacked(hold("")) }), Expect: without("get robots.txt: ")},
		{Name: "robots-drips", Does: "sends its robots.txt a byte at a time", Scope: "any", Slow: true, Options: impatient,
			Lay: elsewhere(func(o *Site) http.HandlerFunc { return o.hijacked(drip(head+"\r\n", rules)) }), Expect: without("get robots.txt: no complete answer")},
		{Name: "robots-resets", Does: "breaks its robots.txt off", Scope: "any", Options: once,
			Lay: elsewhere(func(o *Site) http.HandlerFunc {
				return o.hijacked(reset(head + "Content-Length: 500\r\n\r\n" + rules))
			}), Expect: without("get robots.txt: body broken off")},
		{Name: "robots-undecodable", Does: "says that its robots.txt is gzip, which it is not", Scope: "any",
			Lay: elsewhere(just(func(w http.ResponseWriter, _ *http.Request) { coded(w, "gzip", []byte(rules)) })), Expect: forbidden("other:"+bad, "it cannot be read")},
		{Name: "robots-bomb", Does: "has a gzip bomb for a robots.txt",
			Lay: func(s *Site) {
				bomb("gzip")(s)
				s.links = nil
				s.hide("/robots.txt", s.handlers[bad])
			}},
		{Name: "robots-marked", Does: "begins its robots.txt with a byte order mark, and ends lines with carriage returns alone",
			Lay: forbidding(robots(body("text/plain", []byte("\xef\xbb\xbf"+strings.ReplaceAll(rules, "\n", "\r"))))), Expect: forbidden(bad, "")},
		{Name: "robots-wide", Does: "sends its robots.txt in UTF-16",
			Lay: robots(body("text/plain; charset=utf-16be", inUTF16("User-agent: *\nDisallow: /nothing\n")))},
		{Name: "robots-binary", Does: "sends noise for a robots.txt",
			Lay: robots(body("application/octet-stream", []byte(long("\x00\xff\x80Disallow\x01:\r\x7f", 100_000))))},
		{Name: "robots-wildcards", Does: "forbids patterns that take a matcher for ever",
			Lay: func(s *Site) {
				s.hide("/robots.txt", body("text/plain", []byte("User-agent: *\n"+strings.Repeat("Disallow: /"+strings.Repeat("*a", 200)+"*b$\n", 500))))
				s.hide("/a*", page("<p>long"))
				s.link("/" + strings.Repeat("a", 2000))
			}, Expect: Expect{Counters: some{"pages": 1}, Asked: 1}},
		{Name: "crawl-delay-huge", Does: "asks for a day between requests", Options: []string{"fetch.max_crawl_delay=50ms"},
			Lay: robots(body("text/plain", []byte("User-agent: *\nCrawl-delay: 86400\n"))), Expect: Expect{Counters: some{"fetch.crawl_delays_cut": 1}}},
		{Name: "crawl-delay-garbage", Does: "asks for delays that are none", Options: []string{"fetch.max_crawl_delay=50ms"},
			Lay: robots(body("text/plain", []byte("User-agent: *\nCrawl-delay: -1\nCrawl-delay: NaN\nCrawl-delay: soon\nCrawl-delay:\n")))},
		{Name: "robots-hangs-up", Does: "closes the connection whenever it is asked for its robots.txt", Scope: "any", Options: once,
			Lay: func(s *Site) {
				s.link("http://" + s.listen(func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }) + bad)
			}, Expect: Expect{Counters: some{"errors": 1, "fetch.network_failures": 1}, Why: says{"other:" + bad: "get robots.txt: "}, AtMost: 3}},
	}
}
