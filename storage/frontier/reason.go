package frontier

import "github.com/webrace/webrace/internal/scope"

// Reason is why the frontier did not accept a URL. Of several crawls' reasons, the greatest counts:
// the one of the crawl that came closest to accepting it.
type Reason uint8

const (
	accepted       Reason = iota
	Invalid               // it has no host
	Redirects             // too many redirects in a row
	Unknown               // none of the crawls that came here was ever started
	Rule                  // a rule denies it
	BlockedDomain         // its host is listed as blocked, or a domain above it
	BlockedURL            // it is listed as blocked
	IgnoredType           // its extension is of what is no document
	TrapLength            // it is too long: this one and the next six are what traps look like (scope.Traps)
	TrapDepth             // its path has too many segments
	TrapRepeats           // its path repeats itself
	TrapParameters        // its query has too many parameters
	TrapQueries           // its path has as many queries as it may
	TrapDates             // as many URLs that differ from it in a date alone are known as may be
	TrapFarDates          // the same, of dates far in the future or the past
	Depth                 // it lies beyond the levels of the crawl
	Scope                 // it lies outside the scope of the crawl
	HostFull              // its host has as many URLs as it may
	CrawlFull             // the crawl has come to as many URLs as it may
	Away                  // a start that has given documents itself is sent there for a while
	Repeat                // the crawl has come to it in this round, and not from further away
	reasons
)

// names are what they are called in reports.
var names = [reasons]string{
	"accepted", "invalid", "redirects", "unknown_crawl", "rule", "blocked_domain", "blocked_url", "ignored_type",
	"trap_length", "trap_depth", "trap_repeats", "trap_parameters", "trap_queries", "trap_dates", "trap_far_dates",
	"depth", "scope", "host_full", "crawl_full", "redirected_away", "repeat",
}

// String returns the reason as it is written in reports.
func (r Reason) String() string {
	if r >= reasons {
		return "unknown"
	}
	return names[r]
}

// reasonOf returns why the gate refuses a URL.
func reasonOf(r scope.Refusal) Reason {
	switch r {
	case scope.Pass:
		return accepted
	case scope.ByRule:
		return Rule
	case scope.BlockedDomain:
		return BlockedDomain
	case scope.BlockedURL:
		return BlockedURL
	case scope.IgnoredType:
		return IgnoredType
	}
	return TrapLength + Reason(r-scope.TooLong) // both list the traps in one order
}
