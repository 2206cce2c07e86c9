package explain

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/frontier"
)

// Status is where a URL stands in the frontier of one pipeline.
type Status struct {
	Pipeline string
	Matching
	frontier.Explanation
}

// hasMovedForGood reports whether the URL was redirected for good at its last visit.
func (s Status) hasMovedForGood() bool {
	return s.Visit != nil && (s.Visit.Status == http.StatusMovedPermanently || s.Visit.Status == http.StatusPermanentRedirect)
}

// cameTo returns how a crawl came to the URL, in the pipeline where it came nearest; false when it did in
// none.
func cameTo(all []Status, crawl string) (at Status, came frontier.Reached, ok bool) {
	for _, s := range all {
		i := slices.IndexFunc(s.Reached, func(c frontier.Reached) bool { return c.Crawl == crawl })
		if i >= 0 && (!ok || s.Reached[i].Distance < came.Distance) {
			at, came, ok = s, s.Reached[i], true
		}
	}
	return at, came, ok
}

// neverAccepted returns why the frontier never accepted a URL.
func (s Status) neverAccepted() string {
	switch {
	case s.Refused == frontier.Unknown:
		return "no crawl was ever started"
	case isRobotsTxt(s.URL):
		return "it is no page of a crawl; fetch asks each host for it by itself, before the pages (fetch.robots)"
	}
	if because := s.Refusal(); because != "" {
		return because
	}
	return "nothing that was fetched leads to it within the levels of a crawl"
}

// isRobotsTxt reports whether a URL is that of a host's robots.txt.
func isRobotsTxt(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Path == "/robots.txt" && u.RawQuery == ""
}

// Because describes where the URL stands, in a few words.
func (s Status) Because() string {
	failure := ""
	if s.Visit != nil {
		failure = wording.WithoutURL(wording.OneLine(s.Visit.Error), s.URL)
	}
	switch s.State {
	case frontier.Unseen:
		return "never accepted: " + s.neverAccepted()
	case frontier.Queued:
		return "waits for its turn to be fetched"
	case frontier.Leased:
		return "is being fetched"
	case frontier.Delayed:
		return fmt.Sprintf("failed, and is tried again at %s: %s", wording.Moment(s.Due), failure)
	case frontier.Dropped:
		return "taken off the queue before it was ever fetched"
	case frontier.Failed:
		return "gave no document: " + failure
	}
	if s.Redirected() {
		if s.hasMovedForGood() {
			return fmt.Sprintf("moved for good (status %d)", s.Visit.Status)
		}
		return fmt.Sprintf("redirected elsewhere (status %d)", s.Visit.Status)
	}
	return "fetched"
}

// Redirected reports whether the last answer was a redirect.
func (s Status) Redirected() bool {
	return s.Visit != nil && !s.Visit.Refused && s.Visit.Status >= 300 && s.Visit.Status <= 399 && s.Visit.Status != 304
}

// Level is the level of pages that a URL at a distance from the start lies on.
func Level(distance int) int { return distance + 1 }

func within(distance, levels int) bool { return webrace.Reach{Distance: distance}.Within(levels) }

// Refusal returns why the gate, or every crawl, refuses the URL; empty if one accepts it.
func (s Status) Refusal() string {
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
	case frontier.Away:
		return "a start that has given documents itself is sent there for a while, which is not followed"
	}
	return ""
}
