// Package netguard decides which addresses a crawler may connect to. Any site can publish a link, a
// redirect or a DNS record that points into the network the crawler runs in; the guard therefore looks
// at the address that is about to be connected to, after DNS, for every protocol and on every redirect.
//
// It guarantees: an address outside the public Internet (loopback, private, link-local, carrier-grade
// NAT, multicast, documentation, NAT64, IPv4 in IPv6, and whatever else IANA reserves) is refused unless
// the operator's list admits it, and an address at which a cloud answers with its machine's credentials
// is refused unless the list holds exactly that address. What is not an IP address is refused.
//
// A kept-alive connection skips the check, so connections made under different lists must not be shared.
package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// Guard is safe for concurrent use.
type Guard struct {
	entries []string       // as the operator wrote them, for hints
	allowed []netip.Prefix // in unmapped form
	public  *ssrf.Guardian
}

// Words that stand for networks in a list of admitted ones.
var words = map[string][]netip.Prefix{
	"loopback": prefixes("127.0.0.0/8", "::1/128"),
	"private":  prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
}

// New returns a guard that admits, besides the public Internet, the networks listed: CIDR prefixes,
// single addresses, and the words "loopback" and "private" (RFC 1918 and unique local addresses).
func New(allow []string) (*Guard, error) {
	g := &Guard{
		entries: slices.Clone(allow),
		public:  ssrf.New(ssrf.WithAnyPort(), ssrf.WithNetworks("tcp4", "tcp6")),
	}
	for _, entry := range allow {
		admitted, err := parse(entry)
		if err != nil {
			return nil, err
		}
		g.allowed = append(g.allowed, admitted...)
	}
	return g, nil
}

func parse(entry string) ([]netip.Prefix, error) {
	if named, ok := words[entry]; ok {
		return named, nil
	}
	if addr, err := netip.ParseAddr(entry); err == nil && addr.Zone() == "" {
		addr = plain(addr)
		return []netip.Prefix{netip.PrefixFrom(addr, addr.BitLen())}, nil
	}
	p, err := netip.ParsePrefix(entry)
	if err != nil {
		return nil, fmt.Errorf("%q is neither a network (10.0.0.0/8), nor an address (10.1.2.3), nor \"loopback\" or \"private\"", entry)
	}
	if p != p.Masked() {
		return nil, fmt.Errorf("%q names an address and a network at once: write %s or %s", entry, p.Masked(), p.Addr())
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return []netip.Prefix{p}, nil
}

// plain is the address as prefixes know it: without a zone, and IPv4 as IPv4.
func plain(addr netip.Addr) netip.Addr { return addr.WithZone("").Unmap() }

// Admitted reports whether the operator's list admits the address, whatever the public Internet is: such
// an address is trusted, and needs no politeness.
func (g *Guard) Admitted(addr netip.Addr) bool {
	addr = plain(addr)
	exact := slices.Contains(metadata, addr)
	return slices.ContainsFunc(g.allowed, func(p netip.Prefix) bool {
		return p.Contains(addr) && (!exact || p.IsSingleIP())
	})
}

// Check returns nil when the address may be connected to, and a [*RefusedError] otherwise.
func (g *Guard) Check(addr netip.Addr) error {
	if g.Admitted(addr) {
		return nil
	}
	if !slices.Contains(metadata, plain(addr)) && addr.IsValid() && g.public.SafeAddr(addr) == nil {
		return nil
	}
	why, word := describe(addr)
	return &RefusedError{
		Addr: addr,
		Why:  why,
		Hint: "--set fetch.allow_networks=" + strings.Join(append(slices.Clone(g.entries), word), ","),
	}
}

// Control checks the address of a connection about to be made; it goes into [net.Dialer.Control].
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("refused to connect over %q: only TCP is guarded", network)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("refused to connect to %q: not an IP address and port", address)
	}
	return g.Check(target.Addr())
}

// RefusedError means that an address is not to be connected to.
type RefusedError struct {
	Addr netip.Addr
	Why  string // what kind of address it is: "a loopback address"
	Hint string // the flag that would admit it
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused to connect to %s: %s (to allow it: %s)", e.Addr, e.Why, e.Hint)
}

// IsRefused reports whether an error came from a guard's refusal of an address, however it is wrapped.
func IsRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}
