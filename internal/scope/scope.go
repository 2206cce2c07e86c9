// Package scope answers, without looking anything up, whether a URL lies within the scope of a crawl
// and what an ordered list of rules decides about it. The frontier asks it when a URL is offered, for links,
// redirects and sitemaps alike, and no other package does: one gate, one answer.
//
// URLs are absolute and normalized. Their scheme does not count: http://example.org and
// https://example.org are one host, or the first redirect of most sites would leave the crawl. Nor does how
// they are escaped: what is compared are their identities ([urlnorm.Identity]), but by a rule of kind regexp.
// Everything here is safe for concurrent use.
package scope

import (
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Matcher determines which URLs a crawl may follow. The zero value admits every URL that has a host.
type Matcher struct {
	scope webrace.Scope
	want  string // what to compare with: an authority, a domain or a prefix
}

// New returns the matcher of a crawl that begins at start. An empty scope is [webrace.ScopeHost].
func New(start string, s webrace.Scope) (Matcher, error) {
	_, rest, _ := urlnorm.CutScheme(start)
	host, tail := urlnorm.CutHost(rest)
	if host == "" {
		return Matcher{}, fmt.Errorf("scope of %q: not an absolute URL with a host", start)
	}
	switch s {
	case "", webrace.ScopeHost:
		return Matcher{webrace.ScopeHost, host}, nil
	case webrace.ScopeDomain:
		return Matcher{s, domain(hostname(host))}, nil
	case webrace.ScopePrefix:
		return Matcher{s, host + urlnorm.Identity(directory(tail))}, nil
	case webrace.ScopeAny:
		return Matcher{s, ""}, nil
	}
	return Matcher{}, fmt.Errorf("scope of %q: unknown scope %q (host, domain, prefix or any)", start, s)
}

// Match reports whether the crawl may follow url.
func (m Matcher) Match(url string) bool {
	_, rest, ok := urlnorm.CutScheme(url)
	if !ok {
		return false
	}
	host, tail := urlnorm.CutHost(rest)
	switch m.scope {
	case webrace.ScopeHost:
		return host == m.want
	case webrace.ScopeDomain:
		return under(hostname(host), m.want)
	case webrace.ScopePrefix:
		return hasPrefix(host, urlnorm.Identity(tail), m.want)
	}
	return host != ""
}

// Host returns the host and port of an absolute URL, and whether it has one.
func Host(url string) (string, bool) {
	host := urlnorm.Host(url)
	return host, host != ""
}

// hasPrefix reports whether host followed by path begins with want, a host and a directory. The two are
// compared apart, because user information may stand before the host of a URL.
func hasPrefix(host, path, want string) bool {
	dir, ok := strings.CutPrefix(want, host)
	if !ok || dir == "" || dir[0] != '/' {
		return false
	}
	return strings.HasPrefix(path, dir) || path == "" && dir == "/"
}

// directory returns the path up to its last slash, "/" at least.
func directory(tail string) string {
	if i := strings.IndexAny(tail, "?#"); i >= 0 {
		tail = tail[:i]
	}
	if i := strings.LastIndexByte(tail, '/'); i >= 0 {
		return tail[:i+1]
	}
	return "/"
}

// hostname returns host without its port.
func hostname(host string) string {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i]
	}
	return host
}

// domain returns the registrable domain of a host name, or the name itself when it is an address, or
// has none.
func domain(name string) string {
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return name
	}
	if d, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
		return d
	}
	return name
}

// under reports whether name is domain or lies under it.
func under(name, domain string) bool {
	rest, ok := strings.CutSuffix(name, domain)
	return ok && domain != "" && (rest == "" || rest[len(rest)-1] == '.')
}
