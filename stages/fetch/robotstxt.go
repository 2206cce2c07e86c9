package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/stages/internal/loadingcache"
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

// robotsPolicy is what a host's robots.txt demands for one request: whether it may be made, and how long after the
// last.
type robotsPolicy struct {
	allowed bool
	because string        // if it is not
	byRule  bool          // a rule forbids it, and not that the file cannot be had
	delay   time.Duration // to keep between requests, as far as it is kept
	rest    time.Time     // until when the host rests from having been asked for its robots.txt

	sitemaps []string // that it names, if they are wanted
	usage    []string // what files of the host state that the answer may be used for, as it is noted
}

// robotsPolicy returns what the robots.txt of the target's host demands for it. The request for that file is one like
// any other: the host is left its pause after it, too. So, however suddenly an earlier process ended, this
// one asks for no page before the host had a pause, since each begins with robots.txt.
func (s *stage) robotsPolicy(ctx context.Context, t httpclient.Target) (robotsPolicy, error) {
	known, err := s.robots.of(ctx, t)
	if err != nil {
		return robotsPolicy{}, err
	}
	p := robotsPolicy{delay: s.crawlDelay(t, known.rules.Delay()), sitemaps: s.sitemaps(t, known), usage: statedIn(usage.InRobots, known.rules.Usage(t.Path))}
	p.allowed, p.because = known.allows(t.Path)
	p.byRule = !p.allowed && known.instead == ""
	if pause := s.pause(known.origin, known.took, p.delay); pause > 0 {
		p.rest = known.at.Add(pause)
	}
	if s.tdmReps != nil && p.allowed && !time.Now().Before(p.rest) {
		if err := s.reserve(ctx, t, known, &p); err != nil {
			return robotsPolicy{}, err
		}
	}
	return p, nil
}

// isForbidden reports whether it is known that robots.txt forbids the request, so that nobody is asked.
func (x *exchange) isForbidden() bool {
	if !x.options.Robots {
		return false
	}
	known, until, ok := x.robots.cache.Peek(x.target.Origin())
	if !ok || time.Now().After(until) {
		return false
	}
	allowed, _ := known.allows(x.target.Path)
	return !allowed
}

// await waits for the end of the host's rest, unless that takes longer than patience lasts.
func (p robotsPolicy) await(ctx context.Context) error {
	switch wait := time.Until(p.rest); {
	case wait <= 0:
		return nil
	case wait > patience:
		return &restingError{until: p.rest}
	default:
		return sleepOr(ctx, wait, nil)
	}
}

// robotsRules are the rules of a host's robots.txt for this crawler, or what stands for them.
type robotsRules struct {
	rules    *robots.Rules
	instead  string // why everything is refused without a rule for it
	kept     time.Duration
	received int

	sitemaps              []string // normalized
	badSitemaps, overmany int      // those that are no URL, and those beyond the most there may be

	origin netip.Addr // the host, as it answered for its robots.txt
	at     time.Time  // when it had
	took   time.Duration
}

// allows reports whether a path may be fetched, and if not, why.
func (r robotsRules) allows(path string) (allowed bool, because string) {
	allowed, because = r.rules.Allowed(path)
	if !allowed && r.instead != "" {
		because = r.instead
	}
	return allowed, because
}

// robotsTxts gets and remembers the robots.txt of each scheme, host and port.
type robotsTxts struct {
	client    *httpclient.Client
	userAgent string
	fetched   *atomic.Int64
	cache     loadingcache.Cache[robotsRules]
}

func newRobotsTxts(c *httpclient.Client, userAgent string, fetched *atomic.Int64) *robotsTxts {
	return &robotsTxts{client: c, userAgent: userAgent, fetched: fetched, cache: loadingcache.New[robotsRules](robotsMemory)}
}

// of returns the rules of the target's host. The error is of the network: the host could
// not be asked, and so nothing is known.
func (r *robotsTxts) of(ctx context.Context, t httpclient.Target) (robotsRules, error) {
	return r.cache.Get(ctx, t.Origin(), func(ctx context.Context) (loadingcache.Loaded[robotsRules], error) {
		began := time.Now()
		got, err := r.load(ctx, t)
		if err != nil {
			return loadingcache.Loaded[robotsRules]{}, fmt.Errorf("get robots.txt: %w", err)
		}
		got.at, got.took = time.Now(), time.Since(began)
		got.sitemaps, got.badSitemaps, got.overmany = sitemapsOf(got.rules, t.Origin()+"/robots.txt")
		return loadingcache.Loaded[robotsRules]{Value: got, Keep: got.kept, Cost: got.received + robotsEntrySpace}, nil
	})
}

// load asks for a robots.txt, and where it is redirected to.
func (r *robotsTxts) load(ctx context.Context, host httpclient.Target) (got robotsRules, err error) {
	r.fetched.Add(1)
	a, origin, err := r.file(ctx, host, "/robots.txt")
	elsewhere, isElsewhere := errors.AsType[*elsewhereError](err)
	switch {
	case isElsewhere:
		got, err = denied("it is redirected to where it may not be fetched from: "+elsewhere.Error()), nil
	case err != nil:
		return robotsRules{}, err
	case a == nil:
		got = allowed()
	default:
		defer a.Release()
		got, err = r.read(a)
	}
	got.origin = origin
	return got, err
}

// elsewhereError is of a redirect to another host, which is not asked.
type elsewhereError struct{ error }

// file asks for a file of a host, and where it is redirected to. There is no answer where the redirects lead nowhere;
// of one that there is, the caller calls Release. The address is that of the host.
func (r *robotsTxts) file(ctx context.Context, host httpclient.Target, path string) (a *httpclient.Response, origin netip.Addr, err error) {
	t := httpclient.Target{Scheme: host.Scheme, Host: host.Host}
	t.Path, t.URL = path, host.Origin()+path
	for range robotsRedirects + 1 {
		a, err := r.client.Get(ctx, t, nil, robots.MaxBytes+1) // one more shows that it was cut
		if err != nil && t.Host != host.Host && httpclient.IsRefusal(err) {
			err = &elsewhereError{err}
		}
		if err != nil {
			return nil, origin, err
		}
		if !origin.IsValid() {
			origin = a.Origin
		}
		if !isRedirect(a) {
			return a, origin, nil
		}
		next, err := location(t.URL, a.Header)
		a.Release()
		if err == nil {
			t, err = httpclient.ParseTarget(next)
		}
		if err != nil {
			return nil, origin, nil
		}
	}
	return nil, origin, nil
}

// read makes rules of a response (RFC 9309, section 2.3.1). The standard lets 429 allow everything; but a
// host that is asked too much has not said that all may be asked for.
func (r *robotsTxts) read(a *httpclient.Response) (robotsRules, error) {
	switch {
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
		return robotsRules{}, &busyError{a}
	case a.Broken != nil:
		return denied("it cannot be read: " + a.Broken.Error()), nil
	case a.Status >= 500:
		return denied("it could not be had: " + httpclient.StatusText(a.Status)), nil
	case a.Body == nil:
		return allowed(), nil
	}
	rules := robots.Parse(a.Body).Agent(r.userAgent)
	return robotsRules{rules: rules, kept: keepRobots, received: len(a.Body)}, nil
}

// busyError is of a host that asks to come back for its robots.txt later.
type busyError struct{ answer *httpclient.Response }

func (e *busyError) Error() string { return httpclient.StatusText(e.answer.Status) }

func allowed() robotsRules { return robotsRules{rules: robots.AllowAll, kept: keepRobots} }

func denied(because string) robotsRules {
	return robotsRules{rules: robots.DisallowAll, instead: because, kept: keepNoRobots}
}
