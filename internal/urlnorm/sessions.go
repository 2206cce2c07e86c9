package urlnorm

import (
	"cmp"
	"slices"
	"strings"
)

// sessionNames are parameters that name the session of a visitor, whatever their value is; those that end
// in * stand for all names that begin so.
var sessionNames = []string{
	"jsessionid", "phpsessid", "aspsessionid*", "sessionid", "session_id", "sessid", "oscsid", "zenid", "cftoken", "cfid",
}

// sessionLike are parameters that do so if their value looks like it.
var sessionLike = []string{"sid", "s", "session", "sess"}

// withoutSession removes what names a session from a path: its parameters (;jsessionid=…), and then
// segments such as /(S(…))/.
func withoutSession(address string) string {
	for i := hostEnd(address); i < len(address); i++ {
		if address[i] != ';' {
			continue
		}
		end := i + 1 + strings.IndexAny(address[i+1:]+"/", ";/")
		if isSession(address[i+1 : end]) {
			address = address[:i] + address[end:]
			i--
		}
	}
	for i := hostEnd(address); i < len(address); i++ {
		if !strings.HasPrefix(address[i:], "/(S(") {
			continue
		}
		end := i + 1 + strings.IndexByte(address[i+1:]+"/", '/')
		if strings.HasSuffix(address[:end], "))") {
			address = address[:i] + cmp.Or(address[end:], "/")
			i--
		}
	}
	return address
}

// isSession reports whether a parameter names a session.
func isSession(param string) bool {
	n, value, has := strings.Cut(param, "=")
	if !has {
		return false
	}
	if matchesName(sessionNames, n) {
		return true
	}
	return slices.ContainsFunc(sessionLike, func(s string) bool { return strings.EqualFold(s, n) }) && isToken(value)
}

// isToken tells a random token from a name that a person chose: 16 hexadecimal digits or more, with
// letters among them.
func isToken(s string) bool {
	letters, numbers := false, false
	for i := range len(s) {
		if !isHex[s[i]] {
			return false
		}
		letters = letters || s[i] > '9'
		numbers = numbers || s[i] <= '9'
	}
	return len(s) >= 16 && letters && numbers
}
