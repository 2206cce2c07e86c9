// Package scope answers, without looking anything up, whether a URL lies within the scope of a crawl
// and what an ordered list of rules says about it. The frontier asks it at its door, for links,
// redirects and sitemaps alike, and nobody else does: one gate, one answer.
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

// Matcher says which URLs a crawl may follow. The zero value admits every URL that has a host.
type Matcher struct {
	scope webrace.Scope
	want  string // what to compare with: an authority, a domain or a prefix
}

// New returns the matcher of a crawl that begins at start. An empty scope is [webrace.ScopeHost].
func New(start string, s webrace.Scope) (Matcher, error) {
	rest, ok := afterScheme(start)
	host := authority(rest)
	if !ok || host == "" {
		return Matcher{}, fmt.Errorf("scope of %q: not an absolute URL with a host", start)
	}
	switch s {
	case "", webrace.ScopeHost:
		return Matcher{webrace.ScopeHost, host}, nil
	case webrace.ScopeDomain:
		return Matcher{s, domain(hostname(host))}, nil
	case webrace.ScopePrefix:
		return Matcher{s, host + urlnorm.Identity(directory(rest))}, nil
	case webrace.ScopeAny:
		return Matcher{s, ""}, nil
	}
	return Matcher{}, fmt.Errorf("scope of %q: unknown scope %q (host, domain, prefix or any)", start, s)
}

// Match reports whether the crawl may follow url.
func (m Matcher) Match(url string) bool {
	rest, ok := afterScheme(url)
	if !ok {
		return false
	}
	host := authority(rest)
	switch m.scope {
	case webrace.ScopeHost:
		return host == m.want
	case webrace.ScopeDomain:
		return under(hostname(host), m.want)
	case webrace.ScopePrefix:
		return hasPrefix(host, urlnorm.Identity(tail(rest)), m.want)
	}
	return host != ""
}

// Host returns the host and port of an absolute URL, and whether it has one.
func Host(url string) (string, bool) {
	rest, ok := afterScheme(url)
	if !ok {
		return "", false
	}
	host := authority(rest)
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

// afterScheme returns what follows "scheme://".
func afterScheme(url string) (string, bool) {
	for i := range len(url) {
		switch url[i] {
		case '/', '?', '#':
			return "", false
		case ':':
			if rest, ok := strings.CutPrefix(url[i:], "://"); ok && i > 0 {
				return rest, true
			}
		}
	}
	return "", false
}

// authority returns the host and port that rest, the part after the scheme, begins with.
func authority(rest string) string {
	rest = rest[:len(rest)-len(tail(rest))]
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// tail returns path, query and fragment.
func tail(rest string) string {
	for i := range len(rest) {
		if c := rest[i]; c == '/' || c == '?' || c == '#' {
			return rest[i:]
		}
	}
	return ""
}

// directory returns the path up to its last slash, "/" at least.
func directory(rest string) string {
	path := pathOnly(rest)
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i+1]
	}
	return "/"
}

// pathOnly returns the path without query and fragment.
func pathOnly(rest string) string {
	path := tail(rest)
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		return path[:i]
	}
	return path
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
