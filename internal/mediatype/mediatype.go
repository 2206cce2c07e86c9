// Package mediatype reads the Content-Type of documents as browsers do: what is no media type counts as none, and the
// document is then known by its content, as one that came without a type is.
package mediatype

import "strings"

// Of returns the media type that a Content-Type field names, in lower case and without parameters, well-formed or not.
// It is empty if the field names none: "html" does not, nor does "*/*", which stands for all.
func Of(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	name = strings.ToLower(strings.Trim(name, " \t\r\n"))
	top, sub, _ := strings.Cut(name, "/")
	if !isToken(top) || !isToken(sub) || name == "*/*" {
		return ""
	}
	return name
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
