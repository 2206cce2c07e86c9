package robots

import (
	"fmt"
	"slices"
	"strings"
)

// rule is one Allow or Disallow line, compiled.
type rule struct {
	allow   bool
	line    int
	octets  int    // how specific the pattern is: its length
	pattern string // for people

	pieces   []string // the canonical pattern between its wildcards
	escaped  []string // the same with its query escaped, if that is another
	anchored bool     // it ends in "$": the last piece ends the path
}

func (r *rule) String() string {
	verb := "Disallow"
	if r.allow {
		verb = "Allow"
	}
	return fmt.Sprintf("%s: %s (line %d)", verb, r.pattern, r.line)
}

func compile(line int, pattern string, allow bool) rule {
	body, anchored := strings.CutSuffix(pattern, "$")
	pieces := strings.Split(body, "*")
	for i, piece := range pieces {
		pieces[i] = canonicalPath(piece)
	}
	r := rule{allow: allow, line: line, octets: len(pattern), pattern: pattern, pieces: pieces, anchored: anchored}
	escaped, inQuery := make([]string, len(pieces)), false
	for i, piece := range pieces {
		escaped[i], inQuery = escapeQuery(piece, inQuery)
	}
	if !slices.Equal(escaped, pieces) {
		r.escaped = escaped
	}
	return r
}

// location is a path with its query, as it is compared with patterns.
type location struct{ canonical, escaped string }

func locate(path string) location {
	path = canonicalPath(path)
	escaped, _ := escapeQuery(path, false)
	return location{path, escaped}
}

// matches reports whether the pattern matches a path from its beginning: as both are written, or with the
// queries of both escaped.
func (r *rule) matches(at location) bool {
	if match(r.pieces, r.anchored, at.canonical) {
		return true
	}
	switch {
	case r.escaped != nil:
		return match(r.escaped, r.anchored, at.escaped)
	case at.escaped != at.canonical:
		return match(r.pieces, r.anchored, at.escaped)
	}
	return false
}

// match reports whether a path begins with the pieces, with anything between them. Taking each at its first
// chance is enough: it leaves the most of the path to those that follow.
func match(pieces []string, anchored bool, path string) bool {
	first, rest := pieces[0], pieces[1:]
	if !strings.HasPrefix(path, first) {
		return false
	}
	path = path[len(first):]
	if len(rest) == 0 {
		return !anchored || path == ""
	}
	last := len(rest)
	if anchored {
		last--
	}
	for _, piece := range rest[:last] {
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		path = path[at+len(piece):]
	}
	return !anchored || strings.HasSuffix(path, rest[last])
}

// escapeQuery escapes the delimiters of URLs that stand in a query, which is what follows a question mark, and
// reports whether the text ends in one. A form writes https%3A%2F%2F where a person writes https://, and means the
// same (section 2.2.2 has this for an example). In a path it would not be: /a%2Fb is one segment, and another
// page than /a/b (RFC 3986, section 2.2), so there both stay what they are.
func escapeQuery(s string, inQuery bool) (escaped string, endsInQuery bool) {
	from := 0
	if !inQuery {
		if from = strings.IndexByte(s, '?') + 1; from == 0 {
			return s, false
		}
	}
	if !strings.ContainsAny(s[from:], delimiters) {
		return s, true
	}
	out := append(make([]byte, 0, len(s)+16), s[:from]...)
	for _, c := range []byte(s[from:]) {
		if strings.IndexByte(delimiters, c) >= 0 {
			out = appendEscaped(out, c)
		} else {
			out = append(out, c)
		}
	}
	return string(out), true
}

const delimiters = ":/?[]@"

// canonicalPath spells a path, or a pattern's text between wildcards, in the one way in which two of them
// are equal by RFC 9309, section 2.2.2: unreserved octets bare; what no URL holds as it is, the two
// octets that mean something in a pattern, and a percent sign that begins no escape, escaped; escapes in upper case.
func canonicalPath(s string) string {
	i := 0
	for i < len(s) && !needsCare(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)+8), s[:i]...)
	for ; i < len(s); i++ {
		c := s[i]
		if c != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			if needsCare(c) && (c != '%' || i+2 < len(s)) { // what ends in half an escape may be the beginning of a whole one
				out = appendEscaped(out, c)
			} else {
				out = append(out, c)
			}
			continue
		}
		c = unhex(s[i+1])<<4 | unhex(s[i+2])
		if isUnreserved(c) {
			out = append(out, c)
		} else {
			out = appendEscaped(out, c)
		}
		i += 2
	}
	return string(out)
}

// mendEscapes repairs what the parser does when it turns escapes into upper case: it clears the bit that
// distinguishes cases in digits as well, so that %2f arrives as '%', 0x12, 'F'.
func mendEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := []byte(s)
	for i := range out {
		inEscape := i >= 1 && out[i-1] == '%' || i >= 2 && out[i-2] == '%'
		if inEscape && 0x10 <= out[i] && out[i] <= 0x19 {
			out[i] |= 0x20
		}
	}
	return string(out)
}

func needsCare(c byte) bool {
	return c <= ' ' || c >= 0x7f || strings.IndexByte("%*$\"<>\\^`{|}", c) >= 0
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

func appendEscaped(out []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(out, '%', digits[c>>4], digits[c&15])
}
