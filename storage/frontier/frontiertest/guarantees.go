package frontiertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

var guarantees = []guarantee{
	{"what was accepted is handed out after a power loss", func(s *session) {
		c := crawlOf("a.org")
		s.seed(c, pages("b.org", 20)...)
		s.kill(0, c)
		s.want(pages("b.org", 20)...)
	}},
	{"what was done is not handed out again in its round", func(s *session) {
		c := crawlOf("a.org")
		s.seed(c, pages("b.org", 6)...)
		var left []string
		for i := range 6 {
			if l := s.take(); i < 3 {
				s.done(l)
			} else {
				left = append(left, l.Request().URL)
				l.Release(webrace.HostReport{})
			}
		}
		s.kill(0)
		if r := s.start(c); !r.Resumed || r.Number != 1 || r.Pending != 3 {
			s.failf("round %+v, want the first one resumed with 3 pending", r)
		}
		s.want(left...)
	}},
	{"a URL is out once at a time", func(s *session) {
		var urls []string
		for i := range 8 {
			urls = append(urls, pages(fmt.Sprintf("h%d.org", i), 2)...)
		}
		s.seed(crawlOf("a.org"), urls...)
		out := map[string]bool{}
		for range len(urls) {
			l := s.take()
			if out[l.Request().URL] {
				s.failf("%s is handed out while it is out", l.Request().URL)
			}
			out[l.Request().URL] = true
			l.Release(webrace.HostReport{})
		}
	}},
	{"a round that is finished is followed by one that asks for everything", func(s *session) {
		c := crawlOf("a.org")
		s.seed(c)
		s.kill(time.Hour)
		if r := s.start(c); r.Resumed || r.Number != 2 {
			s.failf("round %+v, want a second one", r)
		}
		all := s.drain()
		if len(all) != 1 || all[0].Stored || all[0].Visit == nil || all[0].Visit.Version != 1 {
			s.failf("requests are %+v, want the start with its last visit", all)
		}
	}},
	{"crawls share a request and get their own distances", func(s *session) {
		one, other := crawlOf("a.org"), webrace.Crawl{ID: "b", Start: "http://a.org/", Levels: 2, Scope: webrace.ScopeHost}
		s.start(one)
		s.start(other)
		l := s.take()
		want := []webrace.Reach{{Crawl: "a.org"}, {Crawl: "b"}}
		if !slices.Equal(l.Request().Reach, want) {
			s.failf("reach is %v, want %v", l.Request().Reach, want)
		}
		s.links(l, "http://a.org/x", "http://elsewhere.org/")
		s.done(l)
		for _, r := range s.drain() {
			if alone := len(r.Reach) == 1; alone != (r.URL == "http://elsewhere.org/") || r.Reach[0].Distance != 1 {
				s.failf("reach of %s is %v", r.URL, r.Reach)
			}
		}
	}},
	{"a crawl that comes later in a round is served from the store", func(s *session) {
		s.options.Began = s.at
		s.kill(0)
		s.seed(crawlOf("a.org"))
		s.start(webrace.Crawl{ID: "later", Start: "http://a.org/", Scope: webrace.ScopeHost})
		if all := s.drain(); len(all) != 1 || !all[0].Stored {
			s.failf("requests are %+v, want the start, stored", all)
		}
	}},
	{"a delay survives a power loss", func(s *session) {
		c := crawlOf("a.org")
		s.start(c)
		s.finish(s.take(), frontier.Outcome{RetryAt: s.now().Add(time.Hour)})
		s.kill(0, c)
		s.want()
		if st := s.queue.Stats(); st.Delayed != 1 || st.Due != 1 {
			s.failf("stats %+v, want one delayed and deferred", st)
		}
		s.kill(2*time.Hour, c)
		s.want(c.Start)
	}},
	{"how a host wants to be treated survives a power loss", func(s *session) {
		c := crawlOf("a.org")
		s.start(c)
		l := s.take()
		s.links(l, "http://a.org/1", "http://b.org/")
		l.Release(webrace.HostReport{NotBefore: s.now().Add(time.Hour)})
		s.done(l)
		s.kill(0, c)
		s.want("http://b.org/")
		s.kill(2*time.Hour, c)
		s.want("http://a.org/1")
	}},
	{"what fails is tried as often as the options say", func(s *session) {
		s.options.Attempts = 3
		c := crawlOf("a.org")
		s.kill(0, c)
		for range 3 {
			s.finish(s.take(), frontier.Outcome{RetryAt: s.now()})
		}
		s.want()
		if st := s.queue.Stats(); st.Failed != 1 || st.Queued != 0 {
			s.failf("stats %+v, want one failed", st)
		}
	}},
	{"urgencies share eight to three to one", func(s *session) {
		for urgency := 1; urgency <= 3; urgency++ {
			c := crawlOf(fmt.Sprintf("start%d.org", urgency))
			c.Urgency = urgency
			s.start(c)
			l := s.take()
			for host := range 10 {
				s.links(l, pages(fmt.Sprintf("%d-%d.org", urgency, host), 20)...)
			}
			for l.Request().URL != c.Start { // more urgent ones may come first
				s.failf("the start of %s comes after %s", c.ID, l.Request().URL)
			}
			s.done(l)
			if urgency < 3 {
				continue
			}
			count := map[byte]int{}
			for range 120 {
				l := s.take()
				count[l.Request().URL[len("http://")]]++
				s.done(l)
			}
			if count['1'] != 10 || count['2'] != 30 || count['3'] != 80 {
				s.failf("of 120 URLs, %d, %d and %d have urgency 1, 2 and 3", count['1'], count['2'], count['3'])
			}
		}
	}},
	{"no host starves, however many are busy", func(s *session) {
		s.options.Window = 4
		s.kill(0)
		var urls []string
		for i := range 20 {
			urls = append(urls, pages(fmt.Sprintf("h%d.org", i), 100)...)
		}
		s.seed(crawlOf("a.org"), urls...)
		served := map[string]bool{}
		for range len(urls) / 2 {
			l := s.take()
			var host int
			fmt.Sscanf(l.Request().URL, "http://h%d", &host)
			served[fmt.Sprint(host)] = true
			s.done(l)
		}
		if len(served) != 20 {
			s.failf("%d of 20 hosts were served in half of the requests", len(served))
		}
	}},
	{"every order gives everything once", func(s *session) {
		c := crawlOf("a.org")
		var all []string
		for i, order := range frontier.Orders {
			s.options.Order = order
			s.kill(0, c)
			if i == 0 {
				l := s.take()
				s.links(l, "http://page.org/")
				s.done(l)
			}
			l := s.take()
			urls := pages(fmt.Sprintf("h%d.org", i), 40)
			s.links(l, urls...)
			all = append(all, urls...)
			all = slices.DeleteFunc(all, func(u string) bool { return u == l.Request().URL })
			s.done(l)
		}
		s.want(all...)
	}},
	{"a host takes no more URLs than it may", func(s *session) {
		s.options.HostURLs = 5
		c := crawlOf("a.org")
		s.kill(0, c)
		l := s.take()
		if o := s.links(l, pages("b.org", 9)...); o.Accepted != 5 || o.Refused[frontier.HostFull] != 4 {
			s.failf("offered %+v, want 5 accepted and 4 refused", o)
		}
		s.done(l)
		s.kill(0, c)
		s.want(pages("b.org", 5)...)
	}},
	{"a paused host waits until it is resumed", func(s *session) {
		c := crawlOf("a.org")
		s.seed(c, append(pages("b.org", 3), "http://c.org/")...)
		s.must(s.store.Pause(s.ctx, pipeline, "b.org"), "pause")
		s.kill(0, c)
		s.want("http://c.org/")
		s.must(s.store.Resume(s.ctx, pipeline, "b.org"), "resume")
		s.kill(0, c)
		s.want(pages("b.org", 3)...)
	}},
	{"a host that is dropped has nothing queued", func(s *session) {
		c := crawlOf("a.org")
		s.seed(c, append(pages("b.org", 300), "http://c.org/")...)
		n, err := s.store.Drop(s.ctx, pipeline, "b.org")
		s.must(err, "drop")
		if n != 300 {
			s.failf("%d URLs were dropped, want 300", n)
		}
		s.kill(0, c)
		s.want("http://c.org/")
	}},
	{"standings say what a crawl cost and waits for", func(s *session) {
		s.seed(crawlOf("a.org"), "http://b.org/")
		s.kill(0)
		all, err := s.store.CrawlStatuses(pipeline)
		s.must(err, "standings")
		if len(all) != 1 || all[0].Requests != 1 || all[0].Pending != 1 || all[0].Round != 1 || all[0].Visited.IsZero() {
			s.failf("standings are %+v, want one request and one URL pending in the first round", all)
		}
	}},
	{"promises hold through many power losses", manyLosses},
}

// manyLosses works at random, loses power at random, and holds every promise against what comes after.
func manyLosses(s *session) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := crawlOf("h0.org")
	s.start(c)
	accepted, done := map[string]bool{c.Start: true}, map[string]bool{}
	out := map[string]Lease{}
	for range 400 {
		switch n := rng.IntN(20); {
		case n == 0:
			s.kill(0, c)
			out = map[string]Lease{}
		case n < 8 && len(done)+len(out) < len(accepted):
			l := s.take()
			url := l.Request().URL
			if done[url] && !l.Request().Stored || out[url] != nil || !accepted[url] {
				s.failf("%s is handed out: done %v, out %v, accepted %v", url, done[url], out[url] != nil, accepted[url])
			}
			out[url] = l
			l.Release(webrace.HostReport{})
		default:
			for url, l := range out {
				if n%2 == 0 && len(accepted) < 300 {
					next := fmt.Sprintf("http://h%d.org/%d", rng.IntN(5), len(accepted))
					s.links(l, next)
					accepted[next] = true
				}
				s.done(l)
				done[url] = true
				delete(out, url)
				break
			}
		}
	}
	s.kill(0, c)
	var left []string
	for url := range accepted {
		if !done[url] {
			left = append(left, url)
		}
	}
	s.want(left...)
}
