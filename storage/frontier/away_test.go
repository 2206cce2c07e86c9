package frontier

import (
	"testing"

	"github.com/webrace/webrace"
)

// A start is asked in rounds: each answers with a document (""), or with a status and where it leads to, from where on
// there is a document. It is away where that is not followed.
func TestAStartThatHasGivenDocumentsIsNotFollowedAwayForAWhile(t *testing.T) {
	t.Parallel()
	type answer struct {
		status int
		to     string
		away   bool
	}
	document := answer{status: 200}
	for _, c := range []struct {
		name      string
		redirects StartRedirects
		rounds    []answer
	}{
		{name: "maintenance", rounds: []answer{document, {302, "http://a.org/back-soon", true}, {307, "http://a.org/back-soon", true}, document}},
		{name: "a login with another address each time", rounds: []answer{document, {303, "http://a.org/login?1", true}, document, {303, "http://a.org/login?2", true}}},
		{name: "out of its scope", rounds: []answer{document, {302, "http://status.a.org/", true}}},
		{name: "always elsewhere", rounds: []answer{{302, "http://a.org/en/", false}, {302, "http://a.org/en/", false}, {302, "http://a.org/de/", false}}},
		{name: "where it led before", rounds: []answer{{302, "http://a.org/en/", false}, document, {302, "http://a.org/en/", false}, {302, "http://a.org/de/", true}}},
		{name: "for good", rounds: []answer{document, {301, "http://a.org/new", false}}},
		{name: "to its own address", rounds: []answer{document, {302, "https://www.a.org/docs", false}}},
		{name: "where any redirect is wanted", redirects: Anywhere, rounds: []answer{document, {302, "http://a.org/back-soon", false}}},
		{name: "where none out of its scope is", redirects: Nowhere, rounds: []answer{document, {302, "http://a.org/back-soon", true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, QueueOptions{StartRedirects: c.redirects, Fresh: -1})
			for i, a := range c.rounds {
				f.start(hostCrawl, true)
				l := f.take()
				f.wantURL(l, hostCrawl.Start)
				if a.status == 200 {
					f.done(l)
					f.reopen()
					continue
				}
				o := f.redirect(l, a.status, a.to)
				if away := o.Refused[Away] == 1; away != a.away || o.Accepted == 1 == a.away {
					t.Errorf("round %d: %+v", i+1, o)
				}
				if !a.away {
					f.done(f.take())
				}
				f.none()
				f.reopen()
			}
		})
	}
}

// A page deep in a site is followed: many a server answers 302 for what has moved for good.
func TestAPageBehindTheStartIsFollowedWhereverItLeads(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	for i := range 2 {
		f.start(webrace.Crawl{ID: "a", Start: "http://a.org/docs/"}, true)
		l := f.take()
		f.links(l, "http://a.org/1")
		f.done(l)
		if i == 0 {
			f.done(f.take())
			f.reopen()
			continue
		}
		if o := f.redirect(f.take(), 302, "http://a.org/2"); o.Accepted != 1 {
			t.Errorf("offered: %+v", o)
		}
	}
}
