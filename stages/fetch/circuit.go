package fetch

import (
	"sync"
	"time"

	"github.com/webrace/webrace/internal/lru"
)

// firstPause is how long a host is left alone after its second failure in a row; each further one doubles
// it, until the host is taken for dead.
const firstPause = time.Second

// circuits count the failures in a row of each host. After so many the host's circuit opens: it is not asked
// until a wait is over, and then by one request, a probe. A failed probe doubles the wait; any answer closes
// the circuit. What is remembered here does not outlive the process, but the frontier keeps until when a host
// is to be left alone, and that it is to be asked by one request: so a dead host meets a probe after a
// restart as well.
type circuits struct {
	threshold  int // 0: no circuit opens
	wait, most time.Duration

	mu     sync.Mutex
	byHost lru.Cache[*circuit] // the hosts that failed last; none that answered
}

type circuit struct {
	failures int
	last     time.Time // the last of them that counted
	open     bool
	until    time.Time // of an open one: when a probe may be made
	probing  bool
}

func newCircuits(o PolitenessOptions) *circuits {
	return &circuits{
		threshold: o.CircuitFailures, wait: time.Duration(o.CircuitWait), most: time.Duration(o.MaxCircuitWait), byHost: lru.New[*circuit](maxHosts, nil),
	}
}

// admit returns whether a host may be asked, or when to try that again. Who is admitted to a host whose circuit is open
// is its probe, and has to call leave when it has ended.
func (c *circuits) admit(host string, now time.Time) (probe bool, again time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, _ := c.byHost.Get(host)
	switch {
	case k == nil || !k.open:
		return false, time.Time{}
	case now.Before(k.until):
		return false, k.until
	case k.probing:
		return false, now.Add(firstPause)
	}
	k.probing = true
	return true, time.Time{}
}

// leave lets another probe be made.
func (c *circuits) leave(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.byHost.Peek(host); ok {
		k.probing = false
	}
}

// failure is what follows from a failure.
type failure struct {
	pause        time.Duration // how long to leave the host alone
	open, opened bool          // its circuit; opened just now
}

// failed notes a failure of a request that began at a certain time. One failure may be the page's; and those
// of requests that were in flight together are one.
func (c *circuits) failed(host string, began, now time.Time) failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known := c.byHost.Get(host)
	if !known {
		k = &circuit{}
		c.byHost.Add(host, k)
	}
	counts := k.failures == 0 || began.After(k.last)
	if counts {
		k.failures++
		k.last = now
	}
	f := failure{pause: c.pause(k.failures)}
	if c.threshold > 0 && k.failures >= c.threshold {
		f.open, f.opened, k.open = true, !k.open, true
		if counts {
			k.until = now.Add(f.pause)
		}
		f.pause = k.until.Sub(now)
	}
	return f
}

// pause is how long a host is left alone after so many failures in a row.
func (c *circuits) pause(failures int) time.Duration {
	first, doubled := firstPause, failures-2
	switch {
	case c.threshold > 0 && failures >= c.threshold:
		first, doubled = c.wait, failures-c.threshold
	case failures < 2:
		return 0
	}
	if doubled > 32 || first > c.most>>doubled {
		return c.most
	}
	return first << doubled
}

// answered ends the host's failures, and reports whether that closed its circuit.
func (c *circuits) answered(host string) (closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, failed := c.byHost.Peek(host)
	c.byHost.Remove(host)
	return failed && k.open
}
