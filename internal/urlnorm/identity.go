package urlnorm

import (
	"slices"
	"strings"
)

// Identity returns the spelling that all spellings of a normalized URL share which RFC 3986 calls equivalent
// (section 6.2.2): escapes of letters, digits, "-", ".", "_" and "~" are decoded, and the digits of the others are
// in upper case. So /%7ejoe, /%7Ejoe and /~joe are one document. Browsers, and [Parse], leave all three as they are,
// and so does the fetcher: some servers tell them apart against the rule. The identity is for comparing.
//
// It is normalized itself, and its own identity. Most URLs are theirs, and cost one look for a percent sign.
func Identity(u string) string {
	i := strings.IndexByte(u, '%')
	for i >= 0 && i < len(u) && (u[i] != '%' || identical(u, i)) {
		i++
	}
	if i < 0 || i >= len(u) {
		return u
	}
	b := append(make([]byte, 0, len(u)), u[:i]...)
	for ; i < len(u); i++ {
		switch {
		case u[i] != '%' || !isEscape(u, i):
			b = append(b, u[i])
		default:
			c := unhex(u[i+1])<<4 | unhex(u[i+2])
			if isUnreserved[c] {
				b = append(b, c)
			} else {
				b = append(b, '%', upper(u[i+1]), upper(u[i+2]))
			}
			i += 2
		}
	}
	return string(b)
}

// identical reports whether the percent sign at i begins nothing that another spelling is equivalent to.
func identical(u string, i int) bool {
	return !isEscape(u, i) || u[i+1] < 'a' && u[i+2] < 'a' && !isUnreserved[unhex(u[i+1])<<4|unhex(u[i+2])]
}

var isUnreserved = class(letters + digits + "-._~")

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

func upper(c byte) byte {
	if c >= 'a' {
		c &^= 0x20
	}
	return c
}

// Spellings cuts the first octet off an identity, and returns all ways to spell it in a normalized URL.
func Spellings(identity string) (all []string, rest string) {
	c, n := identity[0], 1
	switch {
	case c == '%' && isEscape(identity, 0):
		c, n = unhex(identity[1])<<4|unhex(identity[2]), 3
	case !isUnreserved[c]:
		return []string{identity[:1]}, identity[1:]
	}
	all = []string{identity[:n]}
	const lower, upper = "0123456789abcdef", "0123456789ABCDEF"
	for _, high := range []byte{upper[c>>4], lower[c>>4]} {
		for _, low := range []byte{upper[c&15], lower[c&15]} {
			if s := string([]byte{'%', high, low}); !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all, identity[n:]
}

// HasPrefix reports whether the identity of a URL begins with that of a prefix.
func HasPrefix(u, prefix string) bool { return strings.HasPrefix(Identity(u), Identity(prefix)) }
