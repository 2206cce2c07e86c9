package interests

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

func read(t *testing.T, format, content string) *Result {
	t.Helper()
	r, err := Read(strings.NewReader(content), format, Defaults{Owner: "eleni", Depth: 1, Feeds: 2, Timing: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// said writes what requests say, and the notes.
func said(r *Result) (urds, problems, warnings []string) {
	for _, u := range r.URDs {
		s := fmt.Sprintf("%s %s %v", u.Protocol, u.URI, u.Timing)
		for k := range u.Keywords.All() {
			s += fmt.Sprintf(" %s=%d", k.Key, k.Weight)
		}
		urds = append(urds, s)
	}
	for _, n := range r.Problems {
		problems = append(problems, n.String())
	}
	for _, n := range r.Warnings {
		warnings = append(warnings, n.String())
	}
	return urds, problems, warnings
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestListsOfURLs(t *testing.T) {
	t.Parallel()
	urds, problems, _ := said(read(t, URLs, "\ufeff# mine\r\n\r\nhttps://a.example/\r\n  https://b.example/x ibm:4, annual report , c++:9:2\r\nftp://c.example/\nd.example\nhttp://e.example/*\nhttp://f.example/ ibm:7\n"))
	want(t, "URDs", urds, "http https://a.example/ 1h0m0s", "http https://b.example/x 1h0m0s ibm=4 annual report=3 c++:9=2", "http http://e.example/* 1h0m0s")
	if len(problems) != 3 || !strings.HasPrefix(problems[0], "5:1: ") || !strings.HasPrefix(problems[1], "6:1: ") || !strings.Contains(problems[2], "weight") {
		t.Errorf("problems %q", problems)
	}
}

func TestOutlinesOfFeedReaders(t *testing.T) {
	t.Parallel()
	r := read(t, OPML, `<?xml version="1.0" encoding="ISO-8859-7"?>
<opml version="2.0"><head><title>x</title></head><body>
<outline text="News"><outline text="a" type="rss" xmlUrl="http://a.example/feed?x=1&amp;y=2" htmlUrl="http://a.example/"/>
 <outline text="deeper"><outline type="link" url="https://b.example/"/></outline></outline>
<outline text="c" xmlUrl="feed://c.example/"/>
</body></opml>`)
	urds, problems, warnings := said(r)
	want(t, "URDs", urds, "feed http://a.example/feed?x=1&y=2 1h0m0s", "http https://b.example/ 1h0m0s")
	want(t, "warnings", warnings, "1:1: 2 folders are not taken over: URDs have none")
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "5:1: ") {
		t.Errorf("problems %q", problems)
	}
}

const watches = `{"note": "x", "settings": {"requests": {"time_between_check": {"weeks": null, "hours": 3}}, "application": {"password": "s3cret"}},
 "watching": {
  "b-2": {"url": "https://b.example/", "time_between_check": {"days": "1", "minutes": 30}, "time_between_check_use_default": false,
    "trigger_text": ["In Stock", "/sold.*/i", "!!"], "include_filters": [".price", "xpath:/html//td", "//th", "jq:.x", "a[", ""],
    "subtractive_selectors": [".ad"], "ignore_text": ["Read by (", "/\\d+ readers/i", "/x/k"], "extract_text": ["/EUR [0-9.]+/", "/(?<=a)b/"], "notification_urls": ["mailto://user:s3cret@x"], "headers": {"Cookie": "s3cret"}, "tags": []},
  "a-1": {"url": "https://a.example/", "title": "A", "time_between_check": {"days": 9}, "time_between_check_use_default": true, "processor": "restock_diff", "fetch_backend": "html_webdriver", "method": "POST"},
  "c-3": {"url": "https://c.example/", "paused": true},
  "d-4": {"url": 5},
  "e-5": {"title": "x"},
  "f-6": {"url": "{{ something }}"}}}`

func TestWatchesOfChangeDetection(t *testing.T) {
	t.Parallel()
	urds, problems, warnings := said(read(t, ChangeDetection, watches))
	want(t, "URDs", urds, "http https://a.example/ 3h0m0s", "http https://b.example/ 24h30m0s In Stock=3")
	var rules []string
	for _, r := range read(t, ChangeDetection, watches).URDs[1].Rules() {
		rules = append(rules, r.String())
	}
	want(t, "rules", rules, `select css ".price"`, `select xpath "/html//td"`, `select xpath "//th"`, `select regex "EUR [0-9.]+"`,
		`ignore css ".ad"`, `ignore regex "(?i).*Read by \(.*"`, `ignore regex "(?i)\d+ readers"`)
	want(t, "warnings", warnings,
		"watching.a-1: https://a.example/: not taken over: method, processor, fetch_backend",
		`watching.b-2: https://b.example/: not taken over: trigger_text "/sold.*/i", trigger_text "!!", headers, notification_urls, include_filters "jq:.x", include_filters "a[", extract_text "/(?<=a)b/", ignore_text "/x/k"`,
		"watching.c-3: https://c.example/ is paused there, and was left out")
	if len(problems) != 3 || !strings.HasPrefix(problems[0], "watching.d-4: ") || !strings.HasPrefix(problems[2], "watching.f-6: ") {
		t.Errorf("problems %q", problems)
	}
	if all := fmt.Sprint(problems, warnings); strings.Contains(all, "s3cret") {
		t.Errorf("a secret is told: %s", all)
	}
	for _, form := range []string{`{"x-1": {"url": "https://a.example/"}}`, `{"url": "https://a.example/", "uuid": "x"}`} {
		if urds, _, _ := said(read(t, ChangeDetection, form)); !slices.Equal(urds, []string{"http https://a.example/ 1h0m0s"}) {
			t.Errorf("%s gives %q", form, urds)
		}
	}
}

func TestWhatCannotBeReadIsSaidWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, content, want string }{
		{ChangeDetection, "{\n \"watching\": [,]}", "2:15: "},
		{ChangeDetection, "[]", "1:1: "},
		{OPML, "<opml>\n<outline></opml>", "2:"},
		{OPML, "<html></html>", "1:1: this is no OPML document"},
		{OPML, strings.Repeat("<outline>", 70), "nested more than 64 deep"},
		{"csv", "", "format \"csv\""},
	} {
		if _, err := Read(strings.NewReader(c.content), c.format, Defaults{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %s", c.format, c.content, err, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for head, format := range map[string]string{
		"": URLs, "https://a.example/": URLs, "# x": URLs, "\ufeff {": ChangeDetection, "<?xml version='1.0'?><!-- x --><OPML>": OPML,
		"<urds xmlns=": XML, "\xff\xfe<\x00": XML,
	} {
		if got := Detect([]byte(head)); got != format {
			t.Errorf("%q is taken for %s", head, got)
		}
	}
}

// Whatever the file: what comes out can be stored, and every note has a place.
func FuzzRead(f *testing.F) {
	f.Add([]byte("https://a.example/ ibm:4, x\nnonsense"))
	f.Add([]byte(`<opml><outline xmlUrl="http://a.example/"/></opml>`))
	f.Add([]byte(watches))
	f.Fuzz(func(t *testing.T, content []byte) {
		Detect(content)
		for _, format := range []string{URLs, OPML, ChangeDetection} {
			r, err := Read(bytes.NewReader(content), format, Defaults{Owner: "o", Depth: 1, Feeds: 2, Keywords: []xmlschema.Keyword{{Key: "x"}}})
			if err != nil {
				continue
			}
			for _, u := range r.URDs {
				if err := u.Validate(); err != nil {
					t.Fatalf("%+v: %v", u, err)
				}
			}
			for _, n := range slices.Concat(r.Problems, r.Warnings) {
				if n.Message == "" || n.Path == "" && (n.Line < 1 || n.Column < 1) {
					t.Fatalf("note %+v", n)
				}
			}
		}
	})
}
