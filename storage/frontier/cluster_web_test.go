package frontier

import (
	"fmt"
	"math/rand/v2"

	"github.com/webrace/webrace"
)

// randomWeb is a web of many hosts: pages that lead to others, redirects, sitemaps. It does not change.
type randomWeb map[string]*webPage

type webPage struct {
	status int
	links  []webrace.Links // without From and Reach
}

func webURL(host, page int) string {
	if page == 0 {
		return fmt.Sprintf("http://h%d.d%d.org/", host, host%3)
	}
	return fmt.Sprintf("http://h%d.d%d.org/%d/%d", host, host%3, page%2, page)
}

func newRandomWeb(rng *rand.Rand, hosts, pages int) randomWeb {
	w := randomWeb{}
	anywhere := func() string { return webURL(rng.IntN(hosts), rng.IntN(pages)) }
	for h := range hosts {
		for p := range pages {
			w[webURL(h, p)] = newWebPage(rng, anywhere)
		}
	}
	for url, page := range w { // no chain of redirects has an end that is not a page
		for i := range page.links {
			l := &page.links[i]
			if l.Via == webrace.ViaRedirect && l.URLs[0] <= url {
				page.status, l.Via, l.Permanent = 200, webrace.ViaLink, false
			}
		}
	}
	return w
}

func newWebPage(rng *rand.Rand, anywhere func() string) *webPage {
	some := func(n int) (urls []string) {
		seen := map[string]bool{}
		for range n {
			if u := anywhere(); !seen[u] {
				seen[u] = true
				urls = append(urls, u)
			}
		}
		return urls
	}
	switch n := rng.IntN(100); {
	case n < 5:
		return &webPage{status: 404}
	case n < 20:
		status := 301 + rng.IntN(2)
		return &webPage{status: status, links: []webrace.Links{{Via: webrace.ViaRedirect, Permanent: status == 301, URLs: some(1)}}}
	case n < 26:
		return &webPage{status: 200, links: []webrace.Links{
			{Via: webrace.ViaRobots, URLs: some(1)}, {Via: webrace.ViaLink, URLs: some(2)},
		}}
	case n < 32:
		return &webPage{status: 200, links: []webrace.Links{{Via: webrace.ViaFeed, URLs: some(4)}, {Via: webrace.ViaCanonical, URLs: some(1)}}}
	}
	return &webPage{status: 200, links: []webrace.Links{{Via: webrace.ViaLink, URLs: some(2 + rng.IntN(5))}}}
}

// offers returns what the page of a lease points to.
func (w randomWeb) offers(l *Lease) (all []webrace.Links) {
	r := l.Request()
	for _, links := range w[r.URL].links {
		links.From, links.Reach = r.URL, r.Reach
		if links.Via.SameLevel() {
			links.Redirects = l.item.redirects + 1
		}
		all = append(all, links)
	}
	return all
}

// someCrawls are crawls of all scopes, of some and of all levels, with the credentials of two and with none.
func (w randomWeb) someCrawls(rng *rand.Rand, hosts, n int) (all []webrace.Crawl) {
	scopes := []webrace.Scope{webrace.ScopeAny, webrace.ScopeAny, webrace.ScopeDomain, webrace.ScopeDomain, webrace.ScopeHost, webrace.ScopePrefix}
	for i := range n {
		start := webURL(rng.IntN(hosts), rng.IntN(3))
		for tries := 0; rng.IntN(2) == 0 && !isRedirect(w[start].status) && tries < 20; tries++ {
			start = webURL(rng.IntN(hosts), rng.IntN(3))
		}
		all = append(all, webrace.Crawl{
			ID: fmt.Sprint("c", i), Start: start, Scope: scopes[rng.IntN(len(scopes))],
			Secret: []string{"", "", "s"}[rng.IntN(3)], Levels: []int{0, 0, 3, 4, 5}[rng.IntN(5)], Urgency: 1 + rng.IntN(3),
		})
	}
	return all
}

// seenURL is what one crawl comes to.
type seenURL struct{ crawl, url string }

// visits are what was asked for, and from how near crawls came to what, in one round.
type visits struct {
	asked map[string]int // by secret and URL: how often
	near  map[seenURL]int
}

func newVisits() *visits { return &visits{asked: map[string]int{}, near: map[seenURL]int{}} }

func (v *visits) note(r webrace.Request, w randomWeb) {
	if !r.Stored {
		v.asked[r.Secret+" "+r.URL]++
	}
	if isRedirect(w[r.URL].status) {
		return // the queue sends a crawl on that comes later, and hands nothing out
	}
	for _, reach := range r.Reach {
		at := seenURL{reach.Crawl, r.URL}
		if d, ok := v.near[at]; !ok || reach.Distance < d {
			v.near[at] = reach.Distance
		}
	}
}
