package frontier

import (
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

// hostCrawl begins at http://a.org/docs/ and stays on that host.
var hostCrawl = webrace.Crawl{ID: "a", Start: "http://a.org/docs/", Scope: webrace.ScopeHost}

// redirect offers where the URL of a lease is redirected to, and ends the lease.
func (f *fixture) redirect(l *Lease, status int, to string) Offered {
	f.t.Helper()
	r := l.Request()
	o := f.offer(webrace.Links{
		From: r.URL, Reach: r.Reach, Via: webrace.ViaRedirect, Redirects: r.Redirects + 1, Permanent: isPermanent(status), URLs: []string{to},
	})
	f.finish(l, f.visited(status, 0))
	return o
}

func TestACrawlGoesOnWhereItsStartLeads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		redirects StartRedirects
		scope     webrace.Scope
		status    int
		to        string
		follows   bool
		links     []string
		accepted  []string
	}{
		{name: "moved for good", status: 301, to: "https://b.com/x/", follows: true,
			links:    []string{"http://b.com/y", "http://www.b.com/", "http://a.org/1", "http://c.com/"},
			accepted: []string{"http://b.com/y", "http://a.org/1"}},
		{name: "to its www", status: 302, to: "http://www.a.org/", follows: true,
			links: []string{"http://www.a.org/1", "http://x.a.org/"}, accepted: []string{"http://www.a.org/1"}},
		{name: "to a login elsewhere", status: 302, to: "http://login.com/", follows: false},
		{name: "to a login elsewhere, which is wanted", redirects: Anywhere, status: 302, to: "http://login.com/", follows: true,
			links: []string{"http://login.com/1"}, accepted: []string{"http://login.com/1"}},
		{name: "not wanted", redirects: Nowhere, status: 301, to: "http://www.a.org/", follows: false},
		{name: "the domain of the target", scope: webrace.ScopeDomain, status: 308, to: "http://www.b.com/", follows: true,
			links: []string{"http://x.b.com/", "http://x.a.org/", "http://c.com/"}, accepted: []string{"http://x.b.com/", "http://x.a.org/"}},
		{name: "the directory of the target", scope: webrace.ScopePrefix, status: 302, to: "http://a.org/en/docs/", follows: true,
			links:    []string{"http://a.org/en/docs/1", "http://a.org/docs/1", "http://a.org/en/"},
			accepted: []string{"http://a.org/en/docs/1", "http://a.org/docs/1"}},
		{name: "within its scope", status: 301, to: "https://a.org/en/", follows: true,
			links: []string{"http://a.org/1", "http://b.com/"}, accepted: []string{"http://a.org/1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, QueueOptions{StartRedirects: c.redirects})
			crawl := hostCrawl
			if c.scope != "" {
				crawl.Scope = c.scope
			}
			f.start(crawl, true)
			o := f.redirect(f.take(), c.status, c.to)
			if follows := o.Accepted == 1; follows != c.follows || o.Accepted+o.Refused[Scope] != 1 {
				t.Fatalf("offered: %+v", o)
			}
			if !c.follows {
				f.none()
				return
			}
			if landed, want := o.Landed == 1, !mustMatch(t, crawl, c.to); landed != want {
				t.Errorf("landed: %v, want %v", landed, want)
			}
			f.crash() // where it landed is as durable as that the URL is queued
			f.start(crawl, true)
			l := f.take()
			f.wantURL(l, c.to)
			f.wantReach(l, webrace.Reach{Crawl: "a", Distance: 0})
			if o := f.links(l, c.links...); o.Accepted != len(c.accepted) || o.Accepted+o.Refused[Scope] != len(c.links) {
				t.Errorf("offered: %+v", o)
			}
			f.done(l)
			got, want := f.drain(), slices.Clone(c.accepted) // hosts take turns
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("went on to %v, want %v", got, want)
			}
		})
	}
}

func mustMatch(t *testing.T, c webrace.Crawl, url string) bool {
	t.Helper()
	l, err := newLanding(c.Start, c.Scope)
	if err != nil {
		t.Fatal(err)
	}
	return l.match(url)
}

func TestWhereAStartLedIsExplained(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(hostCrawl, true)
	f.redirect(f.take(), 301, "http://b.com/")
	f.drain()
	f.reopen()
	for url, to := range map[string]string{"http://a.org/docs/": "http://b.com/", "http://b.com/": ""} {
		why, err := f.q.Why(url)
		if err != nil || len(why) != 1 || len(why[0].Reached) != 1 {
			t.Fatalf("%s: %+v, %v", url, why, err)
		}
		if got := why[0]; got.Moved != to || got.Reached[0].Landing != "http://b.com/" {
			t.Errorf("%s: %+v", url, got)
		}
	}
}

// A page deep within a site is no start: what it redirects to has to lie within the scope.
func TestOnlyTheStartTakesACrawlElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(hostCrawl, true)
	l := f.take()
	f.links(l, "http://a.org/1")
	f.done(l)
	if o := f.redirect(f.take(), 301, "http://b.com/"); o.Refused[Scope] != 1 {
		t.Errorf("offered: %+v", o)
	}
	f.none()
}

// What lies between the start and where it leads in the end is no part of the crawl.
func TestTheEndOfAChainIsWhereACrawlLands(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(hostCrawl, true)
	f.redirect(f.take(), 301, "http://b.com/")
	f.redirect(f.take(), 301, "http://c.com/")
	l := f.take()
	if o := f.links(l, "http://b.com/1", "http://c.com/1"); o.Accepted != 1 || o.Refused[Scope] != 1 {
		t.Errorf("offered: %+v", o)
	}
	f.done(l)
	if got := f.drain(); !slices.Equal(got, []string{"http://c.com/1"}) {
		t.Errorf("went on to %v", got)
	}
}

// Each round goes where the start leads then.
func TestANewRoundForgetsWhereTheLastOneLanded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Fresh: -1})
	f.start(hostCrawl, true)
	f.redirect(f.take(), 301, "http://b.com/")
	f.drain()
	f.reopen()
	f.start(hostCrawl, true)
	l := f.take()
	if o := f.links(l, "http://b.com/1"); o.Refused[Scope] != 1 {
		t.Errorf("offered: %+v", o)
	}
	f.done(l)
	f.reopen()
	f.start(hostCrawl, true)
	if o := f.redirect(f.take(), 301, "http://c.com/"); o.Accepted != 1 {
		t.Errorf("offered: %+v", o)
	}
}

// A start that was asked a moment ago answers from the store, with where it led.
func TestAStoredRedirectOfAStartLandsAsWell(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{})
	f.start(hostCrawl, true)
	f.redirect(f.take(), 301, "http://b.com/")
	f.drain()
	f.reopen()
	f.start(hostCrawl, true)
	l := f.take()
	f.wantURL(l, "http://b.com/")
	f.wantStored(l, true)
	if o := f.links(l, "http://b.com/1"); o.Accepted != 1 {
		t.Errorf("offered: %+v", o)
	}
}
