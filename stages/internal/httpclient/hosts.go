package httpclient

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// hosts is a list of hosts, as options name them: a name or an address, with a port if only that is
// meant; "*." and a domain for all hosts under it, but not itself; a network, for hosts that are
// addresses; "*" for all.
type hosts []hostPattern

type hostPattern struct {
	name    string // in lower case; empty if it does not matter
	under   string // a dot and the domain
	network netip.Prefix
	port    string // empty for any
}

func parseHosts(list []string) (hosts, error) {
	var parsed hosts
	for _, entry := range list {
		p, ok := parseHost(strings.ToLower(entry))
		if !ok {
			return nil, fmt.Errorf("%q is neither a host (www.example.org, [2001:db8::1], with :port after it or not), "+
				"nor all hosts of a domain (*.example.org), nor a network (10.0.0.0/8), nor *", entry)
		}
		parsed = append(parsed, p)
	}
	return parsed, nil
}

func parseHost(entry string) (hostPattern, bool) {
	if entry == "*" {
		return hostPattern{}, true
	}
	if network, err := netip.ParsePrefix(entry); err == nil {
		return hostPattern{network: network}, network == network.Masked()
	}
	var p hostPattern
	p.name = strings.Trim(entry, "[]")
	if addr, err := netip.ParseAddr(p.name); err == nil {
		p.name = addr.String()
		return p, addr.Zone() == ""
	}
	if host, port, err := net.SplitHostPort(entry); err == nil {
		p.name, p.port = host, port
		if port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
			return p, false
		}
	}
	if addr, err := netip.ParseAddr(p.name); err == nil {
		p.name = addr.String()
		return p, addr.Zone() == ""
	}
	if domain, ok := strings.CutPrefix(p.name, "*."); ok {
		p.name, p.under = "", "."+domain
		return p, isHostName(domain)
	}
	return p, isHostName(p.name)
}

// isHostName reports whether s may be a name as it stands in a normalized URL.
func isHostName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
			return false
		}
	}
	return s != "" && s[0] != '.'
}

// match reports whether a host, without brackets, is in the list at this port.
func (h hosts) match(host, port string) bool {
	if len(h) == 0 {
		return false
	}
	addr, _ := netip.ParseAddr(host)
	return slices.ContainsFunc(h, func(p hostPattern) bool {
		switch {
		case p.port != "" && p.port != port:
			return false
		case p.network.IsValid():
			return p.network.Contains(addr)
		case p.under != "":
			return strings.HasSuffix(host, p.under) && len(host) > len(p.under)
		}
		return p.name == "" || p.name == host
	})
}
