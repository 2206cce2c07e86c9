package urlnorm

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Host returns the authority of a normalized URL: its host, and its port if that is not the scheme's
// default ("example.org:8080"). It is empty for what is no URL. It allocates nothing.
func Host(u string) string {
	end := hostEnd(u)
	if end == 0 {
		return ""
	}
	return u[strings.Index(u, "://")+3 : end]
}

// hostEnd returns where scheme and authority of a URL end, 0 if it has none.
func hostEnd(u string) int {
	i := strings.Index(u, "://")
	if i < 0 {
		return 0
	}
	i += len("://")
	if n := strings.IndexAny(u[i:], "/?#"); n >= 0 {
		return i + n
	}
	return len(u)
}

// SplitHost cuts what [Host] returned into name and port; the port is empty when it is the default. The
// name of an IPv6 address keeps its brackets.
func SplitHost(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.HasSuffix(host, "]") {
		return host, ""
	}
	return host[:i], host[i+1:]
}

// Domain returns the registrable domain of a normalized URL: the public suffix and one label more
// ("example.co.uk"). What has none (an address, a single label, a public suffix itself) stands for
// itself. A dot at the end of the host is left out.
func Domain(u string) string {
	name, _ := SplitHost(Host(u))
	if len(name) > 1 {
		name = strings.TrimSuffix(name, ".")
	}
	if name == "" || isAddress(name) {
		return name
	}
	suffix, _ := publicsuffix.PublicSuffix(name)
	rest := len(name) - len(suffix) - 1
	if rest <= 0 {
		return name
	}
	return name[strings.LastIndexByte(name[:rest], '.')+1:]
}

// isAddress tells an IP address from a name. In a normalized URL a host whose last label begins with a
// digit and holds nothing else is an address.
func isAddress(name string) bool {
	if strings.HasPrefix(name, "[") {
		return true
	}
	label := name[strings.LastIndexByte(name, '.')+1:]
	return label != "" && strings.Trim(label, digits) == ""
}
