package robots

import (
	"fmt"
	"strings"
)

// rule is one Allow or Disallow line, compiled.
type rule struct {
	allow   bool
	line    int
	octets  int    // how specific the pattern is: its length
	pattern string // for people

	pieces   []string // the canonical pattern between its wildcards
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
	return rule{allow: allow, line: line, octets: len(pattern), pattern: pattern, pieces: pieces, anchored: anchored}
}

// matches says whether the pattern matches a canonical path from its beginning. Taking each piece at its
// first chance is enough: it leaves the most of the path to those that follow.
func (r *rule) matches(path string) bool {
	first, rest := r.pieces[0], r.pieces[1:]
	if !strings.HasPrefix(path, first) {
		return false
	}
	path = path[len(first):]
	if len(rest) == 0 {
		return !r.anchored || path == ""
	}
	last := len(rest)
	if r.anchored {
		last--
	}
	for _, piece := range rest[:last] {
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		path = path[at+len(piece):]
	}
	return !r.anchored || strings.HasSuffix(path, rest[last])
}

// canonicalPath spells a path, or a pattern's text between wildcards, in the one way in which two of them
// are equal when RFC 9309, section 2.2.2, says they are: unreserved octets bare; everything outside
// ASCII, and the two octets that mean something in a pattern, escaped; escapes in upper case.
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
			if c != '%' && needsCare(c) {
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

func needsCare(c byte) bool { return c == '%' || c == '*' || c == '$' || c >= 0x80 }

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
