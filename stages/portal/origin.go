package portal

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// fromElsewhere refuses a request that a page of another site has a browser make, and one for another host.
//
// Browsers say where a request comes from by Sec-Fetch-Site or Origin. A request with a cookie and neither is refused:
// no browser that keeps the cookie to its site leaves out both.
func (s *site) fromElsewhere(r *http.Request) error {
	if !s.isOurs(r.Host) {
		return refuse(http.StatusMisdirectedRequest, "error.host")
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	silent := r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == ""
	if silent && r.Header.Get("Cookie") != "" {
		return refuse(http.StatusForbidden, "error.origin")
	}
	if s.cross.Check(r) != nil {
		return refuse(http.StatusForbidden, "error.origin")
	}
	return nil
}

// isOurs reports whether the host that a request names is the one that people reach the application at. Without one
// that is set it is this machine, by its address or as localhost: a name of another site that leads here is not ours.
func (s *site) isOurs(host string) bool {
	if s.tools.options.URL != "" {
		return strings.EqualFold(host, s.tools.base.Host) || isLoopback(hostname(host))
	}
	return isLoopback(hostname(host))
}

func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.Trim(host, "[]")
}

// clientOf returns the address that a request comes from: what proxies say is believed of those that are ours alone.
func (t *tools) clientOf(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	address := from.Addr().Unmap()
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(said) - 1; i >= 0 && t.isProxy(address); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(said[i]))
		if err != nil {
			break
		}
		address = before.Unmap()
	}
	return address
}

func (t *tools) isProxy(address netip.Addr) bool {
	for _, network := range t.options.Proxies {
		if p, err := netip.ParsePrefix(network); err == nil && p.Contains(address) {
			return true
		}
	}
	return false
}
