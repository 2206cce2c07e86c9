package netguard

import (
	"net/netip"
	"slices"
)

// metadata holds the addresses at which clouds hand out a machine's credentials. Some lie in networks an
// operator may well admit as a whole, one even in a public one, so only their own entry admits them.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), // AWS, Google, Azure, OpenStack and most others
	netip.MustParseAddr("169.254.170.2"),   // AWS containers
	netip.MustParseAddr("169.254.170.23"),  // AWS Kubernetes pods
	netip.MustParseAddr("fd00:ec2::254"),   // AWS
	netip.MustParseAddr("fd00:ec2::23"),    // AWS Kubernetes pods
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("192.0.0.192"),     // Oracle
	netip.MustParseAddr("168.63.129.16"),   // Azure's host agent
}

// kinds names what is refused, for the message; which address is refused is not decided here.
var kinds = []struct {
	networks []netip.Prefix
	name     string
	word     string // what admits it; empty for the address itself
}{
	{words["loopback"], "a loopback address", "loopback"},
	{words["private"], "a private address", "private"},
	{prefixes("0.0.0.0/8", "::/128"), "an unspecified address, which reaches this machine", ""},
	{prefixes("169.254.0.0/16", "fe80::/10"), "a link-local address", ""},
	{prefixes("100.64.0.0/10"), "a carrier-grade NAT address", ""},
	{prefixes("224.0.0.0/4", "ff00::/8"), "a multicast address", ""},
	{prefixes("64:ff9b::/96", "64:ff9b:1::/48"), "a NAT64 address, which hides an IPv4 address", ""},
	{prefixes("2002::/16"), "a 6to4 address, which hides an IPv4 address", ""},
	{prefixes("2001::/32"), "a Teredo address, which hides an IPv4 address", ""},
}

// describe returns what kind of refused address it is and which entry of a list would admit it.
func describe(addr netip.Addr) (why, word string) {
	bare := plain(addr)
	if slices.Contains(metadata, bare) {
		return "a cloud metadata address, which gives out credentials", bare.String()
	}
	for _, k := range kinds {
		for _, p := range k.networks {
			if !p.Contains(bare) {
				continue
			}
			if word = k.word; word == "" {
				word = bare.String()
			}
			return k.name, word
		}
	}
	return "not an address of the public Internet", bare.String()
}

func prefixes(cidrs ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(cidrs))
	for i, c := range cidrs {
		ps[i] = netip.MustParsePrefix(c)
	}
	return ps
}
