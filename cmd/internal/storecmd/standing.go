package storecmd

import (
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

// standing is where a URL stands in the frontier of one pipeline.
type standing struct {
	pipeline string
	matching
	frontier.Explanation
}

// cameTo returns how a crawl came to the URL, in the pipeline where it came nearest; false when it did in
// none.
func cameTo(all []standing, crawl string) (at standing, came frontier.Came, ok bool) {
	for _, s := range all {
		i := slices.IndexFunc(s.Came, func(c frontier.Came) bool { return c.Crawl == crawl })
		if i >= 0 && (!ok || s.Came[i].Distance < came.Distance) {
			at, came, ok = s, s.Came[i], true
		}
	}
	return at, came, ok
}

// refusal says why the frontier never accepted a URL.
func (s standing) refusal() string {
	switch s.Refused {
	case frontier.Unknown:
		return "no crawl was ever started"
	case frontier.Rule:
		return fmt.Sprintf("the rule %q denies it", s.Rule)
	case frontier.Depth:
		return "it lies beyond the levels of the crawls, which fetch their start pages alone"
	case frontier.Scope:
		return "it lies outside the scope of the crawls"
	case frontier.Invalid:
		return "it has no host"
	}
	return "no page that was fetched leads to it within the levels of a crawl"
}

// state says where the URL stands, in a few words.
func (s standing) state() string {
	failure := ""
	if s.Visit != nil {
		failure = oneLine(s.Visit.Error)
	}
	switch s.State {
	case frontier.Unseen:
		return "never accepted: " + s.refusal()
	case frontier.Queued, frontier.Leased:
		return "waits for its turn to be fetched"
	case frontier.Delayed:
		return fmt.Sprintf("failed, and is tried again at %s: %s", moment(s.Due), failure)
	case frontier.Dropped:
		return "taken off the queue before it was ever fetched"
	case frontier.Failed:
		return "gave no document: " + failure
	}
	if s.Visit != nil && s.Visit.Status >= 300 && s.Visit.Status <= 399 && s.Visit.Status != 304 && s.Visit.Version == 0 {
		return fmt.Sprintf("redirected elsewhere (status %d)", s.Visit.Status)
	}
	return "fetched"
}

// level is the level of pages that a URL at a distance from the start lies on.
func level(distance int) int { return distance + 1 }

func within(distance, levels int) bool { return webrace.Reach{Distance: distance}.Within(levels) }
