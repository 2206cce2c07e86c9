package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/robots"
)

// RFC 9309 lets a robots.txt be kept for a day (section 2.4) and asks for five redirects to be followed
// (2.3.1.2). One that could not be had because the server failed is tried again sooner.
const (
	keepRobots       = 24 * time.Hour
	keepNoRobots     = 10 * time.Minute
	robotsRedirects  = 5
	robotsMemory     = 32 << 20 // of files, as they were sent
	robotsEntrySpace = 512      // of a host without rules
)

// policy is what a host's robots.txt says to this crawler, or stands for it.
type policy struct {
	rules    *robots.Rules
	instead  string // why everything is refused without a rule that says so
	kept     time.Duration
	received int

	sitemaps              []string // normalized
	badSitemaps, overmany int      // those that are no URL, and those beyond the most there may be

	origin netip.Addr // the host, as it answered for its robots.txt
	at     time.Time  // when it had
	took   time.Duration
}

// allows says whether a path may be fetched, and if not, why.
func (p policy) allows(path string) (allowed bool, because string) {
	allowed, because = p.rules.Allowed(path)
	if !allowed && p.instead != "" {
		because = p.instead
	}
	return allowed, because
}

// manners is what a host's robots.txt says of one request.
type manners struct {
	allowed bool
	because string        // if it is not
	delay   time.Duration // to keep between requests, as far as it is kept
	rest    time.Time     // until when the host rests from having been asked for its robots.txt

	sitemaps []string // that it names, if they are wanted
}

// manners returns what the robots.txt of the target's host says of it. The request for that file is one like
// any other: the host is left its pause after it, too. So, however suddenly an earlier process ended, this
// one asks for no page before the host had a pause, since each begins with robots.txt.
func (s *stage) manners(ctx context.Context, t target) (manners, error) {
	p, err := s.robots.of(ctx, t)
	if err != nil {
		return manners{}, err
	}
	m := manners{delay: s.crawlDelay(t, p.rules.Delay()), sitemaps: s.sitemaps(t, p)}
	m.allowed, m.because = p.allows(t.path)
	if pause := s.pause(p.origin, p.took, m.delay); pause > 0 {
		m.rest = p.at.Add(pause)
	}
	return m, nil
}

// await waits for the end of the host's rest, unless that takes longer than patience lasts.
func (m manners) await(ctx context.Context) error {
	switch wait := time.Until(m.rest); {
	case wait <= 0:
		return nil
	case wait > patience:
		return &restingError{until: m.rest}
	default:
		return sleepOr(ctx, wait, nil)
	}
}

// robotsTxts gets and remembers the robots.txt of each scheme, host and port.
type robotsTxts struct {
	client    *client
	userAgent string
	fetched   *atomic.Int64
	memo      *memo[policy]
}

func newRobotsTxts(c *client, userAgent string, fetched *atomic.Int64) *robotsTxts {
	return &robotsTxts{client: c, userAgent: userAgent, fetched: fetched, memo: newMemo[policy](robotsMemory)}
}

// of returns what the robots.txt of the target's host says. The error is of the network: the host could
// not be asked, and so nothing is known.
func (r *robotsTxts) of(ctx context.Context, t target) (policy, error) {
	return r.memo.get(ctx, t.origin(), func(ctx context.Context) (loaded[policy], error) {
		began := time.Now()
		p, err := r.load(ctx, t)
		if err != nil {
			return loaded[policy]{}, fmt.Errorf("get robots.txt: %w", err)
		}
		p.at, p.took = time.Now(), time.Since(began)
		p.sitemaps, p.badSitemaps, p.overmany = sitemapsOf(p.rules, t.origin()+"/robots.txt")
		return loaded[policy]{value: p, keep: p.kept, cost: p.received + robotsEntrySpace}, nil
	})
}

// load asks for a robots.txt, and where it is redirected to.
func (r *robotsTxts) load(ctx context.Context, host target) (p policy, err error) {
	t := host
	t.path, t.url = "/robots.txt", host.origin()+"/robots.txt"
	r.fetched.Add(1)
	var origin netip.Addr
	defer func() { p.origin = origin }()
	for range robotsRedirects + 1 {
		a, err := r.client.get(ctx, t, nil, robots.MaxBytes+1) // one more shows that it was cut
		switch {
		case err != nil && t.host != host.host && isRefusal(err):
			return denied("it is redirected to where it may not be fetched from: " + err.Error()), nil
		case err != nil:
			return policy{}, err
		}
		defer a.release()
		if !origin.IsValid() {
			origin = a.origin
		}
		if !isRedirect(a) {
			return r.read(a)
		}
		next, err := location(t.url, a.header)
		if err != nil {
			return allowed(), nil
		}
		if t, err = parseTarget(next); err != nil {
			return allowed(), nil
		}
	}
	return allowed(), nil
}

// busyError is of a host that asks to come back for its robots.txt later.
type busyError struct{ answer *answer }

func (e *busyError) Error() string { return statusText(e.answer.status) }

// read makes a policy of an answer (RFC 9309, section 2.3.1). The standard lets 429 allow everything; but who
// is asked too much has not said that all may be asked for.
func (r *robotsTxts) read(a *answer) (policy, error) {
	switch {
	case a.status == http.StatusTooManyRequests, a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "":
		return policy{}, &busyError{a}
	case a.broken != nil:
		return denied("it cannot be read: " + a.broken.Error()), nil
	case a.status >= 500:
		return denied("it could not be had: " + statusText(a.status)), nil
	case a.body == nil:
		return allowed(), nil
	}
	rules := robots.Parse(a.body.bytes).Agent(r.userAgent)
	return policy{rules: rules, kept: keepRobots, received: len(a.body.bytes)}, nil
}

func allowed() policy { return policy{rules: robots.AllowAll, kept: keepRobots} }

func denied(because string) policy {
	return policy{rules: robots.DisallowAll, instead: because, kept: keepNoRobots}
}

// statusText writes a status as in "404 Not Found".
func statusText(status int) string {
	text := fmt.Sprintf("%03d %s", status, http.StatusText(status))
	if http.StatusText(status) == "" {
		return text[:3]
	}
	return text
}
