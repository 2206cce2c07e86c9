package httpclient

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/webrace/webrace/internal/contentcoding"
	"github.com/webrace/webrace/internal/mediatype"
)

// Target is a URL as a request needs it.
type Target struct {
	URL    string
	Scheme string
	Host   string // with the port, if it is not the scheme's default
	Path   string // with the query

	Method string // empty is GET
	Body   []byte // of the request; nil for none

	Takes  func(mediaType string) bool // whose responses' bodies are read; nil for all
	Memory *Reservation                // for the body; nil without limit

	KeepIncomplete bool // a body that ends early is kept as far as it came: [ErrIncomplete]; else that is an error
}

// ErrTarget is the error for a URL that cannot be asked for.
var ErrTarget = errors.New("not a normalized http or https URL")

// ParseTarget takes a normalized URL apart. It checks no more than what keeps a request one request: no
// space or control character, and no user name.
func ParseTarget(u string) (Target, error) {
	scheme, rest, ok := strings.Cut(u, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return Target{}, ErrTarget
	}
	for i := range len(u) {
		if u[i] <= ' ' || u[i] >= 0x7f || u[i] == '#' {
			return Target{}, ErrTarget
		}
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	t := Target{URL: u, Scheme: scheme, Host: rest[:end], Path: rest[end:]}
	if t.Host == "" || strings.ContainsAny(t.Host, `@\`) {
		return Target{}, ErrTarget
	}
	if !strings.HasPrefix(t.Path, "/") {
		t.Path = "/" + t.Path
	}
	return t, nil
}

// hostPort returns the host, without brackets, and the port that a connection goes to.
func (t Target) hostPort() (host, port string) {
	host = t.Host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, port = host[:i], host[i+1:]
	}
	if port == "" {
		port = "80"
		if t.Scheme == "https" {
			port = "443"
		}
	}
	return strings.Trim(host, "[]"), port
}

// Origin is what a robots.txt speaks for.
func (t Target) Origin() string { return t.Scheme + "://" + t.Host }

// ignores reports whether the body of a response is left where it is, for what it is.
func (t Target) ignores(a *Response) bool {
	return t.Takes != nil && contentcoding.HasDocument(a.Status) && !t.Takes(mediatype.Of(a.Header.Get("Content-Type")))
}

// requestURL returns the URL for net/http such that the path goes out as it is. Reading it with net/url
// would spell it anew, by rules that are not those of the web.
func (t Target) requestURL() *url.URL {
	opaque := t.Path
	if strings.HasPrefix(opaque, "//") {
		opaque = "//" + t.Host + opaque // net/url takes two slashes for an absolute form, so it gets one
	}
	return &url.URL{Scheme: t.Scheme, Host: t.Host, Opaque: opaque}
}

// carry gives a request the body of the target, which may be sent again where the host has seen nothing of it.
func (t Target) carry(request *http.Request) {
	if t.Body == nil {
		return
	}
	request.ContentLength = int64(len(t.Body))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(t.Body)), nil }
	request.Body, _ = request.GetBody()
}
