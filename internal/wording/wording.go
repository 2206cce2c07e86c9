// Package wording has the forms that messages share: counts, moments, texts of one line.
package wording

import (
	"fmt"
	"strings"
	"time"
)

// Count says how many of a thing there are: 1 page, 2 pages.
func Count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Moment is a time as programs read it too; empty for never.
func Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// OneLine makes one line of a text.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// WithoutURL is what a fetch failed with, where the URL is known already.
func WithoutURL(failure, url string) string { return strings.TrimPrefix(failure, "fetch "+url+": ") }
