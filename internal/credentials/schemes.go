package credentials

import (
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxSchemes and maxScheme are how many names of schemes are taken from an answer, and how long.
const (
	maxSchemes = 5
	maxScheme  = 32
)

// Schemes returns the names of the authentication schemes that WWW-Authenticate fields offer (RFC 9110,
// section 11.6.1), each once, in their order.
func Schemes(fields []string) (names []string) {
	for _, field := range fields {
		for part := range commaSeparated(field) {
			word, rest, _ := strings.Cut(strings.Trim(part, " \t"), " ")
			rest = strings.TrimLeft(rest, " \t")
			if strings.HasPrefix(rest, "=") || !isScheme(word) || slices.Contains(names, word) {
				continue // a parameter of the scheme before, with spaces around its =
			}
			if names = append(names, word); len(names) == maxSchemes {
				return names
			}
		}
	}
	return names
}

// isScheme reports whether a word is a token, and none of a reasonable length only.
func isScheme(word string) bool {
	return word != "" && len(word) <= maxScheme && !strings.ContainsFunc(word, func(r rune) bool { return !httpguts.IsTokenRune(r) })
}

// commaSeparated yields the parts of a field between commas that are in no quoted string.
func commaSeparated(field string) func(func(string) bool) {
	return func(yield func(string) bool) {
		quoted, start := false, 0
		for i := 0; i < len(field); i++ {
			switch c := field[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case c == ',' && !quoted:
				if !yield(field[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(field[start:])
	}
}
