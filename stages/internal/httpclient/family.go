package httpclient

import (
	"fmt"
	"net/netip"
)

// family determines which of the two families of addresses are connected to, and which goes first.
type family struct {
	only  int // 4 or 6; 0 for both
	first int // 4 or 6; 0 for the resolver's order
}

// families are the values of ip_family.
var families = map[string]family{
	"any": {}, "prefer-ipv4": {first: 4}, "prefer-ipv6": {first: 6}, "ipv4": {only: 4, first: 4}, "ipv6": {only: 6, first: 6},
}

// FamilyError means that a host has no address of the family that is spoken.
type FamilyError struct {
	host   string
	family family
}

func (e *FamilyError) Error() string {
	return fmt.Sprintf("refused to connect to %s: it has no address of IPv%d, and only those are connected to (option ip_family)", e.host, e.family.only)
}

// network is what package net calls the addresses of the family.
func (f family) network() string {
	switch f.only {
	case 4:
		return "ip4"
	case 6:
		return "ip6"
	}
	return "ip"
}

func (f family) speaks(addr netip.Addr) bool { return f.only == 0 || f.only == versionOf(addr) }

func versionOf(addr netip.Addr) int {
	if addr.Unmap().Is4() {
		return 4
	}
	return 6
}

// order picks the addresses to try: IPv4 and IPv6 alternately, since often one of the two does not work at
// all, each in the resolver's order, and beginning with the family that goes first.
func (f family) order(addrs []netip.Addr) []netip.Addr {
	var same, other []netip.Addr
	first := f.first
	for _, addr := range addrs {
		if first == 0 {
			first = versionOf(addr)
		}
		switch addr = addr.Unmap(); {
		case !f.speaks(addr):
		case versionOf(addr) == first:
			same = append(same, addr)
		default:
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
