package hostile

import (
	"net/http"
	"strings"
)

// port is that of the site.
func (s *Site) port() string {
	host := s.host()
	return host[strings.LastIndexByte(host, ':')+1:]
}

// host is the site's name, with its port.
func (s *Site) host() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), s.prefix)
}

// goodAgain is what comes of links to good pages in spellings that are all the same: nothing.
func goodAgain(of string) Expect { return Expect{Why: says{of: "crawl: fetched"}} }

func links() []Case {
	return []Case{
		{
			Name: "base-elsewhere", Does: "names another host as the base of its links",
			Lay: func(s *Site) {
				s.handle(bad, page(`<base href="http://elsewhere.test/"><a href="page">there</a>`))
			},
			Expect: Expect{
				Counters: some{"pages": 1, "frontier.refused_scope": 1},
				Why:      says{"http://elsewhere.test/page": "never accepted: it lies outside the scope of the crawls", "/page": "never accepted"}, Asked: 1,
			},
		},
		{
			Name: "base-tricks", Does: "names bases that are none, several of them, one with a user name, and one after the links",
			Lay: func(s *Site) {
				s.handle("/bad-script", page(`<base href="javascript:alert(1)//"><a href="behind-script">x</a>`))
				s.handle("/bad-two", page(`<base href="/dir/"><base href="http://elsewhere.test/"><a href="behind-two">x</a>`))
				s.handle("/bad-user", page(`<base href="http://user:pass@`+s.host()+`/dir/"><a href="behind-user">x</a>`))
				s.handle("/bad-late", page(`<a href="behind-late">x</a><base href="/dir/">`))
				s.handle("/bad-garbage", page(`<base href="http://[::bad"><a href="behind-garbage">x</a>`))
				for _, path := range []string{"/behind-script", "/dir/behind-two", "/dir/behind-user", "/dir/behind-late", "/behind-garbage"} {
					s.hide(path, page("<p>"+path))
				}
			},
			Expect: Expect{
				Counters: some{"pages": 10},
				Why: says{"/behind-script": "crawl: fetched", "/dir/behind-two": "crawl: fetched", "/dir/behind-user": "crawl: fetched",
					"/dir/behind-late": "crawl: fetched", "/behind-garbage": "crawl: fetched"}, Asked: 10,
			},
		},
		{
			Name: "bare-percent", Does: "links to URLs with percent signs that encode nothing",
			Lay: func(s *Site) {
				s.handle(bad, page(linking("/100%/page", "/50%zz", "/5%2")))
				s.hide("/100%/page", page("<p>100"))
				s.hide("/50%zz", page("<p>50"))
				s.hide("/5%2", page("<p>5"))
			},
			Expect: Expect{Counters: some{"pages": 4}, Why: says{"/100%25/page": "crawl: fetched", "/50%25zz": "crawl: fetched", "/5%252": "crawl: fetched"}, Asked: 4},
		},
		{
			Name: "international-hosts", Does: "links to hosts in other scripts, in Punycode, and to such as cannot be",
			Lay: func(s *Site) {
				s.handle(bad, page(linking("http://bücher.test/", "http://xn--bcher-kva.test/", "http://☃.test/", "http://xn--a.test/", "http://a\u200b.test/",
					"http://"+long("long", 300)+".test/", "http://exa mple.test/", "http://a..test/")))
			},
			Expect: Expect{
				Counters: some{"pages": 1},
				Why:      says{bad: "crawl: fetched", "http://xn--bcher-kva.test/": "never accepted: it lies outside the scope of the crawls"}, Asked: 1,
			},
		},
		{
			Name: "user-in-link", Does: "links to its pages with user names and passwords, and looks whether they come back",
			Lay: func(s *Site) {
				s.wrap = func(h http.HandlerFunc) http.HandlerFunc {
					return func(w http.ResponseWriter, r *http.Request) {
						if _, _, ok := r.BasicAuth(); ok {
							w.WriteHeader(http.StatusTeapot)
							return
						}
						h(w, r)
					}
				}
				s.link("http://user:pass@"+s.host()+"/good/1", "http://user@"+s.host()+"/good/2", "http://:@"+s.host()+"/good/3",
					"http://elsewhere.test@"+s.host()+"/good/4")
			},
			Expect: goodAgain("/good/4"),
		},
		{
			Name: "backslashes", Does: "links with backslashes for slashes",
			Lay: func(s *Site) {
				s.link(`\good\1`, `http:\\`+s.host()+`\good\2`, `/good\3`, `\\`+s.host()+`/good/4`, `http:/\`+s.host()+`/good/5`)
			},
			Expect: goodAgain("/good/1"),
		},
		{
			Name: "blanks-in-links", Does: "links with tabs, line feeds and blanks within and around URLs",
			Lay: func(s *Site) {
				s.link("/go\tod/1", "/go\nod/2", "  /good/3  ", "\x01/good/4\x1f", "ht\ntp://"+s.host()+"/good/5")
			},
			Expect: goodAgain("/good/1"),
		},
		{
			Name: "dots-in-links", Does: "links by ways that lead up and down again, in plain and encoded",
			Lay: func(s *Site) {
				s.link("/a/../good/1", "/./good/./2", "/a/%2e%2e/good/3", "/%2E/good/4", "/../../../good/5", "/a/b/.%2e/../good/6")
			},
			Expect: goodAgain("/good/1"),
		},
		{
			Name: "host-in-disguise", Does: "links to itself by other spellings of its address",
			Lay: func(s *Site) {
				p := ":" + s.port()
				s.link("HTTP://127.0.0.1"+p+"/good/1", "http://2130706433"+p+"/good/2", "http://0x7f.1"+p+"/good/3", "http://127.1"+p+"/good/4",
					"http://0177.0.0.1"+p+"/good/5", "http://１２７.０.０.１"+p+"/good/6", "http://127.0.0.1.:"+s.port()+"/good/7")
			},
			Expect: goodAgain("/good/1"),
		},
		{
			Name: "links-that-are-none", Does: "links to schemes that are not of the web",
			Lay: func(s *Site) {
				s.handle(bad, page(linking("javascript:void(0)", "mailto:a@b.test", "tel:+1", "data:text/html,x", "file:///etc/passwd", "ftp://f.test/",
					"ws://"+s.host()+"/", "about:blank", "blob:http://x/1", "view-source:http://x/", "JaVaScRiPt:x()")))
			},
			Expect: Expect{Counters: some{"pages": 1, "normalize.ignored_scheme": 11}, Why: says{bad: "crawl: fetched"}, Asked: 1},
		},
		{
			Name: "ports-that-are-none", Does: "links to ports that there are not",
			Lay: func(s *Site) {
				s.handle(bad, page(linking("http://127.0.0.1:99999/", "http://127.0.0.1:-1/", "http://127.0.0.1:port/", "http://127.0.0.1:1:2/")))
			},
			Expect: Expect{Counters: some{"pages": 1, "normalize.invalid": 4}, Why: says{bad: "crawl: fetched"}, Asked: 1},
		},
		{
			Name: "empty-links", Does: "links to nothing: empty, blank, without a value, and an empty query, which is another URL",
			Lay: func(s *Site) {
				s.handle(bad, page("<a href>x</a><a href=''>x</a><a href='  '>x</a><a href=#>x</a><a href=?>x</a><a>x</a>"))
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", bad + "?": "crawl: fetched"}, Asked: 2},
		},
	}
}
