package frontier

import (
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/series"
)

// In a list that is paged by a cursor, an entry that comes in front gives all pages behind the first other addresses.
// In whose place each stands is told by the page in front of it: by where that led at its last visit, or, if it is
// new as well, by where the page led in whose place it stands. So the items carry it from page to page.

// succeed notes of the candidates in whose places they stand.
func (o *offer) succeed() {
	if o.visit == nil && o.instead == (webrace.Instead{}) ||
		!slices.ContainsFunc(o.candidates, func(c candidate) bool { return strings.Contains(c.url, "?") }) {
		return
	}
	was := o.links.From
	var before []string
	switch {
	case o.instead != (webrace.Instead{}):
		was = o.instead.Of
		before = o.q.opt.LedTo(o.secret, was, 0)
	default:
		before = o.ledBefore()
	}
	for i := range o.candidates {
		c := &o.candidates[i]
		of := series.InsteadOf(c.url, before, o.links.URLs, o.links.From, o.instead.Of, o.instead.Before)
		if of != "" {
			c.instead = webrace.Instead{Of: of, Before: was}
		}
	}
}
