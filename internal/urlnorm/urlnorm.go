// Package urlnorm gives every address one spelling, so that a page has one name wherever a link to it
// was found. It follows the WHATWG URL standard, as browsers do, not RFC 3986.
//
// A normalized URL is absolute, its scheme http or https; its host is in lower case and punycode, a
// default port is dropped, dot segments are resolved, and what must be percent-encoded is. Beyond the
// standard, three things hold for each URL this package returns:
//   - it has no fragment, which names a place within the document;
//   - it has no user name and password: they are removed, not refused, because the page behind is the
//     same, and secrets have no place in stores, logs and lists of links;
//   - a percent sign that encodes nothing is written %25, or most servers and clients refuse the URL.
//
// Normalizing is idempotent: Parse(Parse(u)) is Parse(u). [Rules] normalize further, at the owner's
// choice. [Identity] is for comparing.
//
// It is held against the standard's own cases, and against the parser of Node 20 on invented references: they agree but
// for what is listed above, and where Node differs from the standard. It takes "^" in paths as it is, drops the empty
// query of a base, leaves the dots of some paths, and takes labels that begin with an Arabic digit or are punycode of
// ASCII alone.
package urlnorm

import (
	"errors"
	"fmt"

	"github.com/nlnwa/whatwg-url/url"
)

// MaxLength is the most bytes a URL or a reference may have. RFC 9110 recommends that servers accept at
// least 8,000; what is longer is data in disguise, or a trap.
const MaxLength = 8192

// What is wrong with a URL. Errors of this package wrap one of these.
var (
	ErrScheme  = errors.New("scheme is neither http nor https")
	ErrLength  = errors.New("url is too long")
	ErrInvalid = errors.New("invalid url")
)

// Parse normalizes an absolute URL.
func Parse(s string) (string, error) {
	if isPlain(s) {
		return s, nil
	}
	return parseExactly(s)
}

// parseExactly normalizes an absolute URL by the standard's parser.
func parseExactly(s string) (string, error) {
	u, err := parse(nil, s)
	if err != nil {
		return "", err
	}
	return href(u)
}

// standard is the parser of the standard. Since 2024 the path's percent-encode set has the circumflex.
var standard = url.NewParser(url.WithPathPercentEncodeSet(url.PathPercentEncodeSet.Set('^')),
	url.WithPreParseHostFunc(beforeHost), url.WithPostParseHostFunc(afterHost))

// parse runs the standard's parser on a reference relative to base, or on an absolute URL if base is
// nil.
func parse(base *url.Url, ref string) (*url.Url, error) {
	if len(ref) > MaxLength {
		return nil, fmt.Errorf("parse %.64q…: %w", ref, ErrLength)
	}
	u, err := standard.BasicParser(ref, base, nil, url.NoState)
	if err != nil {
		return nil, fmt.Errorf("parse %.256q: %w: %w", ref, ErrInvalid, err)
	}
	if p := u.Protocol(); p != "http:" && p != "https:" {
		return nil, fmt.Errorf("parse %.256q: %w", ref, ErrScheme)
	}
	u.SetUsername("")
	u.SetPassword("")
	return u, nil
}

func href(u *url.Url) (string, error) {
	s := escapeBarePercent(u.Href(true))
	if len(s) > MaxLength {
		return "", fmt.Errorf("normalize %.64q…: %w", s, ErrLength)
	}
	return s, nil
}

// escapeBarePercent writes each percent sign that no two hexadecimal digits follow as %25.
func escapeBarePercent(s string) string {
	for i := range len(s) {
		if s[i] == '%' && !isEscape(s, i) {
			b := append(make([]byte, 0, len(s)+16), s[:i]...)
			for ; i < len(s); i++ {
				b = append(b, s[i])
				if s[i] == '%' && !isEscape(s, i) {
					b = append(b, "25"...)
				}
			}
			return string(b)
		}
	}
	return s
}

func isEscape[T string | []byte](s T, i int) bool {
	return i+2 < len(s) && isHex[s[i+1]] && isHex[s[i+2]]
}
