package hostile

import (
	"net/http"
	"strconv"
	"strings"
)

// to redirects to where it is told, as it is spelt.
func to(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		prefix, _ := r.Context().Value(prefixKey{}).(string)
		if !strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//") {
			prefix = ""
		}
		w.Header()["Location"] = []string{prefix + location}
		w.WriteHeader(http.StatusFound)
	}
}

func redirects() []Case {
	return []Case{
		{
			Name: "redirect-to-itself", Does: "redirects a page to itself",
			Lay:    func(s *Site) { s.handle(bad, to(bad)) },
			Expect: Expect{Counters: some{"errors": 1, "fetch.redirects": 1}, Why: says{bad: "gave no document: redirects in a circle, to itself"}, Asked: 1},
		},
		{
			Name: "redirect-loop", Does: "redirects a page to another, and that back",
			Lay: func(s *Site) {
				s.handle(bad, to("/bad-2"))
				s.hide("/bad-2", to(bad))
			},
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.redirects": 2},
				Why:      says{bad: "redirected elsewhere", "/bad-2": "gave no document: redirects in a circle: "}, Asked: 2,
			},
		},
		{
			Name: "redirect-chain", Does: "redirects each page to the next, without end", Options: []string{"frontier.redirects=5"},
			Lay: func(s *Site) {
				s.link("/bad/0")
				s.handle("/bad/*", func(w http.ResponseWriter, r *http.Request) {
					n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/bad/"))
					to("/bad/"+strconv.Itoa(n+1))(w, r)
				})
			},
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.redirects": 6, "frontier.refused_redirects": 1},
				Why:      says{"/bad/5": "gave no document: redirects further, to ", "/bad/6": "never accepted"}, Asked: 6,
			},
		},
		{
			Name: "redirect-abroad", Does: "redirects to another host, out of the scope of the crawl",
			Lay: func(s *Site) { s.handle(bad, to(s.another().URL+"/abroad")) },
			Expect: Expect{
				Counters: some{"fetch.redirects": 1, "frontier.refused_scope": 1},
				Why:      says{bad: "redirected elsewhere", "other:/abroad": "never accepted: it lies outside the scope of the crawls"}, Asked: 1,
			},
		},
		{
			Name: "redirect-to-private", Does: "redirects to a private address", Scope: "any",
			Lay: func(s *Site) { s.handle(bad, to("http://10.1.2.3/admin")) },
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.redirects": 1, "fetch.address_refused": 1},
				Why:      says{"http://10.1.2.3/admin": "private"}, Asked: 1,
			},
		},
		{
			Name: "redirect-to-metadata", Does: "redirects to where clouds hand out credentials", Scope: "any", Options: []string{"fetch.allow_networks=[\"loopback\", \"169.254.0.0/16\"]"},
			Lay: func(s *Site) { s.handle(bad, to("http://169.254.169.254/latest/meta-data/")) },
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.redirects": 1, "fetch.address_refused": 1},
				Why:      says{"http://169.254.169.254/latest/meta-data/": "gave no document: "}, Asked: 1,
			},
		},
		{
			Name: "addresses-in-disguise", Does: "links to a forbidden address in every spelling that there is", Scope: "any", Options: []string{"fetch.allow_networks=127.0.0.0/8"},
			Lay: func(s *Site) {
				s.link("http://2852039166/", "http://0xA9FEA9FE/", "http://0251.0376.0251.0376/", "http://169.254.43518/", "http://169%2e254.169.254/",
					"http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]/", "http://0:"+s.port()+"/zero")
			},
			Expect: Expect{
				Counters: some{"errors": 3, "fetch.address_refused": 3},
				Why:      says{"http://169.254.169.254/": "gave no document: ", "http://[::ffff:a9fe:a9fe]/": "gave no document: "},
			},
		},
		{
			Name: "redirect-to-other-schemes", Does: "redirects to file:, javascript:, data: and ftp: URLs",
			Lay: func(s *Site) {
				for _, url := range []string{"file:///etc/passwd", "javascript:alert(1)", "data:text/html,<a href=/poison>x</a>", "ftp://127.0.0.1/"} {
					scheme, _, _ := strings.Cut(url, ":")
					s.handle("/bad-"+scheme, to(url))
				}
			},
			Expect: Expect{
				Counters: some{"errors": 4, "fetch.bad_redirects": 4},
				Why:      says{"/bad-file": "302 Found: redirect to", "/bad-javascript": "302 Found: redirect to", "/bad-data": "302 Found: redirect to", "/bad-ftp": "302 Found: redirect to"}, Asked: 4,
			},
		},
		{
			Name: "redirect-to-nowhere", Does: "redirects without saying where to",
			Lay:    func(s *Site) { s.handle(bad, status(http.StatusFound)) },
			Expect: Expect{Counters: some{"errors": 1, "fetch.bad_redirects": 1}, Why: says{bad: "302 Found: redirect without a location"}, Asked: 1},
		},
		{
			Name: "redirect-to-garbage", Does: "redirects to what is no URL, and to a relative one of noise",
			Lay: func(s *Site) {
				s.handle(bad, to("http://[::bad"))
				s.handle("/bad-noise", to("..//;\\?%%&\xff\x80#\"<>"))
			},
			Expect: Expect{
				Counters: some{"errors": 2, "fetch.bad_redirects": 1, "fetch.redirects": 1, "fetch.status_404": 1},
				Why:      says{bad: "302 Found: redirect to", "/bad-noise": "redirected elsewhere"}, Asked: 3,
			},
		},
		{
			Name: "redirect-oddly-spelt", Does: "redirects with backslashes, blanks, a user name and a missing scheme",
			Lay: func(s *Site) {
				host := strings.TrimPrefix(s.URL, "http://")
				for i, location := range []string{`\behind\0`, " \t /behind/1 \t", "http://user:pass@" + host + "/behind/2", "//" + host + "/behind/3", `http:\\` + host + `\behind\4`} {
					s.handle("/bad-"+strconv.Itoa(i), to(location))
				}
				s.hide("/behind/*", func(w http.ResponseWriter, r *http.Request) {
					if _, _, ok := r.BasicAuth(); ok {
						w.WriteHeader(http.StatusTeapot)
						return
					}
					page("<p>behind "+r.URL.Path)(w, r)
				})
			},
			Expect: Expect{
				Counters: some{"pages": 5, "fetch.redirects": 5},
				Why:      says{"/behind/0": "crawl: fetched", "/behind/1": "crawl: fetched", "/behind/2": "crawl: fetched", "/behind/3": "crawl: fetched", "/behind/4": "crawl: fetched"}, Asked: 10,
			},
		},
		{
			Name: "redirect-between-schemes", Does: "redirects http to https, and that back to http", Scope: "any",
			Lay: func(s *Site) {
				safe := s.another(withTLS(valid))
				safe.hide("/bad", to(s.URL+bad))
				s.handle(bad, to(safe.URL+"/bad"))
			},
			Expect: Expect{
				Counters: some{"errors": 1, "fetch.redirects": 2},
				Why:      says{bad: "redirected elsewhere", "other:/bad": "gave no document: redirects in a circle: "}, Asked: 2,
			},
		},
		{
			Name: "everything-redirects-home", Does: "redirects 300 pages to the start",
			Lay: func(s *Site) {
				for i := range 300 {
					s.handle("/bad/"+strconv.Itoa(i), to("/"))
				}
			},
			Expect: Expect{Counters: some{"fetch.redirects": 300}, Why: says{"/bad/299": "redirected elsewhere"}, Asked: 300},
		},
		{
			Name: "redirect-without-end", Does: "redirects with a body that never ends, a byte at a time", Slow: true, Options: impatient,
			Lay: func(s *Site) {
				s.raw(bad, drip("HTTP/1.1 302 Found\r\nLocation: /behind\r\nContent-Type: text/html\r\n\r\n", "moved <a href=/poison>"))
				s.hide("/behind", page("<p>behind"))
			},
			Expect: Expect{Counters: some{"pages": 1, "fetch.redirects": 1}, Why: says{bad: "redirected elsewhere", "/behind": "crawl: fetched", "/poison": "never accepted"}, Asked: 2},
		},
		{
			Name: "refresh-to-itself", Does: "tells the reader to load the page again, in an element and in a header",
			Lay: func(s *Site) {
				s.handle(bad, page(`<meta http-equiv="refresh" content="0; url=/bad"><p>again`))
				s.handle("/bad-header", func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Refresh", "0; url=/bad-header")
					page("<p>and again")(w, r)
				})
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", "/bad-header": "crawl: fetched"}, Asked: 2},
		},
		{
			Name: "refresh-loop", Does: "tells the reader of a page to load another at once, and there the first",
			Lay: func(s *Site) {
				s.handle(bad, page(`<meta http-equiv="refresh" content="0; url=/bad-2"><p>there`))
				s.hide("/bad-2", page(`<meta http-equiv="refresh" content="0;URL='/bad'"><p>back`))
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", "/bad-2": "crawl: fetched"}, Asked: 2},
		},
	}
}
