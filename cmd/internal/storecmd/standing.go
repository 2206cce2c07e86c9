package storecmd

import (
	"fmt"
	"net/http"
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
	if s.Refused == frontier.Unknown {
		return "no crawl was ever started"
	}
	if because := s.refused(); because != "" {
		return because
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
	case frontier.Queued:
		return "waits for its turn to be fetched"
	case frontier.Leased:
		return "is being fetched"
	case frontier.Delayed:
		return fmt.Sprintf("failed, and is tried again at %s: %s", moment(s.Due), failure)
	case frontier.Dropped:
		return "taken off the queue before it was ever fetched"
	case frontier.Failed:
		return "gave no document: " + failure
	}
	if s.redirected() {
		if s.Visit.Status == http.StatusMovedPermanently || s.Visit.Status == http.StatusPermanentRedirect {
			return fmt.Sprintf("moved for good (status %d)", s.Visit.Status)
		}
		return fmt.Sprintf("redirected elsewhere (status %d)", s.Visit.Status)
	}
	return "fetched"
}

// redirected reports whether the last answer was a redirect.
func (s standing) redirected() bool {
	return s.Visit != nil && s.Visit.Status >= 300 && s.Visit.Status <= 399 && s.Visit.Status != 304
}

// level is the level of pages that a URL at a distance from the start lies on.
func level(distance int) int { return distance + 1 }

func within(distance, levels int) bool { return webrace.Reach{Distance: distance}.Within(levels) }

// refused says why the gate, or every crawl, refuses the URL; empty if one accepts it.
func (s standing) refused() string {
	switch s.Refused {
	case frontier.Unknown:
		return "no crawl was ever started"
	case frontier.Invalid:
		return "it has no host"
	case frontier.Rule:
		return fmt.Sprintf("rule %d, %q, denies it", s.Gate.Number, s.Gate.Rule.Text())
	case frontier.BlockedDomain:
		return fmt.Sprintf("%s is a blocked domain (frontier.blocked_domains_file)", s.Gate.Domain)
	case frontier.BlockedURL:
		return "it is a blocked URL (frontier.blocked_urls_file)"
	case frontier.IgnoredType:
		return fmt.Sprintf("the extension %s is of what is no document (frontier.ignore_types)", s.Gate.Extension)
	case frontier.TrapLength:
		return "it looks like a trap: the URL is too long (frontier.url_length)"
	case frontier.TrapDepth:
		return "it looks like a trap: its path is too deep (frontier.path_depth)"
	case frontier.TrapRepeats:
		return "it looks like a trap: its path repeats itself (frontier.path_repeats)"
	case frontier.TrapParameters:
		return "it looks like a trap: its query has too many parameters (frontier.query_parameters)"
	case frontier.TrapQueries:
		return "it looks like a trap: as many queries of its path are known as may be (frontier.path_queries)"
	case frontier.TrapDates:
		return "it looks like a trap: as many URLs that differ in a date alone are known as may be (frontier.dated_pages)"
	case frontier.TrapFarDates:
		return "it looks like a trap: as many URLs with dates so far away are known as may be (frontier.far_dates)"
	case frontier.Depth:
		return "it lies beyond the levels of the crawls, which fetch their start pages alone"
	case frontier.Scope:
		return "it lies outside the scope of the crawls"
	case frontier.HostFull:
		return "as many URLs of its host are known as may be (frontier.host_urls)"
	case frontier.CrawlFull:
		return "the crawls have come to as many URLs as they may (frontier.crawl_urls)"
	}
	return ""
}
