package extract

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var (
	asks = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	us   = Robot{Name: "WebRACE", At: asks}
)

func TestWhatIsAskedOfRobots(t *testing.T) {
	t.Parallel()
	later := time.Date(2030, 6, 25, 15, 0, 0, 0, time.UTC)
	index, follow, both := Directives{NoIndex: true}, Directives{NoFollow: true}, Directives{NoIndex: true, NoFollow: true}
	until, over := Directives{Unavailable: later}, func(year int) Directives {
		return Directives{NoIndex: true, Unavailable: time.Date(year, 6, 25, 15, 0, 0, 0, time.UTC)}
	}
	for _, c := range []struct {
		lines string // separated by line feeds
		want  Directives
	}{
		{"", Directives{}},
		{"noindex", index},
		{" NoIndex , noarchive", index},
		{"none", both},
		{"nofollow\nnoindex", both},
		{"nofollow,,noindex,", both},
		{"noindexing, nofollows, no index", Directives{}},

		{"webrace: noindex", index},
		{"WEBRACE : nofollow, noindex", both},
		{"*: noindex", index},
		{"robots: noindex", index},
		{"googlebot: noindex", Directives{}},
		{"googlebot: noindex, nofollow", Directives{}},
		{"googlebot: noindex, webrace: nofollow", follow},
		{"webrace: nofollow, googlebot: noindex", follow},
		{"nofollow, googlebot: noindex", follow},
		{"googlebot: noindex\nnofollow", follow},
		{"googlebot: none\nwebrace: none", both},
		{"webracer: noindex, mywebrace: noindex", Directives{}},

		{"noindex; nofollow", both},
		{"noindex nofollow", both},
		{"NOINDEX;nofollow,noarchive", both},
		{"noarchive noindex", index},
		{"webrace: noindex nofollow", both},
		{"webrace:noindex;nofollow", both},
		{"googlebot: noindex nofollow; noindex", Directives{}},
		{"googlebot: noindex; webrace: nofollow", follow},
		{"nofollow googlebot: noindex", follow},
		{"nofollow webrace: noindex googlebot: none", both},
		{"googlebot:none webrace:nofollow", follow},
		{"max-snippet:20 noindex", index},
		{"max-snippet: 20 max-video-preview : -1 noindex", index},
		{"googlebot: max-image-preview: large noindex; webrace: max-snippet: 0 nofollow", follow},
		{"none; max-snippet:-1", both},
		{"unavailable_after: 25 Jun 2010 15:00:00 GMT; nofollow", Directives{true, true, over(2010).Unavailable}},
		{"unavailable_after: 25 Jun 2010 15:00:00 GMT nofollow", Directives{true, true, over(2010).Unavailable}},
		{"unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT nofollow", Directives{true, true, over(2010).Unavailable}},
		{"googlebot: unavailable_after: 25 Jun 2010 15:00:00 GMT webrace: nofollow", follow},

		{"max-snippet: 20, noindex", index},
		{"googlebot: max-snippet: 20, noindex", Directives{}},
		{"webrace: max-image-preview:large, noindex", index},

		{"unavailable_after: 25 Jun 2010 15:00:00 GMT", over(2010)},
		{"unavailable_after: 25 Jun 2030 15:00:00 GMT", until},
		{"Unavailable_After: Tuesday, 25-Jun-30 15:00:00 UTC", until},
		{"unavailable_after: Tue, 25 Jun 2030 15:00:00 GMT, nofollow", Directives{NoFollow: true, Unavailable: later}},
		{"unavailable_after: 25 jun 2030 17:00:00 +0200", until},
		{"unavailable_after: 2030-06-25T15:00:00Z", until},
		{"unavailable_after: 2030-06-25T17:00:00+02:00", until},
		{"unavailable_after: 2030-06-25 15:00:00", until},
		{"unavailable_after: 25 Jun 2030 15:00:00 GMT\nunavailable_after: 25 Jun 2020 15:00:00 GMT", over(2020)},
		{"webrace: unavailable_after: Wed, 25 Jun 2025 15:00:00 GMT", over(2025)},
		{"googlebot: unavailable_after: 25 Jun 2010 15:00:00 GMT", Directives{}},
		{"googlebot: unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex", Directives{}},
		{"unavailable_after: some day", Directives{}},
		{"unavailable_after: soon, noindex: x", Directives{}},
		{"unavailable_after:", Directives{}},
	} {
		header := http.Header{"X-Robots-Tag": strings.Split(c.lines, "\n")}
		var nothing Result
		if got := nothing.Robots(header, us); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.lines, got, c.want)
		}
	}
}

func TestThePageAndItsHeaderBothCount(t *testing.T) {
	t.Parallel()
	page := func(meta string) *Result {
		r, err := Document([]byte(meta), "text/html", "http://example.org/", Options{RobotsName: us.Name})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	nofollow := http.Header{"X-Robots-Tag": {"nofollow"}}
	for meta, want := range map[string]Directives{
		"<meta name=robots content=noindex>":    {NoIndex: true, NoFollow: true},
		"<meta name=WebRACE content=noindex>":   {NoIndex: true, NoFollow: true},
		"<meta name=googlebot content=noindex>": {NoFollow: true},
		"<meta name=robots content='unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT'>": {NoIndex: true, NoFollow: true,
			Unavailable: time.Date(2010, 6, 25, 15, 0, 0, 0, time.UTC)},
	} {
		if got := page(meta).Robots(nofollow, us); got != want {
			t.Errorf("%s: %+v, want %+v", meta, got, want)
		}
	}
	if got := page("<meta name=robots content='unavailable_after: 2000-01-01'>").Robots(nil, Robot{}); !got.NoIndex {
		t.Error("who asks without a time does not ask now")
	}
}

// What is said to another robot, on a line of its own or behind everything else, changes nothing for us; and
// what is said to all is never less than what is said to us.
func FuzzRobots(f *testing.F) {
	for _, line := range []string{"noindex", "webrace: none, otherbot: x", "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT", "a:b:c,,:"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		read := func(lines ...string) Directives {
			var nothing Result
			return nothing.Robots(http.Header{"X-Robots-Tag": lines}, us)
		}
		alone := read(line)
		if got := read(line, "otherbot: none, nofollow, unavailable_after: 2000-01-01"); got != alone {
			t.Errorf("%q: %+v, beside a line for another %+v", line, alone, got)
		}
		if got := read("otherbot: none", line); got != alone {
			t.Errorf("%q: %+v, behind a line for another %+v", line, alone, got)
		}
		if got := read("none", line); !got.NoIndex || !got.NoFollow || got.Unavailable != alone.Unavailable {
			t.Errorf("%q: %+v, beside none %+v", line, alone, got)
		}
	})
}
