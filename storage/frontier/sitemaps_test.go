package frontier

import (
	"fmt"
	"testing"

	"github.com/webrace/webrace"
)

// A site that makes up a further sitemap on each one leads a crawl no further than five in a row, and then by its
// levels.
func TestAChainOfSitemapsEndsWithTheLevels(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	c := crawlOf("a.org")
	c.Levels = 4
	f.start(c, true)
	l := f.take()
	f.offer(webrace.Links{From: "http://a.org/robots.txt", Reach: l.Request().Reach, Via: webrace.ViaRobots, URLs: []string{"http://a.org/1.xml"}})
	f.done(l)
	var distances []int
	for i := 1; ; i++ {
		if i == 3 {
			f.crash() // how many led there is durable
			f.start(c, false)
		}
		l = f.take()
		distances = append(distances, l.Request().Reach[0].Distance)
		from, via := l.Request(), webrace.ViaSitemap
		if i == 2 {
			via = webrace.ViaRedirect // which does not begin the count anew
		}
		o := f.offer(webrace.Links{From: from.URL, Reach: from.Reach, Via: via, Redirects: from.Redirects + 1, URLs: []string{fmt.Sprintf("http://a.org/%d.xml", i+1)}})
		if i == 1 {
			if e, err := f.q.WhyWith("", "http://a.org/2.xml"); err != nil || e.Lister != "http://a.org/1.xml" {
				t.Errorf("a queued URL is listed by %q, %v", e.Lister, err)
			}
		}
		f.done(l)
		if o.Refused[Depth] == 1 {
			break
		}
	}
	if got := fmt.Sprint(distances); got != "[1 1 1 1 1 1 2 3]" {
		t.Errorf("sitemaps lie at %s", got)
	}
	if e, err := f.q.WhyWith("", "http://a.org/2.xml"); err != nil || e.Lister != "http://a.org/1.xml" {
		t.Errorf("a visited URL is listed by %q, %v", e.Lister, err)
	}
	if e, err := f.q.WhyWith("", "http://a.org/3.xml"); err != nil || e.Lister != "" {
		t.Errorf("where a redirect leads is listed by %q, %v", e.Lister, err)
	}
}
