package frontier

import (
	"strings"

	"github.com/webrace/webrace/internal/urlnorm"
)

// Redirects that lead back. A URL that answered by a redirect in this round is asked again in it if it may answer
// otherwise by now ([webrace.Links] Again): its record holds no more where it leads, so that no stored redirect answers
// for it. Otherwise the redirect that closes a circle is told as such, because nothing else would come of it.

// InACircle is what the error of a visit begins with whose redirect closes a circle. The URLs of the circle follow.
const InACircle = "redirects in a circle"

// redirected notes that the URL of a lease that is out has answered by a redirect.
func (q *Queue) redirected(id urlID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := q.leases[id]; l != nil {
		l.redirected = true
	}
}

// hasRedirected reports whether the URL of a lease that is out has answered by a redirect.
func (q *Queue) hasRedirected(id urlID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.leases[id]
	return l != nil && l.redirected
}

// repeat has a URL queued again when its lease ends, if that is out, and reports whether it is.
func (q *Queue) repeat(it item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.leases[it.id]
	if l != nil {
		l.repeat = &it
	}
	return l != nil
}

// repeated returns what a URL is queued again as, whose lease ends; nil if it is not.
func (l *Lease) repeated() *item {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	return l.repeat
}

// circle returns the URLs by which a redirect to a candidate leads back to where it is from, as they answered in this
// round, from there; empty if it does not. What is not answered yet closes a circle itself, if there is one.
func (c *changes) circle(from *redirect, to *candidate) (string, error) {
	if from == nil || len(to.bids) == 0 {
		return "", nil
	}
	urls := []string{from.url}
	for at := to; len(urls) <= c.q.opt.Redirects; {
		rec, _, err := c.known(at)
		if err != nil {
			return "", err
		}
		if at.id == from.from {
			return strings.Join(urls, ", "), nil
		}
		m := rec.mark(to.bids[0].crawl.number)
		if m == nil || m.round != to.bids[0].round || m.queued && !c.q.hasRedirected(at.id) || rec.redirect == "" {
			return "", nil
		}
		urls = append(urls, at.url)
		next := candidate{item: item{id: identify(to.secret, rec.redirect), url: rec.redirect}, identity: urlnorm.Identity(rec.redirect), secret: to.secret}
		next.root = identify(to.secret, next.identity)
		at = &next
	}
	return "", nil
}
