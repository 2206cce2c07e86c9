package urlnorm

import "strings"

// CutScheme cuts a URL behind "scheme://". What does not begin so is no URL.
func CutScheme(u string) (scheme, rest string, ok bool) {
	for i := range len(u) {
		switch u[i] {
		case '/', '?', '#':
			return "", "", false
		case ':':
			if rest, ok = strings.CutPrefix(u[i:], "://"); ok && i > 0 {
				return u[:i], rest, true
			}
		}
	}
	return "", "", false
}

// CutHost cuts what follows the scheme into its host, with the port that is written, and path, query and fragment. User
// information before the host is left out.
func CutHost(rest string) (host, tail string) {
	end := len(rest)
	for i := range len(rest) {
		if c := rest[i]; c == '/' || c == '?' || c == '#' {
			end = i
			break
		}
	}
	return rest[strings.LastIndexByte(rest[:end], '@')+1 : end], rest[end:]
}

// Host returns the host of a normalized URL, and its port if that is not the scheme's default ("example.org:8080"). It
// is empty for what is no URL. It allocates nothing.
func Host(u string) string {
	_, rest, _ := CutScheme(u)
	host, _ := CutHost(rest)
	return host
}

// Origin returns the scheme and authority that a normalized URL, or a prefix of such URLs, begins with
// ("http://example.org:8080"). It is empty for a prefix that ends before the path: it may go on in several authorities.
func Origin(u string) string {
	if end := hostEnd(u); end < len(u) && u[end] == '/' {
		return u[:end]
	}
	return ""
}

// hostEnd returns where scheme and authority of a URL end, 0 if it has none.
func hostEnd(u string) int {
	_, rest, ok := CutScheme(u)
	if !ok {
		return 0
	}
	_, tail := CutHost(rest)
	return len(u) - len(tail)
}
