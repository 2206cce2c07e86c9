package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestLifetime is what RFC 9111 once set as the limit, and fits any arithmetic.
const longestLifetime = 365 * 24 * time.Hour

// expiry returns until when an answer is fresh, by what its server tells caches (RFC 9111, section 4.2): zero if it
// tells them nothing, or that it is not. Nothing is guessed from Last-Modified.
func expiry(header http.Header, at time.Time) time.Time {
	lifetime := lifetimeOf(header, at) - ageOf(header)
	if lifetime <= 0 {
		return time.Time{}
	}
	return at.Add(lifetime)
}

func lifetimeOf(header http.Header, at time.Time) time.Duration {
	if header.Get("Vary") == "*" {
		return 0
	}
	if lifetime, said := maxAge(strings.Join(header.Values("Cache-Control"), ",")); said {
		return lifetime
	}
	expires, err := http.ParseTime(header.Get("Expires"))
	if err != nil { // such as 0, which means that it has expired
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		at = date
	}
	return min(expires.Sub(at), longestLifetime)
}

// maxAge reads Cache-Control. It is said if any of its directives decides: of two, the one that is stricter.
func maxAge(field string) (lifetime time.Duration, said bool) {
	for field != "" {
		var directive string
		directive, field = cutUnquoted(field, ',')
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "no-store", "no-cache":
			return 0, true
		case "max-age":
			age := seconds(strings.Trim(strings.TrimSpace(value), `"`))
			if !said || age < lifetime {
				lifetime, said = age, true
			}
		}
	}
	return lifetime, said
}

// cutUnquoted cuts a text at the first separator that is not within quotes.
func cutUnquoted(s string, separator byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case quoted && s[i] == '\\':
			i++
		case !quoted && s[i] == separator:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// ageOf is for how long a cache on the way had kept the answer.
func ageOf(header http.Header) time.Duration {
	return seconds(strings.TrimSpace(header.Get("Age")))
}

// seconds reads a number of them; what is none counts as 0, and what is too large as the longest.
func seconds(s string) time.Duration {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > int64(longestLifetime/time.Second) {
		return longestLifetime
	}
	return time.Duration(n) * time.Second
}
