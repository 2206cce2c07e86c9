package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/loadingcache"
)

// DNSOptions determine how names are looked up and for how long they are remembered. What is remembered is not
// trusted: each address is checked when it is connected to.
type DNSOptions struct {
	DNSServers      []string          `toml:"dns_servers" doc:"addresses of the servers that are asked for names, with a port if it is not 53; none leaves names to the system, its search list and its hosts file"`
	DNSKeep         pipeline.Duration `toml:"dns_keep" doc:"how long the addresses of a name are kept if the system looked it up, which does not say for how long they hold"`
	DNSMinTTL       pipeline.Duration `toml:"dns_min_ttl" doc:"the least time for which addresses are kept that dns_servers gave, whatever these say"`
	DNSMaxTTL       pipeline.Duration `toml:"dns_max_ttl" doc:"the longest time for which they are kept"`
	DNSKeepFailures pipeline.Duration `toml:"dns_keep_failures" doc:"how long it is remembered that a name does not exist or has no address"`
	DNSStale        pipeline.Duration `toml:"dns_stale" doc:"for how long after its time an address is used while no server answers the question for it; 0 for not at all"`
}

var defaultDNS = DNSOptions{
	DNSKeep: pipeline.Duration(5 * time.Minute), DNSMinTTL: pipeline.Duration(30 * time.Second), DNSMaxTTL: pipeline.Duration(time.Hour),
	DNSKeepFailures: pipeline.Duration(10 * time.Second), DNSStale: pipeline.Duration(time.Hour),
}

// How many names are remembered, and how many addresses of one are tried.
const (
	maxNames     = 10_000
	maxAddresses = 4
)

func (o DNSOptions) validate() error {
	if _, err := parseServers(o.DNSServers); err != nil {
		return &pipeline.OptionError{Option: "dns_servers", Err: err}
	}
	for _, d := range []struct {
		option string
		value  pipeline.Duration
	}{
		{"dns_keep", o.DNSKeep}, {"dns_min_ttl", o.DNSMinTTL}, {"dns_max_ttl", o.DNSMaxTTL},
		{"dns_keep_failures", o.DNSKeepFailures}, {"dns_stale", o.DNSStale},
	} {
		if d.value < 0 {
			return &pipeline.OptionError{Option: d.option, Err: errors.New("must not be negative")}
		}
	}
	if o.DNSMinTTL > o.DNSMaxTTL {
		return &pipeline.OptionError{Option: "dns_min_ttl", Err: fmt.Errorf("%v is more than dns_max_ttl, %v", time.Duration(o.DNSMinTTL), time.Duration(o.DNSMaxTTL))}
	}
	return nil
}

// parseServers reads the addresses of servers of names.
func parseServers(list []string) ([]netip.AddrPort, error) {
	var servers []netip.AddrPort
	for _, entry := range list {
		if addr, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
			servers = append(servers, netip.AddrPortFrom(addr, 53))
		} else if server, err := netip.ParseAddrPort(entry); err == nil {
			servers = append(servers, server)
		} else {
			return nil, fmt.Errorf("%q is no address (192.0.2.53, [2001:db8::53]:5353)", entry)
		}
	}
	return servers, nil
}

// Resolver looks a name up. How long what it found holds is negative if it does not know. The error is a
// [net.DNSError] with IsNotFound if there is no such name, or it has no address.
type Resolver interface {
	Lookup(ctx context.Context, host string) (addrs []netip.Addr, holds time.Duration, err error)
}

// system is the resolver of the operating system.
type system struct{ network string }

func (s system) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, s.network, host)
	return addrs, -1, err
}

// dnsCache looks hosts up, each once in a while.
type dnsCache struct {
	options  DNSOptions
	family   family
	resolver Resolver
	count    func(counter string)
	cache    loadingcache.Cache[resolved]
	known    lru.Cache[knownName]
}

// resolved is what a host's name stands for, or why it stands for nothing.
type resolved struct {
	addrs []netip.Addr
	err   error
}

// knownName is the last good answer, for when there is no other.
type knownName struct {
	addrs []netip.Addr
	until time.Time
}

// newDNSCache wants options that are valid.
func newDNSCache(o Options, count func(counter string)) *dnsCache {
	n := &dnsCache{options: o.DNSOptions, family: families[o.IPFamily], count: count, cache: loadingcache.New[resolved](maxNames), known: lru.New[knownName](maxHosts, nil)}
	n.resolver = system{n.family.network()}
	if servers, _ := parseServers(o.DNSServers); len(servers) > 0 {
		n.resolver = &dnsClient{servers: servers, family: n.family}
	}
	return n
}

// resolve returns the addresses of a host to try, at least one, in that order.
func (n *dnsCache) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if !n.family.speaks(addr) {
			return nil, &FamilyError{host, n.family}
		}
		return []netip.Addr{addr}, nil
	}
	asked := false
	found, err := n.cache.Get(ctx, host, func(ctx context.Context) (loadingcache.Loaded[resolved], error) {
		asked = true
		return n.load(ctx, host)
	})
	if !asked {
		n.count("dns_cached")
	}
	if err == nil {
		err = found.err
	}
	return found.addrs, err
}

// load asks for a name. Where no server answers, what was known before stands in.
func (n *dnsCache) load(ctx context.Context, host string) (loadingcache.Loaded[resolved], error) {
	n.count("dns_lookups")
	old := n.before(host)
	found, holds, err := n.ask(ctx, host, old != nil)
	addrs := n.family.order(found)
	if err == nil && len(addrs) > 0 {
		keep := n.keep(holds)
		if n.options.DNSStale > 0 {
			n.known.Add(host, knownName{addrs, time.Now().Add(keep + time.Duration(n.options.DNSStale))})
		}
		return loadingcache.Loaded[resolved]{Value: resolved{addrs: addrs}, Keep: keep, Cost: 1}, nil
	}
	n.count("dns_failures")
	switch {
	case err == nil && len(found) > 0:
		err = &FamilyError{host, n.family}
	case err == nil:
		err = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	case !isNotFound(err) && old != nil:
		n.count("dns_stale")
		return loadingcache.Loaded[resolved]{Value: resolved{addrs: old}, Keep: time.Duration(n.options.DNSKeepFailures), Cost: 1}, nil
	case !isNotFound(err):
		return loadingcache.Loaded[resolved]{}, err
	}
	return loadingcache.Loaded[resolved]{Value: resolved{err: err}, Keep: time.Duration(n.options.DNSKeepFailures), Cost: 1}, nil
}

// ask has the resolver look a name up; within half the time, if something is known that can stand in.
func (n *dnsCache) ask(ctx context.Context, host string, hurry bool) ([]netip.Addr, time.Duration, error) {
	if deadline, ok := ctx.Deadline(); ok && hurry {
		short, end := context.WithTimeout(ctx, time.Until(deadline)/2)
		defer end()
		ctx = short
	}
	return n.resolver.Lookup(ctx, host)
}

// keep returns for how long addresses are kept that hold for a while.
func (n *dnsCache) keep(holds time.Duration) time.Duration {
	if holds < 0 {
		return time.Duration(n.options.DNSKeep)
	}
	return min(max(holds, time.Duration(n.options.DNSMinTTL)), time.Duration(n.options.DNSMaxTTL))
}

// before returns the addresses that a host had before; nil if none are known that may still be used.
func (n *dnsCache) before(host string) []netip.Addr {
	if k, ok := n.known.Get(host); ok && !time.Now().After(k.until) {
		return k.addrs
	}
	return nil
}

func isNotFound(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}
