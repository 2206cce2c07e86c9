package frontier

import (
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

// leadsNowhere returns why no document can come of a redirect; empty if one may, or if it is of a page and only leaves
// what is crawled, as links do.
func (s *stage) leadsNowhere(links *webrace.Links, o frontier.Offered) string {
	switch {
	case links.Via != webrace.ViaRedirect:
	case o.Circle == links.From:
		return frontier.InACircle + ", to itself"
	case o.Circle != "":
		return frontier.InACircle + ": " + o.Circle
	case o.Refused[frontier.Redirects] > 0:
		return fmt.Sprintf("redirects further, to %s, which would be more than %d redirects in a row (frontier.redirects)", links.URLs[0], links.Redirects-1)
	case o.Refused[frontier.Away] > 0:
		return fmt.Sprintf("redirected away for a while, to %s: it has given a document itself, so that is not followed (frontier.start_redirects)", links.URLs[0])
	case o.Accepted == 0 && fromStart(links):
		switch why := refusalOf(o); why {
		case "":
		case frontier.Scope.String():
			return fmt.Sprintf("redirects to %s, which lies out of the scope of its crawl (frontier.start_redirects)", links.URLs[0])
		default:
			return fmt.Sprintf("redirects to %s, which is refused by the frontier: %s", links.URLs[0], why)
		}
	}
	return ""
}

// fromStart reports whether links lead on from the start of a crawl.
func fromStart(links *webrace.Links) bool {
	return slices.ContainsFunc(links.Reach, func(r webrace.Reach) bool { return r.Distance == 0 })
}

// refusalOf returns why the frontier did not accept a URL; empty if it is not refused, but a repeat.
func refusalOf(o frontier.Offered) string {
	for reason, n := range o.Refused {
		if why := frontier.Reason(reason); n > 0 && why != frontier.Repeat {
			return why.String()
		}
	}
	return ""
}
