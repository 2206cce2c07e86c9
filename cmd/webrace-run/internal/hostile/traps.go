package hostile

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// hostURLs is how many URLs of a host crawls of traps may accept. A site has eleven good ones.
const hostURLs = 60

// bounded bounds what a trap may cost.
var bounded = []string{"frontier.host_urls=" + strconv.Itoa(hostURLs)}

// trapped is what comes of an endless trap that begins at a URL: pages up to the bound.
func trapped(url string) Expect {
	pages := hostURLs - goodPages - 1
	return Expect{Counters: some{"pages": int64(pages)}, Why: says{url: "crawl: fetched"}, Asked: pages}
}

// generated serves pages that a function makes of their requests.
func generated(f func(r *http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { page(f(r))(w, r) }
}

func traps() []Case {
	return []Case{
		{
			Name: "calendar", Does: "has a calendar with a page for each month of all time", Options: []string{"frontier.dated_pages=40", "frontier.far_dates=5"},
			Lay: func(s *Site) {
				s.link(time.Now().Format("/calendar/2006/01"))
				s.handle("/calendar/*", generated(func(r *http.Request) string {
					var year, month int
					_, _ = fmt.Sscanf(r.URL.Path, "/calendar/%d/%d", &year, &month)
					at := year*12 + month - 1
					url := func(at int) string { return fmt.Sprintf("/calendar/%d/%02d", at/12, at%12+1) }
					return linking(url(at-1), url(at+1)) + "<p>nothing happens in " + url(at)
				}))
			},
			Expect: Expect{
				Counters: some{"pages": 45, "frontier.refused_trap_dates": 1, "frontier.refused_trap_far_dates": 1},
				Why:      says{time.Now().Format("/calendar/2006/01"): "crawl: fetched"}, Asked: 45,
			},
		},
		{
			Name: "session-in-query", Does: "puts a new session into the query of each link",
			Lay: func(s *Site) {
				var session atomic.Int64
				s.link("/shop?sid=0")
				s.handle("/shop", generated(func(*http.Request) string {
					return linking(fmt.Sprintf("/shop?sid=%x", hash(fmt.Sprint(session.Add(1)))), "/good/1") + "<p>the shop"
				}))
				s.links = s.links[:1]
			},
			Expect: Expect{Counters: some{"pages": 2}, Why: says{"/shop?sid=0": "crawl: fetched", "/shop": "crawl: fetched"}, Asked: 2},
		},
		{
			Name: "session-in-path", Does: "puts a new session into the path of each link",
			Lay: func(s *Site) {
				var session atomic.Int64
				s.link("/(S(0))/shop")
				shop := generated(func(*http.Request) string {
					return linking(fmt.Sprintf("/(S(%x))/shop", hash(fmt.Sprint(session.Add(1))))) + "<p>the shop"
				})
				s.hide("/(S(*", shop)
				s.hide("/shop", shop)
			},
			Expect: Expect{Counters: some{"pages": 1}, Why: says{"/shop": "crawl: fetched"}, Asked: 1},
		},
		{
			Name: "growing-path", Does: "answers any path with a relative link that makes it longer",
			Lay: func(s *Site) {
				s.link("/deeper/")
				s.handle("/deeper/*", generated(func(*http.Request) string { return linking("deeper/") + "<p>deep" }))
			},
			Expect: Expect{
				Counters: some{"pages": 2, "frontier.refused_trap_repeats": 1},
				Why:      says{"/deeper/": "crawl: fetched", "/deeper/deeper/deeper/": "never accepted: "}, Asked: 2,
			},
		},
		{
			Name: "path-that-never-repeats", Does: "answers any path with a link that makes it longer by a name that it never had", Options: []string{"frontier.path_depth=10"},
			Lay: func(s *Site) {
				s.link("/down/0/")
				s.handle("/down/*", generated(func(r *http.Request) string {
					return linking(fmt.Sprintf("n%x/", hash(r.URL.Path))) + "<p>down " + r.URL.Path
				}))
			},
			Expect: Expect{Counters: some{"pages": 9, "frontier.refused_trap_depth": 1}, Why: says{"/down/0/": "crawl: fetched"}, Asked: 9},
		},
		{
			Name: "query-that-grows", Does: "adds a parameter to the query of its link on each page", Options: []string{"frontier.query_parameters=8"},
			Lay: func(s *Site) {
				s.link("/grow?p0=0")
				s.hide("/grow", generated(func(r *http.Request) string {
					return linking(fmt.Sprintf("/grow?%s&amp;p%d=0", r.URL.RawQuery, len(r.URL.Query()))) + "<p>grown to " + r.URL.RawQuery
				}))
			},
			Expect: Expect{Counters: some{"pages": 8, "frontier.refused_trap_parameters": 1}, Why: says{"/grow?p0=0": "crawl: fetched"}, Asked: 8},
		},
		{
			Name: "parameter-explosion", Does: "offers each page in each order, filtered by each set of twenty facets", Options: []string{"frontier.path_queries=30"},
			Lay: func(s *Site) {
				s.link("/list?f0=1")
				s.hide("/list", generated(func(r *http.Request) string {
					var urls []string
					for i := range 20 {
						urls = append(urls, fmt.Sprintf("/list?%s&amp;f%d=1", r.URL.RawQuery, i))
					}
					return linking(urls...) + "<p>a list"
				}))
			},
			Expect: Expect{
				Counters: some{"pages": 51, "frontier.refused_trap_queries": 970},
				Why:      says{"/list?f0=1": "crawl: fetched"}, Asked: 51,
			},
		},
		{
			Name: "host-explosion", Does: "links to a thousand hosts under its domain, and each would to a thousand more",
			Lay: func(s *Site) {
				var urls []string
				for i := range 1000 {
					urls = append(urls, fmt.Sprintf("http://h%d.site.test/", i))
				}
				s.handle(bad, page(linking(urls...)))
			},
			Expect: Expect{
				Counters: some{"pages": 1, "frontier.refused_scope": 1000},
				Why:      says{bad: "crawl: fetched", "http://h999.site.test/": "never accepted: it lies outside the scope of the crawls"}, Asked: 1,
			},
		},
		{
			Name: "duplicates", Does: "has the same page under a hundred URLs",
			Lay: func(s *Site) {
				same := page(goodText(77))
				for i := range 100 {
					s.handle("/same/"+strconv.Itoa(i), same)
				}
			},
			Expect: Expect{Counters: some{"pages": 100}, Why: says{"/same/99": "crawl: fetched"}, Asked: 100},
		},
		{
			Name: "soft-404", Does: "answers any path with 200 and a page that says that there is none",
			Lay: func(s *Site) {
				s.hide("/*", page("<title>Not found</title><h1>404 Not Found</h1><p>The page you requested could not be found."))
				for i := range 20 {
					s.link("/missing/" + strconv.Itoa(i))
				}
			},
			Expect: Expect{Counters: some{"pages": 20}, Why: says{"/missing/19": "crawl: fetched"}, Asked: 20},
		},
		{
			Name: "soft-404-that-grows", Does: "answers any path with 200, and a relative link that leads to another such",
			Lay: func(s *Site) {
				s.link("/missing/")
				s.hide("/*", page("<title>Not found</title><p>Not here. <a href=\"help/index.html\">Help</a> <a href=help/>More</a>"))
			},
			Expect: Expect{
				Counters: some{"pages": 5, "frontier.refused_trap_repeats": 4},
				Why:      says{"/missing/": "crawl: fetched", "/missing/help/help/help/": "never accepted: "}, Asked: 5,
			},
		},
		{
			Name: "hundred-thousand-links", Does: "links to a hundred thousand pages on one", Depth: 2,
			Lay: func(s *Site) {
				var urls []string
				for i := range 100_000 {
					urls = append(urls, "/leaf/"+strconv.Itoa(i))
				}
				s.handle(bad, page(linking(urls...)))
			},
			Expect: Expect{
				Counters: some{"pages": 1, "normalize.over_limit": 90_000, "frontier.refused_depth": 10_000},
				Why:      says{bad: "crawl: fetched", "/leaf/1": "never accepted"}, Asked: 1,
			},
		},
		{
			Name: "one-link-in-many-spellings", Does: "links to the same page a hundred thousand times, with other fragments",
			Lay: func(s *Site) {
				var urls []string
				for i := range 100_000 {
					urls = append(urls, "/behind#"+strconv.Itoa(i))
				}
				s.handle(bad, page(linking(urls...)))
				s.hide("/behind", page("<p>behind"))
			},
			Expect: Expect{Counters: some{"pages": 2, "normalize.repeated": 99_999}, Why: says{bad: "crawl: fetched", "/behind": "crawl: fetched"}, Asked: 2},
		},
		{
			Name: "endless-url", Does: "links to a URL of three thousand bytes, and to one of ten thousand",
			Lay:    func(s *Site) { s.handle(bad, page(linking("/"+long("long", 3000), "/"+long("long", 10_000)))) },
			Expect: Expect{Counters: some{"pages": 1, "normalize.invalid": 1, "frontier.refused_trap_length": 1}, Why: says{bad: "crawl: fetched"}, Asked: 1},
		},
		{
			Name: "tracked-links", Does: "links to its pages with parameters that only tell who followed the link",
			Lay: func(s *Site) {
				for i := range 50 {
					s.link(fmt.Sprintf("/good/%d?utm_source=%d&amp;fbclid=%d", i%goodPages, i, i))
				}
			},
			Expect: Expect{Why: says{"/good/1": "crawl: fetched"}},
		},
		{
			Name: "circles", Does: "links each of thirty pages to all of them, in ever other order",
			Lay: func(s *Site) {
				for i := range 30 {
					var urls []string
					for j := range 30 {
						urls = append(urls, fmt.Sprintf("/circle/%d", (i*7+j)%30))
					}
					s.handle(fmt.Sprintf("/circle/%d", i), page(linking(urls...)+strings.Repeat("<p>round", i)))
				}
			},
			Expect: Expect{Counters: some{"pages": 30}, Why: says{"/circle/29": "crawl: fetched"}, Asked: 30},
		},
	}
}
