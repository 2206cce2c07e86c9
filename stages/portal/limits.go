package portal

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/webrace/webrace/internal/lru"
)

// limits bounds how often something is tried, by who tries it. What is bounded passes again after a while: nobody is
// locked out for good.
type limits struct {
	mu      sync.Mutex
	buckets lru.Cache[*rate.Limiter]
}

// mostBuckets is of how many it is remembered how often they have tried.
const mostBuckets = 20_000

func newLimits() *limits {
	return &limits{buckets: lru.New[*rate.Limiter](mostBuckets, nil)}
}

// allowance is how often something may be tried: so often at once, and again after a while each.
type allowance struct {
	name  string
	burst int
	every time.Duration
}

var (
	perAddress   = allowance{"login from", 30, 10 * time.Second}
	perAccount   = allowance{"login as", 10, 30 * time.Second} // from one address
	mailsOfOwner = allowance{"mails of", 20, 72 * time.Minute} // 20 a day
	linksAsked   = allowance{"links from", 10, 10 * time.Minute}

	passwordsAsked = allowance{"password of", 10, 30 * time.Second} // of who is logged in
	exportsAsked   = allowance{"exports of", 5, 5 * time.Minute}
)

// pass refuses what was tried too often.
func (l *limits) pass(now time.Time, a allowance, who string) error {
	l.mu.Lock()
	key := a.name + " " + who
	bucket, is := l.buckets.Get(key)
	if !is {
		bucket = rate.NewLimiter(rate.Every(a.every), a.burst)
		l.buckets.Add(key, bucket)
	}
	l.mu.Unlock()
	if bucket.AllowN(now, 1) {
		return nil
	}
	return &refusal{status: http.StatusTooManyRequests, key: "error.often", after: a.every}
}

// networkOf returns what stands for who has an address: of IPv6 the network of a household, who has all of it.
func networkOf(address netip.Addr) string {
	if address.Is6() {
		if p, err := address.Prefix(64); err == nil {
			return p.String()
		}
	}
	return address.String()
}
