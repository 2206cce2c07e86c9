package sitemap

import (
	"strings"
	"time"
)

// precisions are those of W3C's profile of ISO 8601, the finest first, with what a time of each stands for.
// Without a zone, which the profile asks for, a time is taken for UTC.
var precisions = []struct {
	layout string
	end    func(time.Time) time.Time // of the year, month, day or minute; nil: it is a moment
}{
	{"2006-01-02T15:04:05Z07:00", nil}, // with fractions of a second as well
	{"2006-01-02T15:04:05Z0700", nil},
	{"2006-01-02T15:04:05", nil},
	{"2006-01-02T15:04Z07:00", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-01-02T15:04", func(t time.Time) time.Time { return t.Add(time.Minute) }},
	{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
}

// ParseTime reads a time in any precision of W3C's, and returns the last second it may mean: a page that
// "changed on that day" may have done so at its end. What is no time is the zero time.
func ParseTime(s string) time.Time {
	if s = strings.TrimSpace(s); len(s) > len("2006-01-02") && s[10] == ' ' {
		s = s[:10] + "T" + strings.TrimSpace(s[11:]) // as databases write it
	}
	const longest = 40
	if len(s) > longest {
		return time.Time{}
	}
	for _, p := range precisions {
		t, err := time.Parse(p.layout, s)
		if err != nil {
			continue
		}
		if p.end != nil {
			t = p.end(t).Add(-time.Second)
		}
		return t.UTC()
	}
	return time.Time{}
}
