package fetch

import (
	"net/http"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

func TestAServerIsNeverSentAValidatorThatLetsItConfirmWhatChanged(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	before, now, ahead := at.Add(-time.Hour).Format(http.TimeFormat), at.Format(http.TimeFormat), at.Add(time.Hour).Format(http.TimeFormat)
	for name, c := range map[string]struct{ modified, date, want string }{
		"in the past":                       {before, now, before},
		"in the future":                     {ahead, now, ""},
		"in the second of the answer":       {now, now, ""},
		"ahead of a server's clock":         {before, at.Add(-2 * time.Hour).Format(http.TimeFormat), ""},
		"ahead of ours, though not of its":  {ahead, at.Add(2 * time.Hour).Format(http.TimeFormat), ""},
		"in the past of who names no date":  {before, "", before},
		"no date, which is sent as it came": {"yesterday", now, "yesterday"},
		"none":                              {"", now, ""},
	} {
		v := &webrace.Visit{LastModified: "old", ETag: "old"}
		receive(v, http.Header{"Last-Modified": {c.modified}, "Date": {c.date}, "Etag": {`W/"1"`}}, at)
		if v.LastModified != c.want || v.ETag != `W/"1"` {
			t.Errorf("%s: %q, %q, want %q", name, v.LastModified, v.ETag, c.want)
		}
	}
	for _, c := range []struct{ known, sent, want string }{
		{`"1"`, `W/"1"`, `W/"1"`},
		{`W/"1"`, `"1"`, `"1"`},
		{`"1"`, `"2"`, `"1"`},
		{`"1"`, "", `"1"`},
	} {
		v := &webrace.Visit{ETag: c.known, LastModified: before}
		confirm(v, http.Header{"Etag": {c.sent}, "Last-Modified": {ahead}})
		if v.ETag != c.want || v.LastModified != before {
			t.Errorf("%s confirmed by %q: %q, %q, want %q", c.known, c.sent, v.ETag, v.LastModified, c.want)
		}
	}
}
