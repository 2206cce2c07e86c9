package fetch

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace"
)

// How long a request waits after its first failure, by how much that grows with each, and where it ends.
const (
	firstBackoff  = 2 * time.Second
	backoffFactor = 4
	maxBackoff    = 10 * time.Minute
)

// How long a host is left alone after its second failure in a row; each further one doubles it.
const (
	firstPause = time.Second
	maxPause   = 5 * time.Minute
)

// maxHosts is of how many hosts something is remembered in memory.
const maxHosts = 10_000

// treatment says how a host wants to be treated that has just answered, or failed to, from this address.
// Public hosts rest between requests, at least as long as they took to answer; those that the operator
// admitted do not. A delay that robots.txt asks for is kept in either case.
func (s *stage) treatment(origin netip.Addr, took, crawlDelay time.Duration, now time.Time) webrace.HostReport {
	pause := crawlDelay
	report := webrace.HostReport{Parallel: 1}
	switch admitted := origin.IsValid() && s.guard.Admitted(origin); {
	case !admitted:
		pause = max(pause, time.Duration(s.options.Delay), took)
		if crawlDelay == 0 {
			report.Parallel = s.options.PerHost
		}
	case crawlDelay == 0:
		report.Parallel = s.env.Workers
	}
	if pause > 0 {
		report.NotBefore = now.Add(pause)
	}
	return report
}

// crawlDelay returns the delay to keep of the one that a robots.txt asks for, and reports one too long.
func (s *stage) crawlDelay(t target, asked time.Duration) time.Duration {
	limit := time.Duration(s.options.MaxCrawlDelay)
	if asked <= limit {
		return asked
	}
	if s.warned.first("crawl-delay " + t.host) {
		s.env.Counter("crawl_delays_cut").Add(1)
		s.env.Logger.Warn("the host asks for a longer delay than is kept (option max_crawl_delay)",
			"host", t.host, "asked", asked, "kept", limit)
	}
	return limit
}

// backoff returns how long a request waits that has failed before so many times.
func backoff(attempts int) time.Duration {
	wait := firstBackoff
	for ; attempts > 0 && wait < maxBackoff; attempts-- {
		wait *= backoffFactor
	}
	return min(wait, maxBackoff)
}

// streaks counts the failures in a row of each host.
type streaks struct {
	mu     sync.Mutex
	byHost map[string]streak
}

type streak struct {
	failures int
	last     time.Time
}

// failed notes a failure of a request that began at a certain time, and returns how long to leave the
// host alone. One failure may be the page's; and those of requests that were in flight together are one.
func (s *streaks) failed(host string, began, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, known := s.byHost[host]
	if !known && len(s.byHost) >= maxHosts {
		clear(s.byHost)
	}
	if k.failures == 0 || began.After(k.last) {
		k.failures++
		k.last = now
		s.byHost[host] = k
	}
	if k.failures < 2 {
		return 0
	}
	return min(firstPause<<min(k.failures-2, 20), maxPause)
}

// answered ends the host's streak.
func (s *streaks) answered(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byHost, host)
}

// onceEach says of each thing once that it is the first time; and again when it has seen very many.
type onceEach struct {
	mu   sync.Mutex
	seen map[string]struct{}
}

func newOnceEach() *onceEach { return &onceEach{seen: make(map[string]struct{})} }

func (o *onceEach) first(what string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, seen := o.seen[what]; seen {
		return false
	}
	if len(o.seen) >= maxHosts {
		clear(o.seen)
	}
	o.seen[what] = struct{}{}
	return true
}

// retryAfter returns the time that a Retry-After header names, in seconds or as a date (RFC 9110, section
// 10.2.3), but at most limit from now and not in the past; false if it names none.
func retryAfter(value string, now time.Time, limit time.Duration) (time.Time, bool) {
	value = strings.Trim(value, " \t")
	wait := limit
	if value != "" && strings.Trim(value, "0123456789") == "" {
		if seconds, err := strconv.ParseInt(value, 10, 64); err == nil && seconds < int64(limit/time.Second) {
			wait = time.Duration(seconds) * time.Second
		}
		return now.Add(wait), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return time.Time{}, false
	}
	return now.Add(max(0, min(at.Sub(now), limit))), true
}

// failedAddress returns the address at which a connection failed, the zero one if it is not known.
func failedAddress(err *net.OpError) netip.Addr {
	if err == nil || err.Addr == nil {
		return netip.Addr{}
	}
	return addressOf(err.Addr)
}
