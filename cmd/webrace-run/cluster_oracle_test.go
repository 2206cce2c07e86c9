package main

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/webrace/webrace/xmlschema"
)

// webAccount is what a crawl of the web has to come to by docs/model.md and docs/crawling.md, found by walking it one
// page after the other. It shares no code with the crawler.
type webAccount struct {
	*web
	views  map[webView]webRequest // what is asked for
	crawls map[webCrawl]map[webView]int
	told   map[string]bool // owners, what they asked for, and URLs

	secretly, landed, landedSecretly int // requests with a secret; crawls that a redirect took along to another place, and those with one
}

// webView is a URL as the crawls with a secret see it. Each such view is a document of its own.
type webView struct{ url, of string }

// webCrawl is what requests have in common that one crawl is made for.
type webCrawl struct{ start, scope, secret string }

// account returns what is asked for, and who is told of what, sorted.
func (w *web) account() (requests, told []string, a *webAccount) {
	a = &webAccount{
		web: w, views: make(map[webView]webRequest), crawls: make(map[webCrawl]map[webView]int), told: make(map[string]bool),
	}
	deepest := make(map[webCrawl]int)
	for _, u := range w.urds {
		c := webCrawl{u.URI, u.Scope, u.Secret}
		if before, known := deepest[c]; !known || u.Depth == 0 || before != 0 && u.Depth > before {
			deepest[c] = u.Depth
		}
	}
	for c, depth := range deepest {
		if !strings.HasSuffix(c.start, "*") {
			a.crawls[c] = a.walk(c, depth)
		}
	}
	for _, u := range w.urds {
		a.tell(u)
	}
	for _, r := range a.views {
		requests = append(requests, r.String())
		if r.secret != "" {
			a.secretly++
		}
	}
	for t := range a.told {
		told = append(told, t)
	}
	slices.Sort(requests)
	slices.Sort(told)
	return requests, told, a
}

// walk returns what a crawl comes to, with the levels.
func (a *webAccount) walk(c webCrawl, depth int) map[webView]int {
	levels := make(map[webView]int)
	scopes := []func(string) bool{inScope(c.scope, c.start)}
	now, next, level := a.startChain(c), []string(nil), 1
	if end := now[len(now)-1]; end != c.start {
		scopes = append(scopes, inScope(c.scope, end))
		a.landed++
		if c.secret != "" {
			a.landedSecretly++
		}
	}
	reaches := func(to string) bool {
		return slices.ContainsFunc(scopes, func(holds func(string) bool) bool { return holds(to) })
	}
	for ; len(now) > 0 && (depth == 0 || level <= depth); now, next, level = next, nil, level+1 {
		for i := 0; i < len(now); i++ {
			view := webView{now[i], c.secret}
			if _, came := levels[view]; came {
				continue
			}
			r, p := a.ask(c, now[i])
			levels[view], a.views[view] = level, r
			if p.to != "" && reaches(p.to) {
				now = append(now, p.to)
			}
			for _, to := range p.links {
				if reaches(to) {
					next = append(next, to)
				}
			}
		}
	}
	return levels
}

// startChain returns the start and where it is redirected to, as far as a crawl goes along.
func (a *webAccount) startChain(c webCrawl) []string {
	chain := []string{c.start}
	for {
		last := chain[len(chain)-1]
		_, p := a.ask(c, last)
		switch {
		case p.to == "":
			return chain
		case inScope(c.scope, c.start)(p.to), p.status == 301, p.status == 308, domainOf(p.to) == domainOf(last):
			chain = append(chain, p.to)
		default:
			return chain
		}
	}
}

// ask returns what a crawl asks for at a URL, and what is there for it.
func (a *webAccount) ask(c webCrawl, address string) (webRequest, webPage) {
	r := webRequest{url: address, status: http.StatusNotFound}
	for _, s := range a.secrets {
		if s.name == c.secret && a.isFor(s, hostOfURL(c.start), hostOfURL(address)) {
			r.secret = c.secret
		}
	}
	p, known := a.pages[address]
	switch {
	case !known:
		return r, webPage{}
	case p.opens != "" && p.opens != r.secret:
		r.status = http.StatusUnauthorized
		return r, webPage{}
	}
	r.status = p.status
	return r, p
}

// isFor reports whether a secret may be shown to a host by a crawl that begins at another.
func (w *web) isFor(s webSecret, begins, host string) bool {
	if len(s.hosts) == 0 {
		return host == begins
	}
	for _, h := range s.hosts {
		if domain, wide := strings.CutPrefix(h, "*."); h == host || wide && (host == domain || strings.HasSuffix(host, "."+domain)) {
			return true
		}
	}
	return false
}

// tell notes what the owner of a URD is told of: what its own crawl came to within its depth, or, if it starts none,
// what others' crawls have brought without a secret.
func (a *webAccount) tell(u *xmlschema.URD) {
	below, watches := strings.CutSuffix(u.URI, "*")
	for c, levels := range a.crawls {
		for view, level := range levels {
			its := c == webCrawl{u.URI, u.Scope, u.Secret} && (u.Depth == 0 || level <= u.Depth)
			its = its || watches && view.of == "" && strings.HasPrefix(view.url, below)
			if its && a.views[view].status == http.StatusOK && matters(u, a.pages[view.url].words) {
				a.told[u.Owner+" "+u.ID+" "+view.url] = true
			}
		}
	}
}

// matters reports whether a text has a URD's words.
func matters(u *xmlschema.URD, words []string) bool {
	found := 0
	for _, k := range u.Keywords.Keywords {
		if slices.Contains(words, k.Key) {
			found++
		}
	}
	return found == len(u.Keywords.Keywords) || found > 0 && u.Keywords.Match == xmlschema.MatchAny
}

// inScope returns what lies in a scope, as seen from a URL.
func inScope(scope, from string) func(string) bool {
	return func(to string) bool {
		switch scope {
		case xmlschema.ScopeHost:
			return hostOfURL(to) == hostOfURL(from)
		case xmlschema.ScopeDomain:
			return domainOf(to) == domainOf(from)
		case xmlschema.ScopePrefix:
			return strings.HasPrefix(to, from[:strings.LastIndex(from, "/")+1])
		}
		return true
	}
}

func hostOfURL(address string) string {
	u, _ := url.Parse(address)
	return u.Host
}

// domainOf returns the domain of a site of the web: the last two parts of its name.
func domainOf(address string) string {
	_, domain, _ := strings.Cut(hostOfURL(address), ".")
	return domain
}
