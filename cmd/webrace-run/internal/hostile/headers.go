package hostile

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func headers() []Case {
	return []Case{
		{
			Name: "endless-header", Does: "never ends its header", Options: once,
			Lay:    func(s *Site) { s.raw(bad, forEver(head, long("X-More: and more\r\n", 8192))) },
			Expect: fails("exceeded"),
		},
		{
			Name: "huge-header", Does: "sends a field of a megabyte", Options: once,
			Lay:    func(s *Site) { s.raw(bad, hold(head+"X-Huge: "+long("huge", 1<<20)+"\r\n\r\n<p>short")) },
			Expect: fails("exceeded"),
		},
		{
			Name: "field-without-colon", Does: "sends a field without a colon, and one with a control character",
			Lay:    func(s *Site) { s.raw(bad, send(head+"this is no field\r\nX-Bell: \a\r\n\r\n<p>short")) },
			Expect: fetched(),
		},
		{
			Name: "nul-in-header", Does: "sends a NUL within a field", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send(head+"X-Nul: a\x00b\r\n\r\n<p>short")) },
			Expect: fails("there is a NUL in its header"),
		},
		{
			Name: "folded-field", Does: "folds a field over lines, as was allowed long ago",
			Lay: func(s *Site) {
				s.raw(bad, send("HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n  charset=utf-8\r\n\r\n<p>short"))
			},
			Expect: fetched(),
		},
		{
			Name: "bare-line-feeds", Does: "ends the lines of its header with line feeds alone",
			Lay: func(s *Site) {
				s.raw(bad, send("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 8\n\n<p>short"))
			},
			Expect: fetched(),
		},
		{
			Name: "status-line-garbage", Does: "sends noise for a status line", Options: once,
			Lay:    func(s *Site) { s.raw(bad, forEver("", long("\x00\xff\x01", 8192))) },
			Expect: fails("gave no document").atMost(2), // as of one that speaks another protocol
		},
		{
			Name: "http-0.9", Does: "sends a page without any header", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send("<html><p>the old days</html>\r\n")) },
			Expect: fails("malformed HTTP").atMost(2), // likewise
		},
		{
			Name: "http-3.7", Does: "claims to speak HTTP/3.7",
			Lay: func(s *Site) {
				s.raw(bad, send("HTTP/3.7 200 OK\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n<p>short"))
			},
			Expect: fetched(),
		},
		{
			Name: "odd-statuses", Does: "answers with statuses that there are not: 000, 299, 999", Options: once,
			Lay: func(s *Site) {
				for _, status := range []string{"000", "299", "999"} {
					s.raw("/bad-"+status, send("HTTP/1.1 "+status+" Odd\r\nContent-Type: text/html\r\nContent-Length: 8\r\n\r\n<p>short"))
				}
			},
			Expect: Expect{Counters: some{"errors": 2, "fetch.status_0": 1, "fetch.status_999": 1, "pages": 1}, Why: says{"/bad-000": "gave no document: 000", "/bad-299": "fetched", "/bad-999": "gave no document: 999"}, Asked: 3},
		},
		{
			Name: "status-of-letters", Does: "answers with the status abc", Options: once,
			Lay:    func(s *Site) { s.raw(bad, send("HTTP/1.1 abc OK\r\n\r\n<p>short")) },
			Expect: fails("malformed HTTP status code"),
		},
		{
			Name: "endless-hints", Does: "sends informational answers (1xx) without end", Options: once,
			Lay:    func(s *Site) { s.raw(bad, forEver("", long("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 8192))) },
			Expect: fails("exceeded"),
		},
		{
			Name: "switches-protocols", Does: "switches to another protocol (101) unasked, and waits", Options: once,
			Lay: func(s *Site) {
				s.raw(bad, hold("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"))
			},
			Expect: Expect{Counters: some{"errors": 1, "fetch.status_101": 1}, Why: says{bad: "gave no document: 101 Switching Protocols"}, Asked: 1},
		},
		{
			Name: "confirms-unasked", Does: "answers 304 though nothing is stored that it could confirm", Options: once,
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
			},
			Expect: Expect{Counters: some{"errors": 1, "fetch.status_304": 1}, Why: says{bad: "gave no document: 304 Not Modified"}, Asked: 1},
		},
		{
			Name: "cookie-flood", Does: "sets 200 cookies of a kilobyte with each answer, and looks whether they come back",
			Lay: func(s *Site) {
				s.wrap = func(h http.HandlerFunc) http.HandlerFunc {
					return func(w http.ResponseWriter, r *http.Request) {
						if len(r.Header["Cookie"]) > 0 {
							w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
							return
						}
						for i := range 200 {
							w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s; Path=/", i, long("flood", 1000)))
						}
						h(w, r)
					}
				}
			},
		},
		{
			Name: "a-new-tag-each-time", Does: "names another ETag for the same page at each request",
			Lay: func(s *Site) {
				var n int
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					n++ // requests for a page follow one another
					w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
					w.Header().Set("Content-Type", "text/html")
					_, _ = w.Write([]byte("<p>always the same"))
				})
			},
			Expect: fetched(),
			Again:  &Expect{Counters: some{"pages": 1}, Why: says{bad: "version 1 is stored"}, Asked: 1},
		},
		{
			Name: "modified-tomorrow", Does: "says that the page was modified ten years from now",
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Last-Modified", time.Now().AddDate(10, 0, 0).UTC().Format(http.TimeFormat))
					w.Header().Set("Content-Type", "text/html")
					_, _ = w.Write([]byte("<p>from the future"))
				})
			},
			Expect: fetched(),
			Again:  &Expect{Counters: some{"pages": 1}, Why: says{bad: "version 1 is stored"}, Asked: 1},
		},
		{
			Name: "no-content-type", Does: "does not say what the page is",
			Lay: func(s *Site) {
				s.handle(bad, body("", []byte(linking("/behind"))))
				s.hide("/behind", page("<p>behind"))
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", "/behind": "crawl: fetched"}, Asked: 2},
		},
		{
			Name: "image-as-html", Does: "says that an image is a page",
			Lay:    func(s *Site) { s.handle(bad, body("text/html", png())) },
			Expect: fetched(),
		},
		{
			Name: "html-as-image", Does: "says that a page is an image: its links are none",
			Lay: func(s *Site) { s.handle(bad, body("image/png", []byte(linking("/poison")))) },
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.ignored_types": 1},
				Why:      says{bad: "gave no document: media type image/png is not taken", "/poison": "never accepted"}, Asked: 1,
			},
		},
		{
			Name: "content-type-garbage", Does: "gives the type of the page with parameters that are garbage",
			Lay: func(s *Site) {
				s.handle(bad, body(`Text/HTML ;;; charset="utf-8; =x; \"`, []byte(linking("/behind"))))
				s.hide("/behind", body("text/html; charset="+strings.Repeat("x", 5000), []byte("<p>behind")))
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", "/behind": "crawl: fetched"}, Asked: 2},
		},
	}
}
