package frontier

import (
	"slices"
	"strings"
)

// A start that has given documents, and sends its clients elsewhere for a while (302, 303, 307), is not followed: what
// answers there, that a site is being worked on or wants a login, is neither the document nor news. Where a start has
// led before, as by a cookie wall or to the language of its reader, it may lead again; and nobody is sent away who is
// only sent to another spelling of the same address.

// keepHome takes out of the bids for a URL those of starts that the offer leads away there, and reports whether any is
// left: crawls that came to the redirect from another page follow it.
func (o *offer) keepHome(ch *changes, to *candidate) (followed bool, err error) {
	away, err := ch.ledAway(o.redirect, to)
	if !away || err != nil {
		return true, err
	}
	o.result.Refused[Away]++
	to.bids = slices.DeleteFunc(to.bids, func(b bid) bool { return b.distance == 0 })
	return len(to.bids) > 0, nil
}

// ledAway reports whether a redirect for a while leads clients of a start away from its own documents.
func (c *changes) ledAway(from *redirect, to *candidate) (bool, error) {
	if from == nil || from.permanent || c.q.opt.StartRedirects == Anywhere || bare(from.url) == bare(to.url) {
		return false, nil
	}
	if !slices.ContainsFunc(to.bids, func(b bid) bool { return b.distance == 0 }) {
		return false, nil
	}
	rec, err := c.record(from.from)
	if err != nil || !slices.ContainsFunc(rec.marks, func(m mark) bool { return m.version > 0 }) {
		return false, err
	}
	if slices.ContainsFunc(to.bids, func(b bid) bool { return b.crawl.pass().led == to.identity }) {
		return false, nil
	}
	rec, _, err = c.known(to)
	return err != nil || !rec.isStart(), err
}

// isStart reports whether a crawl begins at a URL, or has followed its start there.
func (r *record) isStart() bool {
	return slices.ContainsFunc(r.marks, func(m mark) bool { return m.best == 1 })
}

// bare returns a URL without what servers add to their own addresses, or take off: the scheme, www and a slash at the
// end.
func bare(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/")
}
