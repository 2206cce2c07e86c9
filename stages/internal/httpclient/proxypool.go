package httpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/pipeline"
)

// When a proxy of several is taken for dead, and how long it is left then: twice as long after each time that it is
// tried in vain, up to the most.
const (
	proxyFailures = 3
	proxyWait     = 8 * time.Second
	mostProxyWait = 5 * time.Minute

	mostProxies  = 64
	proxiedHosts = 10_000 // of how many hosts it is remembered through which proxy they are asked
)

// proxyPool chooses the proxy through which a host is asked: one for each host, for as long as it works. A proxy that
// fails is left for another at once by the hosts that it failed for; after some failures in a row it is taken for dead
// (a circuit breaker), and not chosen until it can be connected to again, which is tried in the background. One proxy
// alone is always chosen.
type proxyPool struct {
	all     []*proxy
	tunnels []*tunneller // to hosts through each
	env     *pipeline.Env
	now     func() time.Time
	trials  sync.WaitGroup

	mu       sync.Mutex
	circuits []proxyCircuit
	byHost   lru.Cache[int]
}

type proxyCircuit struct {
	failures int       // in a row
	last     time.Time // the last of them that counted
	open     bool
	until    time.Time     // of an open one: when it is tried again
	wait     time.Duration // how long it was left the last time
	trying   bool
}

func newProxyPool(all []*proxy, tunnels []*tunneller, env *pipeline.Env) *proxyPool {
	return &proxyPool{all: all, tunnels: tunnels, env: env, now: time.Now, circuits: make([]proxyCircuit, len(all)), byHost: lru.New[int](proxiedHosts, nil)}
}

// choice is the proxy of one request. It stands for none if it is nil.
type choice struct {
	*proxy
	number int
	began  time.Time
}

// of chooses a proxy for a target, other than those that were tried for the request already; nil if it is asked
// directly.
func (ps *proxyPool) of(t Target, tried uint64) (*choice, error) {
	switch {
	case len(ps.all) == 0 || ps.all[0].way(t) == directly:
		return nil, nil
	case len(ps.all) == 1:
		return &choice{proxy: ps.all[0]}, nil
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	now := ps.now()
	ps.tryAgain(now)
	usable := func(i int) bool { return !ps.circuits[i].open && tried&(1<<i) == 0 }
	number, known := ps.byHost.Get(t.Host)
	if !known || !usable(number) {
		if number = ps.first(t.Host, usable); number < 0 {
			return nil, ps.none()
		}
		if known {
			ps.env.Counter("proxy_moves").Add(1)
		}
		ps.byHost.Add(t.Host, number)
	}
	return &choice{ps.all[number], number, now}, nil
}

// first returns the proxy that comes first for a host, by rendezvous hashing: hosts are spread evenly, and each has an
// order of its own. It is negative if none is usable.
func (ps *proxyPool) first(host string, usable func(int) bool) int {
	best, most := -1, uint64(0)
	for i, p := range ps.all {
		if weight := xxhash.Sum64String(host + " " + p.url.Host); usable(i) && (best < 0 || weight > most) {
			best, most = i, weight
		}
	}
	return best
}

// none is the error that there is no proxy left for a request.
func (ps *proxyPool) none() error {
	var next time.Time
	for _, c := range ps.circuits {
		if c.open && (next.IsZero() || c.until.Before(next)) {
			next = c.until
		}
	}
	if next.IsZero() {
		return &ProxyError{err: fmt.Errorf("none of the %d of the option proxies could be asked through", len(ps.all))}
	}
	return &ProxyError{err: fmt.Errorf("all %d of the option proxies are taken for dead, the next is tried again at %s", len(ps.all), next.Format(time.TimeOnly))}
}

// ended notes what came of a request, and reports whether another proxy may serve it.
func (ps *proxyPool) ended(c *choice, err error) (again bool) {
	if c == nil || len(ps.all) == 1 {
		return false
	}
	failure, ofProxy := errors.AsType[*ProxyError](err)
	dead := ofProxy && failure.dead
	if err != nil && !dead {
		return false // which tells nothing about the proxy
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k := &ps.circuits[c.number]
	if !dead {
		k.failures, k.wait = 0, 0
		return false
	}
	if k.failures == 0 || c.began.After(k.last) { // those of requests that were out together are one
		k.failures++
		k.last = ps.now()
	}
	if k.failures >= proxyFailures && !k.open {
		ps.leave(c.number)
	}
	return true
}

// leave opens the circuit of a proxy. It wants the lock.
func (ps *proxyPool) leave(number int) {
	k := &ps.circuits[number]
	k.wait = min(max(proxyWait, 2*k.wait), mostProxyWait)
	k.open, k.until = true, ps.now().Add(k.wait)
	ps.env.Counter("proxies_left").Add(1)
	ps.env.Logger.Warn("a proxy is taken for dead", "proxy", ps.all[number].url.Host, "tried again in", k.wait)
}

// tryAgain begins to connect to the proxies whose wait is over. It wants the lock.
func (ps *proxyPool) tryAgain(now time.Time) {
	for i := range ps.circuits {
		k := &ps.circuits[i]
		if !k.open || k.trying || now.Before(k.until) {
			continue
		}
		k.trying = true
		ps.trials.Go(func() { ps.tried(i, ps.tunnels[i].reach(context.Background())) })
	}
}

// tried notes whether a proxy could be connected to. One that can is used again; its next failure is enough for it to
// be left once more.
func (ps *proxyPool) tried(number int, err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	k := &ps.circuits[number]
	k.trying = false
	if err != nil {
		k.wait = min(max(proxyWait, 2*k.wait), mostProxyWait) // a success that came late may have ended it
		k.until = ps.now().Add(k.wait)
		return
	}
	k.open, k.failures = false, proxyFailures-1
	ps.env.Counter("proxies_back").Add(1)
	ps.env.Logger.Info("a proxy can be connected to again", "proxy", ps.all[number].url.Host)
}

// resolve reports whether the name of a target's host is looked up by the proxies alone. They are alike in that.
func (ps *proxyPool) resolve(t Target, host string) bool {
	return len(ps.all) > 0 && ps.all[0].way(t) != directly && ps.tunnels[0].leaves(host)
}
