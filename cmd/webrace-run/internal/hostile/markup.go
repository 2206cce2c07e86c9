package hostile

import (
	"io"
	"net/http"
	"strings"
)

// behindIt leads to a good page; what comes before it must not hide it.
const behindIt = `<a href="/behind">behind</a>`

// leadsOn serves a page that has to be read to its end: a link to another page stands there.
func leadsOn(before, after string) func(*Site) {
	return func(s *Site) {
		s.handle(bad, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			for _, part := range []string{before, placed(r, behindIt), after} {
				_, _ = io.WriteString(w, part)
			}
		})
		s.hide("/behind", page("<p>behind"))
	}
}

// ledOn is what comes of that.
func ledOn() Expect {
	return Expect{Counters: some{"pages": 2}, Why: says{bad: "crawl: fetched", "/behind": "crawl: fetched"}, Asked: 2}
}

// hidden is what comes of a page whose links are not to be seen.
func hidden() Expect { return fetched().saying("/behind", "never accepted") }

func markup() []Case {
	return []Case{
		{Name: "nested-a-million-deep", Does: "opens a million elements, and closes none", Lay: leadsOn(strings.Repeat("<b>", 1_000_000), ""), Expect: ledOn()},
		{Name: "lists-a-million-deep", Does: "opens a hundred thousand lists and tables within one another", Lay: leadsOn(strings.Repeat("<ul><li><table><tr><td>", 100_000), ""), Expect: ledOn()},
		{Name: "huge-attribute", Does: "has an attribute of five megabytes", Lay: leadsOn(`<p title="`+long("huge", 5<<20)+`">`, ""), Expect: ledOn()},
		{Name: "million-attributes", Does: "has an element with half a million attributes", Lay: leadsOn("<p "+strings.Repeat("a=b c ", 250_000)+">", ""), Expect: ledOn()},
		{Name: "huge-title", Does: "has a title of two megabytes", Lay: leadsOn("<title>"+long("huge title ", 2<<20)+"</title>", ""), Expect: ledOn()},
		{Name: "unclosed-comment", Does: "opens a comment, and never closes it", Lay: leadsOn("<p>text<!-- ", long("more ", 1<<20)), Expect: hidden()},
		{Name: "unclosed-script", Does: "opens a script, and never closes it", Lay: leadsOn("<p>text<script>document.write('", long("more ", 1<<20)), Expect: hidden()},
		{Name: "unclosed-tag", Does: "ends within a tag", Lay: leadsOn("<p>text", `<a href="/poison`), Expect: ledOn().saying("/poison", "never accepted")},
		{Name: "nested-comments", Does: "opens a million comments, and closes each oddly", Lay: leadsOn(strings.Repeat("<!--><!--->", 500_000), ""), Expect: ledOn()},
		{Name: "entity-flood", Does: "has a million entities, that there are and that there are not", Lay: leadsOn(strings.Repeat("&amp;&notanentity;&#x1F600;&#99999999;", 100_000), ""), Expect: ledOn()},
		{Name: "bytes-of-zero", Does: "has NULs in its text, its tags and its links", Lay: leadsOn("<p>te\x00xt<a hr\x00ef='/poison'>x</a><a href='/po\x00ison2'>x</a>"+strings.Repeat("\x00", 100_000), ""),
			Expect: Expect{Counters: some{"pages": 2, "errors": 1, "fetch.status_404": 1}, Why: says{bad: "crawl: fetched", "/behind": "crawl: fetched", "/poison": "never accepted", "/po%EF%BF%BDison2": "404"}, Asked: 3}},
		{
			Name: "line-of-fifty-megabytes", Does: "sends a line of text of fifty megabytes", Options: []string{"fetch.max_body=2MB"},
			Lay: func(s *Site) {
				s.handle(bad, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/plain; charset=utf-8")
					line := long("abcdefghij", 1<<20)
					for range 50 {
						if _, err := io.WriteString(w, line); err != nil {
							return
						}
					}
				})
			},
			Expect: cut(),
		},
		{
			Name: "framed-for-ever", Does: "frames itself, with another query each time", Options: bounded,
			Lay: func(s *Site) {
				s.link("/frame?x")
				s.hide("/frame", generated(func(r *http.Request) string { return `<iframe src="/frame?` + r.URL.RawQuery + `x"></iframe><p>within` }))
			},
			Expect: trapped("/frame?x"),
		},
		{
			Name: "robots-in-page", Does: "says of its pages that they are not to be kept nor followed, in an element and in a header",
			Lay: func(s *Site) {
				s.handle(bad, page(`<meta name="robots" content="noindex, nofollow">`+linking("/poison")))
				s.handle("/bad-header", func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("X-Robots-Tag", "none")
					page(linking("/poison"))(w, r)
				})
			},
			Expect: Expect{
				Counters: some{"errors": 2, "pages": 2, "normalize.noindex": 2, "normalize.nofollow": 2},
				Why:      says{bad: "crawl: gave no document: left out: it asks robots not to keep it (noindex)", "/poison": "never accepted"}, Asked: 2,
			},
		},
	}
}
