package fulltext

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/suggest"
)

// Names of the fields in the index.
const (
	fieldTitle      = "title"
	fieldHeadings   = "headings"
	fieldAddress    = "address" // the words of the URL
	fieldBody       = "body"
	fieldNavigation = "navigation"

	fieldURL        = "url"
	fieldHost       = "host"
	fieldDomain     = "domain" // the host and every domain that it is in
	fieldLanguage   = "language"
	fieldType       = "type"
	fieldDay        = "day"  // of the date, as 2026-01-31, in UTC
	fieldDate       = "date" // the date so that it sorts as text
	fieldSuperseded = "superseded"
	fieldVersion    = "version"

	isSuperseded = "1" // the value of fieldSuperseded; the latest version of a URL has none

	filterAfter  = "after"
	filterBefore = "before"
)

// field is what can stand before a colon in a query.
type field struct {
	name     string                  // in the index
	example  string                  // of its use
	conforms func(value string) bool // whether this is a value; nil for fields of words
}

var fields = map[string]field{
	"title":    {fieldTitle, "title:word", nil},
	"heading":  {fieldHeadings, "heading:word", nil},
	"headings": {fieldHeadings, "headings:word", nil},
	"body":     {fieldBody, "body:word", nil},
	"url":      {fieldURL, "url:library/json or url:https://example.org/docs*", hasWord},
	"host":     {fieldHost, "host:www.example.org or host:*.example.org", hasWord},
	"lang":     {fieldLanguage, "lang:en", isTag},
	"language": {fieldLanguage, "language:en", isTag},
	"type":     {fieldType, "type:html, type:text/plain or type:image/*", isType},
	"date":     {fieldDay, "date:2026, date:2026-01 or date:2026-01-31", isDay},
	"after":    {filterAfter, "after:2026-01-31 or after:7d for seven days ago", isDayOrAgo},
	"before":   {filterBefore, "before:2026-01-31 or before:7d for seven days ago", isDayOrAgo},
}

// nearestField suggests the field that was probably meant.
func nearestField(name string) string {
	best, least := "", 3
	for _, known := range slices.Sorted(maps.Keys(fields)) {
		if n := suggest.Edits(name, known); n < least {
			best, least = known, n
		}
	}
	if best == "" {
		return " (fields are title, heading, body, url, host, lang, type, date, after, before)"
	}
	return ", did you mean " + best + "?"
}

func hasWord(value string) bool { return len(analyzed(value)) > 0 }

func isTag(value string) bool {
	return value != "" && strings.Trim(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func isType(value string) bool {
	kind, rest, slash := strings.Cut(strings.ToLower(value), "/")
	plain := func(s string) bool {
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-+._") == ""
	}
	return plain(kind) && (!slash || rest == "*" || plain(rest))
}

// dayLayouts are how much of a day may be written.
var dayLayouts = []string{"2006", "2006-01", time.DateOnly}

func isDay(value string) bool {
	for _, layout := range dayLayouts {
		if _, err := time.Parse(layout, value); err == nil {
			return true
		}
	}
	return false
}

func isDayOrAgo(value string) bool {
	_, ok := daysAgo(value)
	return ok || isDay(value)
}

func daysAgo(value string) (int, bool) {
	digits, ok := strings.CutSuffix(value, "d")
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), ok && err == nil
}

// firstDay returns the first day of what a value means.
func firstDay(value string, now time.Time) string {
	if n, ok := daysAgo(value); ok {
		return now.UTC().AddDate(0, 0, -n).Format(time.DateOnly)
	}
	return value + "0000-01-01"[len(value):]
}
