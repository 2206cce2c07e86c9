package frontier

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/scope"
)

// StartRedirects determines which redirects of a start its crawl follows out of its own scope. What the last one leads
// to is then the landing of the crawl, and what lies within its scope as seen from there is within the
// crawl, until its next round.
type StartRedirects string

const (
	Permanent StartRedirects = "permanent" // those for good (301, 308), and others within the registrable domain: the default
	Anywhere  StartRedirects = "any"       // all of them
	Nowhere   StartRedirects = "none"      // none: the start's scope is all there is
)

// landing is where the start of a crawl led. The zero value is nowhere.
type landing struct {
	url   string
	scope scope.Matcher // as if the crawl began there
}

func newLanding(url string, s webrace.Scope) (landing, error) {
	if url == "" {
		return landing{}, nil
	}
	m, err := scope.New(url, s)
	return landing{url, m}, err
}

func (l landing) match(url string) bool { return l.url != "" && l.scope.Match(url) }

// lands reports whether a start that leads to where these links do is followed there, wherever that is.
// No page that answers for a while only, a login or an advertisement, takes the crawl of a whole site
// elsewhere; a server that has moved does.
func (q *Queue) lands(l *webrace.Links) bool {
	if l.Via != webrace.ViaRedirect && l.Via != webrace.ViaRefresh || len(l.URLs) != 1 {
		return false
	}
	switch q.opt.StartRedirects {
	case Anywhere:
		return true
	case Nowhere:
		return false
	}
	if l.Permanent {
		return true
	}
	domain, err := scope.New(l.From, webrace.ScopeDomain)
	return err == nil && domain.Match(l.URLs[0])
}

// land notes that the start of crawls led to a URL. The last redirect of a chain decides.
func (o *offer) land(ch *changes, cand *candidate) error {
	for _, b := range cand.bids {
		if !b.lands {
			continue
		}
		next := *b.crawl.pass()
		if o.links.Redirects < next.hops {
			continue // another partition knows of one further on
		}
		if o.q.abroad != nil {
			next.hops = o.links.Redirects
		}
		var err error
		next.moves = next.movedBy(cand.former, cand.url)
		if next.landing, err = newLanding(cand.url, next.Scope); err != nil {
			return err
		}
		if next.scope.Match(cand.url) {
			next.landing = landing{} // it came back
		} else {
			o.result.Landed++
		}
		pointer.Store(&b.crawl.now, &next)
		ch.crawls[b.crawl] = struct{}{}
	}
	return nil
}
