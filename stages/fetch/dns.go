package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// How long names and their absence are remembered, how many, and how many addresses of one are tried.
// What is remembered is not trusted: each address is checked when it is connected to.
const (
	keepName     = 5 * time.Minute
	keepNoName   = 10 * time.Second
	maxNames     = 10_000
	maxAddresses = 4
)

// names looks hosts up, each once in a while.
type names struct {
	resolver resolver
	memo     *memo[resolved]
}

type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// resolved is what a host's name stands for, or why it stands for nothing.
type resolved struct {
	addrs []netip.Addr
	err   error
}

func newNames(r resolver) *names { return &names{resolver: r, memo: newMemo[resolved](maxNames)} }

// resolve returns the addresses of a host, at least one.
func (n *names) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	found, err := n.memo.get(ctx, host, func(ctx context.Context) (loaded[resolved], error) {
		return n.lookup(ctx, host)
	})
	if err == nil {
		err = found.err
	}
	return found.addrs, err
}

func (n *names) lookup(ctx context.Context, host string) (loaded[resolved], error) {
	addrs, err := n.resolver.LookupNetIP(ctx, "ip", host)
	var dns *net.DNSError
	switch {
	case err == nil && len(addrs) > 0:
		return loaded[resolved]{value: resolved{addrs: bothFamilies(addrs)}, keep: keepName, cost: 1}, nil
	case err == nil:
		err = fmt.Errorf("look up %s: no addresses", host)
	case !errors.As(err, &dns) || !dns.IsNotFound:
		return loaded[resolved]{}, err
	}
	return loaded[resolved]{value: resolved{err: err}, keep: keepNoName, cost: 1}, nil
}

// bothFamilies picks the addresses to try: the first ones in the resolver's order, but by turns of IPv4
// and IPv6, since often one of the two does not work at all.
func bothFamilies(addrs []netip.Addr) []netip.Addr {
	var same, other []netip.Addr
	for _, addr := range addrs {
		if addr = addr.Unmap(); addr.Is4() == addrs[0].Unmap().Is4() {
			same = append(same, addr)
		} else {
			other = append(other, addr)
		}
	}
	var picked []netip.Addr
	for i := 0; len(picked) < maxAddresses && (i < len(same) || i < len(other)); i++ {
		if i < len(same) {
			picked = append(picked, same[i])
		}
		if i < len(other) && len(picked) < maxAddresses {
			picked = append(picked, other[i])
		}
	}
	return picked
}
