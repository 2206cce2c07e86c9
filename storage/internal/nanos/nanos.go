// Package nanos is time as stores write it: nanoseconds since 1970, and 0 for the zero time.
package nanos

import "time"

// Of returns a time as it is written.
func Of(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Time returns the time that was written so, in UTC.
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
