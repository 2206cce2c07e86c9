package fetch

import (
	"errors"
	"net/url"
	"strings"
)

// target is a URL as a request needs it.
type target struct {
	url    string
	scheme string
	host   string // with the port, if it is not the scheme's default
	path   string // with the query

	takes func(mediaType string) bool // whose answers' bodies are read; nil for all
	room  *room                       // for the body; nil without limit
}

var errTarget = errors.New("not a normalized http or https URL")

// parseTarget takes a normalized URL apart. It checks no more than what keeps a request one request: no
// space or control character, and no user name.
func parseTarget(u string) (target, error) {
	scheme, rest, ok := strings.Cut(u, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return target{}, errTarget
	}
	for i := range len(u) {
		if u[i] <= ' ' || u[i] >= 0x7f || u[i] == '#' {
			return target{}, errTarget
		}
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	t := target{url: u, scheme: scheme, host: rest[:end], path: rest[end:]}
	if t.host == "" || strings.ContainsAny(t.host, `@\`) {
		return target{}, errTarget
	}
	if !strings.HasPrefix(t.path, "/") {
		t.path = "/" + t.path
	}
	return t, nil
}

// hostPort returns the host, without brackets, and the port that a connection goes to.
func (t target) hostPort() (host, port string) {
	host = t.host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:i], host[i+1:]
	}
	if port == "" {
		port = "80"
		if t.scheme == "https" {
			port = "443"
		}
	}
	return strings.Trim(host, "[]"), port
}

// origin is what a robots.txt speaks for.
func (t target) origin() string { return t.scheme + "://" + t.host }

// requestURL returns the URL for net/http such that the path goes out as it is. Reading it with net/url
// would spell it anew, by rules that are not those of the web.
func (t target) requestURL() *url.URL {
	opaque := t.path
	if strings.HasPrefix(opaque, "//") {
		opaque = "//" + t.host + opaque // net/url takes two slashes for an absolute form, so it gets one
	}
	return &url.URL{Scheme: t.scheme, Host: t.host, Opaque: opaque}
}
