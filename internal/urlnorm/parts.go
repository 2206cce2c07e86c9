package urlnorm

import "strings"

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
