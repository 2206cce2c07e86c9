package fetch

import (
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// PolitenessOptions determine how hosts are treated.
type PolitenessOptions struct {
	Delay         pipeline.Duration `toml:"delay" doc:"the least pause of a public host after each answer"`
	AdaptiveDelay float64           `toml:"adaptive_delay" doc:"a public host rests so many times as long as it took to answer, if that is more than the delay; 0 leaves it at the delay"`
	PerHost       int               `toml:"per_host" doc:"requests in flight to a public host"`
	PerAddress    bool              `toml:"per_address" doc:"names that share an address share its turn: per_host and the pauses hold for all of them together. A CDN has many names at one address; a crawl of thousands of those goes faster without"`
	DelayAdmitted bool              `toml:"delay_admitted" doc:"treat the hosts that allow_networks admits like public ones: delay, adaptive_delay, per_host and per_address hold for them, too"`
	MaxCrawlDelay pipeline.Duration `toml:"max_crawl_delay" doc:"the longest Crawl-delay of a robots.txt that is kept; a longer one is reported and cut to this"`
	MaxRetryAfter pipeline.Duration `toml:"max_retry_after" doc:"the longest Retry-After that is kept"`

	Retry           []int             `toml:"retry" doc:"statuses of the moment, after which a URL is tried again in the round: when Retry-After says, or else after backoff, as often as frontier.attempts lets; the last answer is what came of it. So are 429 and 503, whatever is said here, and what is asked by more than a GET is not"`
	Backoff         pipeline.Duration `toml:"backoff" doc:"how long a URL waits after it failed, if the host does not say; four times as long after each further failure"`
	MaxBackoff      pipeline.Duration `toml:"max_backoff" doc:"where that ends"`
	CircuitFailures int               `toml:"circuit_failures" doc:"failures in a row after which a host is taken for dead, and asked by one request at a time to see whether it lives; 0 never does"`
	CircuitWait     pipeline.Duration `toml:"circuit_wait" doc:"how long a host taken for dead is not asked; twice as long after each probe that fails"`
	MaxCircuitWait  pipeline.Duration `toml:"max_circuit_wait" doc:"where that ends"`
}

var defaultPoliteness = PolitenessOptions{
	Delay:           pipeline.Duration(time.Second),
	AdaptiveDelay:   1,
	PerHost:         1,
	PerAddress:      true,
	MaxCrawlDelay:   pipeline.Duration(time.Minute),
	MaxRetryAfter:   pipeline.Duration(time.Hour),
	Retry:           []int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout},
	Backoff:         pipeline.Duration(2 * time.Second),
	MaxBackoff:      pipeline.Duration(10 * time.Minute),
	CircuitFailures: 5,
	CircuitWait:     pipeline.Duration(8 * time.Second),
	MaxCircuitWait:  pipeline.Duration(5 * time.Minute),
}

// maxAdaptiveDelay keeps k times a response time a time.
const maxAdaptiveDelay = 1000

func (o PolitenessOptions) validate() error {
	wrong := func(option, format string, args ...any) error {
		return &pipeline.OptionError{Option: option, Err: fmt.Errorf(format, args...)}
	}
	for _, d := range []struct {
		option       string
		value, least pipeline.Duration
	}{
		{"delay", o.Delay, 0}, {"max_crawl_delay", o.MaxCrawlDelay, 0}, {"max_retry_after", o.MaxRetryAfter, 0},
		{"backoff", o.Backoff, 1}, {"max_backoff", o.MaxBackoff, o.Backoff},
		{"circuit_wait", o.CircuitWait, 1}, {"max_circuit_wait", o.MaxCircuitWait, o.CircuitWait},
	} {
		if d.value < d.least {
			return wrong(d.option, "%v is less than %v", time.Duration(d.value), time.Duration(d.least))
		}
	}
	for _, status := range o.Retry {
		if status < 400 || status > 599 {
			return wrong("retry", "%d is no status of an error, which are 400 to 599", status)
		}
	}
	switch {
	case !(o.AdaptiveDelay >= 0 && o.AdaptiveDelay <= maxAdaptiveDelay): // nor is a NaN
		return wrong("adaptive_delay", "%v is not between 0 and %d", o.AdaptiveDelay, maxAdaptiveDelay)
	case o.PerHost < 1:
		return wrong("per_host", "%d is not at least 1", o.PerHost)
	case o.CircuitFailures < 0:
		return wrong("circuit_failures", "%d is negative", o.CircuitFailures)
	}
	return nil
}

// maxHosts is of how many hosts something is remembered in memory.
const maxHosts = 10_000

// hostPolicy returns how a host is treated from now on that has just answered, or failed to, from this address.
// Public hosts rest between requests; those that the operator admitted do not, unless they are to be treated
// alike. A delay that robots.txt asks for is kept in either case.
func (s *stage) hostPolicy(origin netip.Addr, took, crawlDelay time.Duration, now time.Time) webrace.HostReport {
	report := webrace.HostReport{Parallel: 1}
	switch {
	case crawlDelay > 0:
	case s.rests(origin):
		report.Parallel = s.options.PerHost
	default:
		report.Parallel = s.env.Workers
	}
	if pause := s.pause(origin, took, crawlDelay); pause > 0 {
		report.NotBefore = now.Add(pause)
	}
	return report
}

// rests reports whether a host is left a pause that it did not ask for.
func (s *stage) rests(origin netip.Addr) bool {
	return s.options.DelayAdmitted || !origin.IsValid() || !s.guard.Admitted(origin)
}

// pause is how long a host is left alone after an answer.
func (s *stage) pause(origin netip.Addr, took, crawlDelay time.Duration) time.Duration {
	if !s.rests(origin) {
		return crawlDelay
	}
	adaptive := time.Duration(float64(took) * s.options.AdaptiveDelay)
	return max(crawlDelay, time.Duration(s.options.Delay), adaptive)
}

// crawlDelay returns the delay to keep of the one that a robots.txt asks for, and reports one too long.
func (s *stage) crawlDelay(t httpclient.Target, asked time.Duration) time.Duration {
	limit := time.Duration(s.options.MaxCrawlDelay)
	if asked <= limit {
		return asked
	}
	if s.warned.First("crawl-delay " + t.Host) {
		s.env.Counter("crawl_delays_cut").Add(1)
		s.env.Logger.Warn("the host asks for a longer delay than is kept (option max_crawl_delay)",
			"host", t.Host, "asked", asked, "kept", limit)
	}
	return limit
}

// backoffFactor is by how much the back-off of a URL grows with each failure.
const backoffFactor = 4

// backoff returns how long a request waits that has failed before so many times.
func (o PolitenessOptions) backoff(attempts int) time.Duration {
	wait, most := time.Duration(o.Backoff), time.Duration(o.MaxBackoff)
	for ; attempts > 0; attempts-- {
		if wait > most/backoffFactor {
			return most
		}
		wait *= backoffFactor
	}
	return wait
}
