package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/stages/internal/httpclient"
)

// askedBack is what a Retry-After field asks for.
type askedBack struct {
	wait    time.Duration // 0: it names no time
	ignored bool          // there is a field, but it names none that lies ahead
	cut     bool          // it names one beyond the limit
}

// retryAfter reads the Retry-After field of an answer, which is a number of seconds or a date (RFC 9110,
// section 10.2.3). A date is held against the host's own clock, as its Date field tells it, so that it does
// not matter whether that is right. Nothing, or the past, is no time to come back at.
func retryAfter(header http.Header, now time.Time, limit time.Duration) askedBack {
	value := strings.Trim(header.Get("Retry-After"), " \t")
	if value == "" {
		return askedBack{ignored: header.Values("Retry-After") != nil}
	}
	wait, ok := readSeconds(value)
	if !ok {
		wait = readDate(value, header.Get("Date"), now)
	}
	switch {
	case wait <= 0:
		return askedBack{ignored: true}
	case wait > limit:
		return askedBack{wait: limit, cut: true}
	}
	return askedBack{wait: wait}
}

// retryAfter is what a response asks for, counted.
func (x *exchange) retryAfter(a *httpclient.Response, now time.Time) askedBack {
	asked := retryAfter(a.Header, now, time.Duration(x.options.MaxRetryAfter))
	switch {
	case asked.ignored:
		x.count("retry_after_ignored")
	case asked.cut:
		x.count("retry_after_cut")
	case asked.wait > 0:
		x.count("retry_after")
	}
	return asked
}

// readSeconds reads a number of seconds; one too large for a duration stands for the longest.
func readSeconds(value string) (wait time.Duration, ok bool) {
	if strings.Trim(value, "0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if most := int64(maxDuration / time.Second); err != nil || seconds > most {
		return maxDuration, true
	}
	return time.Duration(seconds) * time.Second, true
}

const maxDuration = time.Duration(1<<63 - 1)

// readDate returns how far a date lies ahead of the host's clock, or of ours if it does not tell its own; 0
// for what is no date. A clock that shows whole seconds is behind, so no request comes early.
func readDate(value, clock string, now time.Time) time.Duration {
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if there, err := http.ParseTime(clock); err == nil {
		return at.Sub(there)
	}
	return at.Sub(now)
}
