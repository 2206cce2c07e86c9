package urlnorm

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nlnwa/whatwg-url/url"

	"github.com/webrace/webrace/internal/charsets"
)

// Base is a document's address, against which its references are resolved. It may be used by many
// goroutines at once.
//
// Most references need no parser: [Base.Resolve] handles them byte by byte, and leaves to the standard's
// parser whatever it is not sure of (upper-case and international hosts, ports, characters to encode).
// Both give the same result.
type Base struct {
	href   string // normalized
	scheme string // with its colon
	origin string // scheme, host and port; empty for a document that is not of the web
	path   string // begins with a slash
	dir    int    // the length of path up to its last slash, inclusive
	parsed func() *url.Url

	encoding string // of the document, in which queries of its references are written; empty for UTF-8
}

// NewBase normalizes an absolute URL and makes it a base. So it does with the address of a message ([ParseAddress]),
// against which absolute URLs alone can be resolved.
func NewBase(s string) (*Base, error) {
	given := s
	s, err := Parse(given)
	if errors.Is(err, ErrScheme) && HasAddress(given) {
		if s, err = ParseAddress(given); err == nil {
			return &Base{href: s, parsed: func() *url.Url { return nil }}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	b := &Base{href: s, scheme: s[:strings.IndexByte(s, ':')+1], parsed: sync.OnceValue(func() *url.Url { return mustParse(s) })}
	b.origin = s[:hostEnd(s)]
	b.path = s[len(b.origin):]
	if q := strings.IndexByte(b.path, '?'); q >= 0 {
		b.path = b.path[:q]
	}
	b.dir = strings.LastIndexByte(b.path, '/') + 1
	return b, nil
}

// mustParse parses a URL that was normalized, for the standard's parser to resolve references against.
func mustParse(normalized string) *url.Url {
	u, err := parse(nil, normalized)
	if err != nil {
		panic("urlnorm: a normalized URL is none: " + err.Error()) // FuzzParse tries to make it so
	}
	u.SearchParams() // the parser caches them in the base at first use, which would be a race
	return u
}

// InEncoding returns the base of a document whose encoding has this name, the WHATWG standard's. The queries of its
// references are written in that; [NewBase] gives the base of one in UTF-8.
func (b *Base) InEncoding(name string) *Base {
	if name == b.encoding || name == "utf-8" && b.encoding == "" {
		return b
	}
	in := *b
	in.encoding = name
	return &in
}

// Rebase returns the base that a reference makes of this one, in the same encoding.
func (b *Base) Rebase(ref []byte) (*Base, error) {
	u, err := b.Resolve(ref)
	if err != nil {
		return nil, err
	}
	next, err := NewBase(u)
	if err != nil {
		return nil, err
	}
	return next.InEncoding(b.encoding), nil
}

// String returns the normalized URL.
func (b *Base) String() string { return b.href }

// Resolve returns the normalized URL that a reference means on the page of this base.
func (b *Base) Resolve(ref []byte) (string, error) {
	u, err := b.Append(make([]byte, 0, len(b.origin)+b.dir+len(ref)), ref)
	if err != nil {
		return "", err
	}
	return string(u), nil
}

// Append is [Base.Resolve] that appends the URL to dst, for callers who mostly see the same URLs again.
// On an error dst is returned as it was.
func (b *Base) Append(dst, ref []byte) ([]byte, error) {
	ref = trim(ref)
	if len(ref) > MaxLength {
		return dst, ErrLength
	}
	if b.origin == "" && schemeLength(ref) == 0 {
		return dst, fmt.Errorf("resolve %.256q against %s: %w: it is not absolute", ref, b.href, ErrInvalid)
	}
	switch u, err := b.appendFast(dst, ref); {
	case err == nil && len(u)-len(dst) <= MaxLength:
		return u, nil
	case errors.Is(err, ErrScheme):
		return dst, err
	}
	if b.encoding != "" {
		ref = charsets.EncodeQuery(ref, b.encoding)
	}
	u, err := b.exact(string(ref))
	if err != nil {
		return dst, err
	}
	return append(dst, u...), nil
}

// exact resolves a reference by the standard's parser.
func (b *Base) exact(ref string) (string, error) {
	u, err := parse(b.parsed(), ref)
	if err != nil {
		return "", fmt.Errorf("resolve against %s: %w", b.href, err)
	}
	return href(u)
}

// errUnsure makes Append ask the standard's parser.
var errUnsure = errors.New("not an easy reference")

// appendFast resolves the references it is sure of.
func (b *Base) appendFast(dst, ref []byte) ([]byte, error) {
	if i := bytes.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	if n := schemeLength(ref); n > 0 {
		return b.appendAbsolute(dst, ref[:n], ref[n:])
	}
	switch {
	case len(ref) == 0:
		return append(dst, b.href...), nil
	case bytes.HasPrefix(ref, []byte("//")):
		return appendAuthority(append(dst, b.scheme...), b.scheme, ref)
	case ref[0] == '?':
		dst = append(append(dst, b.origin...), b.path...)
		return appendQuery(dst, ref)
	}
	dst = append(dst, b.origin...)
	start := len(dst)
	if ref[0] != '/' {
		dst = append(dst, b.path[:b.dir]...)
	}
	return appendPath(dst, start, ref)
}

// appendAbsolute handles a reference with a scheme, which includes its colon.
func (b *Base) appendAbsolute(dst, scheme, rest []byte) ([]byte, error) {
	lower := "http:"
	switch {
	case bytes.EqualFold(scheme, []byte("http:")):
	case bytes.EqualFold(scheme, []byte("https:")):
		lower = "https:"
	default:
		return dst, ErrScheme
	}
	dst = append(dst, lower...)
	if !bytes.HasPrefix(rest, []byte("//")) {
		return dst, errUnsure
	}
	// The base's own host needs no second look.
	if host := b.origin[len(b.scheme):]; len(rest) > len(host) && rest[len(host)] == '/' &&
		string(scheme) == b.scheme && string(rest[:len(host)]) == host {
		dst = append(dst, host...)
		return appendPath(dst, len(dst), rest[len(host):])
	}
	return appendAuthority(dst, lower, rest)
}

// appendAuthority handles what follows the scheme: two slashes, a host, perhaps a path and a query.
func appendAuthority(dst []byte, scheme string, ref []byte) ([]byte, error) {
	end := 2
	for end < len(ref) && ref[end] != '/' && ref[end] != '?' {
		end++
	}
	if !plainAuthority(scheme, ref[2:end]) {
		return dst, errUnsure
	}
	dst = append(dst, ref[:end]...)
	if end == len(ref) {
		return append(dst, '/'), nil
	}
	if ref[end] == '?' {
		return appendQuery(append(dst, '/'), ref[end:])
	}
	return appendPath(dst, len(dst), ref[end:])
}

// appendPath appends ref, a path and perhaps a query, to the path that begins at start.
func appendPath(dst []byte, start int, ref []byte) ([]byte, error) {
	query := []byte(nil)
	dots := false
	for i, c := range ref {
		if c == '?' {
			ref, query = ref[:i], ref[i:]
			break
		}
		if !isPath[c] {
			// An escaped dot is a dot where it makes a dot segment; leave that to the parser.
			if c != '%' || !isEscape(ref, i) || escapesDot(ref, i) {
				return dst, errUnsure
			}
		}
		dots = dots || c == '.' && (i == 0 || ref[i-1] == '/')
	}
	dst = append(dst, ref...)
	if dots {
		dst = removeDots(dst, start)
	}
	if query != nil {
		return appendQuery(dst, query)
	}
	return dst, nil
}

// appendQuery appends ref, a question mark and a query.
func appendQuery(dst, ref []byte) ([]byte, error) {
	for i, c := range ref {
		if !isQuery[c] && (c != '%' || !isEscape(ref, i)) {
			return dst, errUnsure
		}
	}
	return append(dst, ref...), nil
}

// removeDots resolves the segments "." and ".." of the path that begins, with a slash, at start.
func removeDots(b []byte, start int) []byte {
	out := start
	for i := start; i < len(b); {
		end := i + 1
		for end < len(b) && b[end] != '/' {
			end++
		}
		last := end == len(b)
		switch segment := b[i+1 : end]; {
		case len(segment) == 1 && segment[0] == '.':
		case len(segment) == 2 && segment[0] == '.' && segment[1] == '.':
			out = start + max(0, bytes.LastIndexByte(b[start:out], '/'))
		default:
			out += copy(b[out:], b[i:end])
			last = false
		}
		if last { // the path ends in a dot segment: it names a directory
			b[out] = '/'
			out++
		}
		i = end
	}
	return b[:out]
}

// schemeLength returns the length of the scheme at the beginning of ref, with its colon; 0 for none.
func schemeLength(ref []byte) int {
	for i, c := range ref {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case c == ':':
			if i > 0 {
				return i + 1
			}
			return 0
		case i == 0 || c != '+' && c != '-' && c != '.' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// trim cuts control characters and spaces from both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// What a normalized URL may hold unescaped. A backslash in a path is a slash, so it is left out here.
var (
	isHex   = class(digits + "abcdefABCDEF")
	isPath  = class(letters + digits + "/-._~!$&'()*+,;=:@[]|")
	isQuery = class(letters + digits + "/-._~!$&()*+,;=:@[]|?`{}^\\")
)

func class(members string) (t [256]bool) {
	for i := range len(members) {
		t[members[i]] = true
	}
	return t
}
