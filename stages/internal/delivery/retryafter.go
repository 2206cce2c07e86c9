package delivery

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter is how long an answer asks to be left alone, in seconds or until a date (RFC 9110, section 10.2.3).
// It is 0 if the answer does not tell, or tells of nothing that lies ahead.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
