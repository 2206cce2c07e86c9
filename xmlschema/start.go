package xmlschema

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/urlnorm"
)

// server is how a protocol's sources are addressed that lie on a server, but for those of the web.
type server struct {
	plain, secure         string // schemes
	plainPort, securePort int
	bare                  string // the scheme that the bare name of a server stands for, without a port
	example               string
	path                  func(u *URD, path string) (string, error) // of the source on its server
}

var servers = map[string]server{
	ProtocolIMAP: {"imap", "imaps", 143, 993, "imaps", "imaps://mail.example.org/INBOX", mailboxOf},
	ProtocolPOP3: {"pop3", "pop3s", 110, 995, "pop3s", "pop3s://mail.example.org", noPath},
	ProtocolNNTP: {"nntp", "nntps", 119, 563, "nntp", "nntps://news.example.org/comp.lang.go", newsgroupOf},
}

// Start returns the address at which the request's crawl begins, in the one form that all spellings of it have, so that
// owners who mean the same share it. The papers name a server alone, its port, and the newsgroup beside it; that is
// scheme://host[:port]/path, too. The error tells what to write instead. [URD.Port] and [URD.Group] are part of it, and
// the request of a start is not.
func (u *URD) Start() (string, error) {
	switch protocol := orElse(u.Protocol, ProtocolHTTP); protocol {
	case ProtocolHTTP, ProtocolFeed:
		start := u.URI
		if u.Port != 0 {
			start = withPort(start, strconv.Itoa(u.Port))
		}
		return urlnorm.Parse(start)
	case ProtocolDB:
		return u.queryStart()
	default:
		if on, ok := servers[protocol]; ok {
			return u.startOn(on)
		}
		if u.Port != 0 {
			return withPort(u.URI, strconv.Itoa(u.Port)), nil
		}
		return u.URI, nil
	}
}

// ParseStart returns the one form of the address of a source that is not of the web.
func ParseStart(address string) (string, error) {
	protocol := ProtocolOf(address)
	if protocol == ProtocolHTTP {
		return "", fmt.Errorf("%.256q begins as no source does", address)
	}
	return (&URD{Protocol: protocol, URI: address}).Start()
}

// ProtocolOf returns the protocol of an address by how that begins: http where it begins as no other does.
func ProtocolOf(address string) string {
	scheme, _, _ := strings.Cut(address, "://")
	if scheme == ProtocolDB {
		return ProtocolDB
	}
	for protocol, on := range servers {
		if scheme == on.plain || scheme == on.secure {
			return protocol
		}
	}
	return ProtocolHTTP
}

// withPort adds a port to a URL that has none, or to the bare name of a host.
func withPort(address, port string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return address + ":" + port
	}
	if parsed.Port() == "" {
		parsed.Host = net.JoinHostPort(parsed.Hostname(), port)
	}
	return parsed.String()
}

// startOn is the address of a source on a server.
func (u *URD) startOn(on server) (string, error) {
	wrong := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("uri %q %s: write it as %s", u.URI, fmt.Sprintf(format, args...), on.example)
	}
	address := u.URI
	bare := !strings.Contains(address, "://")
	if bare {
		address = on.bare + "://" + address
	}
	parsed, err := url.Parse(address)
	switch {
	case err != nil:
		return wrong("cannot be read")
	case parsed.Scheme != on.plain && parsed.Scheme != on.secure:
		return wrong("begins with neither %s:// nor %s://", on.plain, on.secure)
	case parsed.User != nil:
		return wrong("names a user: that is part of the credentials, which secret names")
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return wrong("has more than a server and what lies on it")
	}
	port := u.Port
	if own := parsed.Port(); own != "" {
		n, err := strconv.Atoi(own)
		if err != nil || n < 1 || n > 65535 {
			return wrong("has the port %s, and ports are 1 to 65535", own)
		}
		if port != 0 && port != n {
			return wrong("has the port %d, and port is %d: leave one of them out", n, port)
		}
		port = n
	}
	scheme := parsed.Scheme
	if bare && port == on.plainPort {
		scheme = on.plain
	} else if bare && port == on.securePort {
		scheme = on.secure
	}
	normal, err := urlnorm.Parse("http://" + strings.TrimSuffix(parsed.Host, ":"+parsed.Port()) + "/")
	if err != nil || parsed.Hostname() == "" {
		return wrong("names no server")
	}
	host := urlnorm.Host(normal)
	if usual := map[string]int{on.plain: on.plainPort, on.secure: on.securePort}[scheme]; port != 0 && port != usual {
		host += ":" + strconv.Itoa(port)
	}
	path, err := on.path(u, strings.Trim(parsed.Path, "/"))
	if err != nil {
		return wrong("%v", err)
	}
	return scheme + "://" + host + "/" + (&url.URL{Path: path}).EscapedPath(), nil
}

// mailboxOf is the mailbox of a path of IMAP (RFC 5092), and the inbox where it names none.
func mailboxOf(u *URD, path string) (string, error) {
	switch {
	case u.Group != "":
		return "", errors.New("stands beside a group, which is one of news")
	case path == "" || strings.EqualFold(path, "INBOX"):
		return "INBOX", nil
	case strings.Contains(strings.ToUpper(path), ";UID"):
		return "", errors.New("names a message, and a source is a mailbox")
	case strings.ContainsFunc(path, isControl):
		return "", errors.New("names a mailbox with control characters")
	}
	return path, nil
}

// newsgroupOf is the newsgroup that stands in the path, or beside the URI as the papers have it.
func newsgroupOf(u *URD, path string) (string, error) {
	group := path
	if group == "" {
		group = u.Group
	}
	switch {
	case group == "":
		return "", errors.New("names no newsgroup")
	case u.Group != "" && u.Group != group:
		return "", fmt.Errorf("names the newsgroup %q, and group is %q", path, u.Group)
	case strings.ContainsAny(group, " *?[]\\!,/@<>") || strings.ContainsFunc(group, isControl):
		return "", fmt.Errorf("is not of one newsgroup: %q is the name of none", group)
	}
	return group, nil
}

func noPath(u *URD, path string) (string, error) {
	switch {
	case u.Group != "":
		return "", errors.New("stands beside a group, which is one of news")
	case path != "":
		return "", errors.New("names more than a server, which has one mailbox for each account")
	}
	return "", nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }

// queryStart is the address of a query that the operator has declared, and of the values of its parameters.
func (u *URD) queryStart() (string, error) {
	wrong := func(what string) (string, error) {
		return "", fmt.Errorf("uri %q %s: write it as db://NAME?parameter=value, of a query that the configuration declares", u.URI, what)
	}
	address := u.URI
	if !strings.Contains(address, "://") {
		address = ProtocolDB + "://" + address
	}
	parsed, err := url.Parse(address)
	switch {
	case err != nil:
		return wrong("cannot be read")
	case parsed.Scheme != ProtocolDB:
		return wrong("does not begin with db://")
	case u.Port != 0 || u.Group != "" || parsed.User != nil || parsed.Port() != "" || strings.Trim(parsed.Path, "/") != "" || parsed.Fragment != "":
		return wrong("has more than the name of a query and parameters")
	case parsed.Host == "":
		return wrong("names no query")
	}
	given, err := url.ParseQuery(parsed.RawQuery)
	if err != nil {
		return wrong("has parameters that cannot be read")
	}
	for name, values := range given {
		if len(values) > 1 {
			return wrong(fmt.Sprintf("gives the parameter %s twice", name))
		}
	}
	start := ProtocolDB + "://" + parsed.Host
	if len(given) > 0 {
		start += "?" + given.Encode()
	}
	return start, nil
}
