package urdimport

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

func read(t *testing.T, format, content string) *Result {
	t.Helper()
	r, err := Read(strings.NewReader(content), Options{
		Name: "file", Format: format, Check: refuseMarks, Defaults: Defaults{Owner: "eleni", Depth: 1, Feeds: 2, Timing: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// refuseMarks is what a caller may find: a keyword of exclamation marks, and, as a warning, one of question marks.
func refuseMarks(u *xmlschema.URD) (faults []xmlschema.Fault) {
	for k := range u.Keywords.All() {
		if mark := strings.Trim(k.Key, "!?"); mark == "" {
			faults = append(faults, xmlschema.Fault{About: "keywords", Key: k.Key, Message: "no page says " + k.Key, Warning: k.Key[0] == '?'})
		}
	}
	return faults
}

// said writes what requests hold, and what is to be said of entries, with their places.
func said(r *Result) (urds, problems, warnings []string) {
	for _, u := range r.URDs() {
		s := fmt.Sprintf("%s %s %v", u.Protocol, u.URI, u.Timing)
		if u.Title != "" {
			s += fmt.Sprintf(" %q", u.Title)
		}
		for _, label := range u.Labels {
			s += " #" + label
		}
		if u.Paused {
			s += " paused"
		}
		for k := range u.Keywords.All() {
			s += fmt.Sprintf(" %s=%d", k.Key, k.Weight)
		}
		urds = append(urds, s)
	}
	for _, e := range r.Entries {
		for _, p := range e.Problems {
			problems = append(problems, e.Place()+": "+p.Message)
		}
		for _, w := range e.Warnings {
			warnings = append(warnings, e.Place()+": "+w.Message)
		}
		if len(e.Lost) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %s: not taken over: %s", e.Place(), e.URI, strings.Join(e.Lost, ", ")))
		}
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
<outline text="News"><outline text="a" title=" The  first&#10;of them " type="rss" xmlUrl="http://a.example/feed?x=1&amp;y=2" htmlUrl="http://a.example/"/>
 <outline text="x" title="deeper&#9;and deeper"><outline text="News"><outline type="link" url="https://b.example/"/></outline></outline></outline>
<outline text="c" xmlUrl="feed://c.example/"/>
<outline text="Q&A" xmlUrl="http://d.example/feed?x=1&copy=2&region=3"/>
</body></opml>`)
	urds, problems, warnings := said(r)
	want(t, "URDs", urds, `feed http://a.example/feed?x=1&y=2 1h0m0s "The first of them" #News`, "http https://b.example/ 1h0m0s #News #deeper-and-deeper",
		`feed http://d.example/feed?x=1&copy=2&region=3 1h0m0s "Q&A"`)
	want(t, "warnings", warnings)
	if len(problems) != 1 || !strings.HasPrefix(problems[0], "5:1: ") {
		t.Errorf("problems %q", problems)
	}
}

// Names of people may be of any length, and in more folders than a URD has labels.
func TestNamesThatAreLong(t *testing.T) {
	t.Parallel()
	folders, ends := "", ""
	for i := range 22 {
		folders += fmt.Sprintf("<outline text='f%d'>", i)
		ends += "</outline>"
	}
	r := read(t, OPML, "<opml><body><outline text='"+strings.Repeat("λ ", 60)+"'><outline text='"+strings.Repeat("é", 300)+"' xmlUrl='http://a.example/'/></outline>"+
		folders+"<outline text='\u2028' url='http://b.example/'/>"+ends+"</body></opml>")
	_, problems, warnings := said(r)
	want(t, "problems", problems)
	if len(warnings) != 1 || !strings.HasSuffix(warnings[0], `: http://b.example/: not taken over: folder "f20", folder "f21"`) {
		t.Errorf("warnings %q", warnings)
	}
	if a, b := r.URDs()[0], r.URDs()[1]; a.Title != strings.Repeat("é", 200) || len(a.Labels) != 1 || a.Labels[0] != strings.Repeat("λ-", 25) || b.Title != "" || len(b.Labels) != 20 {
		t.Errorf("%q %q, %q %q", a.Title, a.Labels, b.Title, b.Labels)
	}
}

const watches = `{"note": "x", "settings": {"requests": {"time_between_check": {"weeks": null, "hours": 3}}, "application": {"password": "s3cret", "tags": {"t-1": {"title": "Shops & more", "uuid": "t-1"}, "t-2": {"title": null}, "t-3": 5}}},
 "watching": {
  "b-2": {"url": "https://b.example/", "time_between_check": {"days": "1", "minutes": 30}, "time_between_check_use_default": false,
    "trigger_text": ["In Stock", "/sold.*/i", "!!"], "include_filters": [".price", "xpath:/html//td", "//th", "jq:.x", "json:$.a[*]['b c'][0]..d", "json:$[?@.x]", "a[", ""],
    "subtractive_selectors": [".ad"], "ignore_text": ["Read by (", "/\\d+ readers/i", "/x/k"], "extract_text": ["/EUR [0-9.]+/", "/(?<=a)b/"], "notification_urls": ["mailto://user:s3cret@x"], "headers": {"Cookie": "s3cret", "Host": "s3cret", "User-Agent": "s3cret", "content-type": "a/b"}, "tags": []},
  "a-1": {"url": "https://a.example/", "title": "A", "tags": ["t-1", "t-2", "t-4"], "time_between_check": {"days": 9}, "time_between_check_use_default": true, "processor": "restock_diff", "fetch_backend": "html_webdriver", "method": "PUT"},
  "c-3": {"url": "https://c.example/", "title": null, "tag": "work, boats , work", "paused": true},
  "d-4": {"url": 5},
  "e-5": {"title": "x"},
  "f-6": {"url": "{{ something }}"}}}`

func TestWatchesOfChangeDetection(t *testing.T) {
	t.Parallel()
	urds, problems, warnings := said(read(t, ChangeDetection, watches))
	want(t, "URDs", urds, `http https://a.example/ 3h0m0s "A" #Shops-&-more`, "http https://b.example/ 24h30m0s In Stock=3", "http https://c.example/ 3h0m0s #work #boats paused")
	var rules []string
	for _, r := range read(t, ChangeDetection, watches).URDs()[1].Rules() {
		rules = append(rules, r.String())
	}
	want(t, "rules", rules, `select css ".price"`, `select xpath "/html//td"`, `select xpath "//th"`, `select jq ".x"`,
		`select jq ".["a"]? | .[]? | .["b c"]? | .[0]? | .. | select(type == "object" and has("d")) | .["d"]"`, `select regex "EUR [0-9.]+"`,
		`ignore css ".ad"`, `ignore regex "(?m)^.*(?i:Read by \().*$"`, `ignore regex "(?m)^.*(?i:\d+ readers).*$"`)
	want(t, "warnings", warnings,
		"watching.a-1: https://a.example/: not taken over: tag \"t-2\", tag \"t-4\", method, processor, fetch_backend",
		"watching.b-2: Cookie holds credentials in clear: keep them in the secret store, and write ${secret:NAME} for them",
		`watching.b-2: https://b.example/: not taken over: trigger_text "/sold.*/i", trigger_text "!!", notification_urls, include_filters "json:$[?@.x]", include_filters "a[", extract_text "/(?<=a)b/", ignore_text "/x/k", headers.Host, headers.User-Agent`)
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

// What is probably not meant is said of the first entry alone: a list may have a million.
func TestAdviceIsGivenOnce(t *testing.T) {
	t.Parallel()
	_, problems, warnings := said(read(t, URLs, "http://a.example/ tea:1\nhttp://b.example/ tea:1\nhttp://ann:s3cret@c.example/\n"))
	want(t, "problems", problems)
	if len(warnings) != 2 || !strings.HasPrefix(warnings[0], "1:1: this can never alert") || !strings.HasPrefix(warnings[1], "3:1: the URI holds credentials in clear") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestWhatCannotBeReadIsSaidWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, content, want string }{
		{ChangeDetection, "{\n \"watching\": [,]}", "2:15: "},
		{ChangeDetection, "[]", "1:1: this is no url-watches.json of changedetection.io: the document is a JSON array, which it is not there"},
		{ChangeDetection, `{"watching": {"a": {"url": "https://a.example/"}}, "settings": {"requests": "x"}}`, "settings.requests is a JSON string"},
		{OPML, "<opml>\n<outline></opml>", "2:"},
		{OPML, `<opml><body><outline text="News"><outline text="Feed" xmlurl=""/></outline></body></opml>`, "no subscription in it: a feed is <outline xmlUrl="},
		{URLs, "# none yet\n\n", "no URL in it"},
		{ChangeDetection, `{"watching": {}}`, "no watch in it"},
		{OPML, "<html></html>", "1:1: this is no OPML document"},
		{OPML, strings.Repeat("<outline>", 70), "nested more than 64 deep"},
		{"csv", "", "format \"csv\""},
	} {
		if _, err := Read(strings.NewReader(c.content), Options{Format: c.format}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %s", c.format, c.content, err, c.want)
		}
	}
}

func TestRequestsOfChangeDetection(t *testing.T) {
	t.Parallel()
	r := read(t, ChangeDetection, `{
  "a": {"url": "https://a.example/", "method": "POST", "body": "{\"q\": 1}", "headers": {"content-type": "application/json", "x-key": "${secret:k}", "X-Key": "s3cret"}},
  "b": {"url": "https://b.example/", "method": "GET", "headers": {}, "body": ""},
  "c": {"url": "https://c.example/", "method": "GET", "body": "x"},
  "d": {"url": "https://d.example/", "method": "POST", "body": "{{ now }}"},
  "e": {"url": "https://e.example/", "headers": {"Accept": "application/json"}, "body": null}}`)
	_, problems, warnings := said(r)
	want(t, "problems", problems)
	want(t, "warnings", warnings, "a: https://a.example/: not taken over: headers.x-key", "c: https://c.example/: not taken over: body",
		"d: https://d.example/: not taken over: method, body")
	var requests []string
	for _, u := range r.URDs() {
		if q := u.Request; q != nil {
			requests = append(requests, fmt.Sprint(u.URI, " ", q.Method, " ", q.Type, " ", q.Header, " ", q.Body))
		}
	}
	want(t, "requests", requests, `https://a.example/ POST application/json [{X-Key s3cret}] {"q": 1}`, "https://e.example/ GET  [{Accept application/json}] ")
}

// When changedetection.io looks at a page becomes times where a cron expression can express it, and is named where not.
func TestWindowsOfChangeDetection(t *testing.T) {
	t.Parallel()
	const workdays = `"monday": {"enabled": true, %[1]s}, "tuesday": {"enabled": true, %[1]s}, "wednesday": {"enabled": true, %[1]s},
		"thursday": {"enabled": true, %[1]s}, "friday": {"enabled": true, %[1]s}`
	window := func(start string, hours, minutes int) string {
		return fmt.Sprintf(`"start_time": %q, "duration": {"hours": "%d", "minutes": %d}`, start, hours, minutes)
	}
	on := func(zone, days, window string) string {
		return fmt.Sprintf(`"time_schedule_limit": {"enabled": true, "timezone": %q, %s}`, zone, fmt.Sprintf(days, window))
	}
	whole := on("", workdays+`, "saturday": {"enabled": true, %[1]s}, "sunday": {"enabled": true, %[1]s}`, window("00:00", 24, 0))
	for _, c := range []struct{ watch, want, lost string }{
		{`"time_between_check": {"hours": 3}, ` + on("Europe/Athens", workdays, window("08:00", 1, 0)), "0 8 * * 1-5 Europe/Athens", ""},
		{`"time_between_check": {"minutes": 30}, ` + on("", workdays, window("09:00", 8, 0)), "0,30 9-16 * * 1-5 Asia/Tokyo", ""}, // the zone of the settings
		{`"time_between_check": {"minutes": 15}, ` + on("UTC", workdays, window("0:00", 24, 0)), "*/15 * * * 1-5 UTC", ""},
		{`"time_between_check": {"hours": 2}, ` + on("UTC", `"sunday": {"enabled": true, %s}`, window("22:30", 3, 30)), "30 22 * * 0 UTC", "time_schedule_limit"},
		{`"time_between_check": {"minutes": 40}, ` + on("UTC", workdays, window("8:00", 2, 0)), "", "time_schedule_limit"},
		{`"time_between_check": {"days": 2}, ` + on("UTC", workdays, window("8:00", 2, 0)), "", "time_schedule_limit"},
		{`"time_between_check": {"hours": 2}, ` + on("Mars/Olympus", workdays, window("8:00", 2, 0)), "", "time_schedule_limit"},
		{`"time_between_check": {"hours": 2}, ` + on("UTC", workdays, window("late", 2, 0)), "", "time_schedule_limit"},
		{`"time_between_check": {"hours": 2}, ` + whole, "2h0m0s", ""},
		{`"time_between_check": {"hours": 2}, "time_schedule_limit": {"enabled": true, "monday": 5}`, "", "time_schedule_limit"},
		{`"time_between_check": {"hours": 2}, "time_schedule_limit": null`, "2h0m0s", ""},
		{`"time_between_check_use_default": true, ` + on("UTC", workdays, window("8:00", 1, 0)), "0 12,18 * * 6 Asia/Tokyo", ""}, // all of the settings
	} {
		r := read(t, ChangeDetection, `{"settings": {"application": {"timezone": "Asia/Tokyo"}, "requests": {"time_between_check": {"hours": 6},
			"time_schedule_limit": {"enabled": true, "saturday": {"enabled": true, `+window("12:00", 10, 0)+`}}}},
			"watching": {"a": {"url": "https://a.example/", `+c.watch+`}}}`)
		_, problems, warnings := said(r)
		if len(r.URDs()) != 1 {
			t.Fatalf("%s gives %v", c.watch, problems)
		}
		if got := r.URDs()[0].At; c.lost == "" && got != c.want && (got != "" || r.URDs()[0].Timing.String() != c.want) {
			t.Errorf("%s: at %q, timing %v, want %s", c.watch, got, r.URDs()[0].Timing, c.want)
		}
		if all := fmt.Sprint(warnings); strings.Contains(all, "time_schedule_limit") != (c.lost != "") {
			t.Errorf("%s: warned %s", c.watch, all)
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

// Each entry of a file is listed, whether it is taken over or not, at its place and with why.
func TestEntriesAreListedOneByOne(t *testing.T) {
	t.Parallel()
	const xml = `<urds xmlns="urn:webrace:1">
 <urd owner="costas"><uri>http://a.example/</uri></urd>
 <urd><uri>http://b.example/</uri><depth level="x"/><depth/></urd>
 <urd><uri>http://c.example/</uri><keywords><keyword key="?"/></keywords></urd>
 <urd><uri>http://d.example/</uri><keywords><keyword key="!"/></keywords></urd>
 <feed/><feed/>
</urds>`
	for _, c := range []struct {
		format, content string
		want            []string
	}{
		{XML, xml, []string{
			"2:2 /urds/urd[1] costas http://a.example/",
			"3:42 /urds/urd[2] refused 3:42 3:53",
			"4:2 /urds/urd[3] eleni http://c.example/ but 4:45 no page says ?",
			"5:45 /urds/urd[4] refused 5:45",
			"6:2 /urds/feed refused 6:2",
			"6:9 /urds/feed refused 6:9",
		}},
		{"", `<urd xmlns="urn:webrace:1"><uri>http://a.example/</uri></urd>`, []string{"1:1 /urd eleni http://a.example/"}},
		{"", "\ufeff http://a.example/ ?\nx !\n http://b.example/ !,ibm", []string{
			"1:2  eleni http://a.example/ but 1:2 no page says ?",
			"2:1  refused 2:1",
			"3:2  refused 3:2",
		}},
		{"", watches, []string{
			"0:0 watching.a-1 eleni https://a.example/ without 5",
			"0:0 watching.b-2 eleni https://b.example/ without 9 but 0:0 Cookie holds credentials in clear: keep them in the secret store, and write ${secret:NAME} for them",
			"0:0 watching.c-3 eleni https://c.example/",
			"0:0 watching.d-4 refused 0:0",
			"0:0 watching.e-5 refused 0:0",
			"0:0 watching.f-6 refused 0:0",
		}},
	} {
		var got []string
		for _, e := range read(t, c.format, c.content).Entries {
			line := fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Path)
			if e.URD != nil {
				line += " " + e.URD.Owner + " " + e.URI
			} else {
				line += " refused"
			}
			if len(e.Lost) > 0 {
				line += fmt.Sprintf(" without %d", len(e.Lost))
			}
			for _, p := range e.Problems {
				line += fmt.Sprintf(" %d:%d", p.Line, p.Column)
			}
			for _, w := range e.Warnings {
				line += fmt.Sprintf(" but %d:%d %s", w.Line, w.Column, w.Message)
			}
			got = append(got, line)
		}
		want(t, "entries", got, c.want...)
	}
}

// What is wrong with a document as a whole is no matter of an entry.
func TestDocumentsThatAreNoneAreNotRead(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		`<urds xmlns="urn:webrace:1"><urd owner="x"><uri>http://a.example/</uri></urd>`,
		`<urds xmlns="urn:webrace:1">text<urd owner="x"><uri>http://a.example/</uri></urd></urds>`,
		`<urds xmlns="urn:webrace:1" x=""><urd owner="x"><uri>http://a.example/</uri></urd></urds>`,
		`<acis xmlns="urn:webrace:1"/>`, "<html/>",
		`<urds xmlns="urn:webrace:1">` + strings.Repeat("<x/>", 200) + "</urds>",
	} {
		var problems xmlschema.Problems
		if _, err := Read(strings.NewReader(content), Options{Name: "file"}); !errors.As(err, &problems) || problems[0].File != "file" {
			t.Errorf("%.80s: %v", content, err)
		}
	}
}

func TestFilesWithTooManyEntriesAreNotRead(t *testing.T) {
	t.Parallel()
	for format, content := range map[string]string{
		URLs: "http://a.example/\nx\nhttp://b.example/\n", OPML: "<opml>" + strings.Repeat("<outline url='x'/>", 3) + "</opml>",
		ChangeDetection: `{"a": {}, "b": {}, "c": {}}`, XML: `<urds xmlns="urn:webrace:1">` + strings.Repeat("<urd/>", 3) + "</urds>",
	} {
		for most, refused := range map[int]bool{2: true, 3: false} {
			_, err := Read(strings.NewReader(content), Options{Format: format, Most: most})
			if said := err != nil && strings.Contains(err.Error(), "more than 2 entries"); said != refused || !refused && err != nil {
				t.Errorf("%s, at most %d: %v", format, most, err)
			}
		}
	}
}

// Whatever the file: what comes out can be stored, and every entry has a place, and is either taken over or not.
func FuzzRead(f *testing.F) {
	f.Add([]byte("https://a.example/ ibm:4, x\nnonsense"))
	f.Add([]byte(`<opml><outline xmlUrl="http://a.example/"/></opml>`))
	f.Add([]byte(watches))
	f.Add([]byte(`<urds xmlns="urn:webrace:1"><urd><uri>http://a.example/</uri></urd><urd/><x/></urds>`))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, format := range []string{"", URLs, OPML, ChangeDetection, XML} {
			r, err := Read(bytes.NewReader(content), Options{
				Format: format, Check: refuseMarks, Defaults: Defaults{Owner: "o", Depth: 1, Feeds: 2, Keywords: []xmlschema.Keyword{{Key: "x"}}},
			})
			if err != nil {
				continue
			}
			for _, e := range r.Entries {
				if (e.URD == nil) != (len(e.Problems) > 0) || e.URD == nil && len(e.Lost) > 0 {
					t.Fatalf("%s: taken over and not: %+v", r.Format, e)
				}
				if e.URD != nil && e.URD.Validate() != nil {
					t.Fatalf("%s: %+v: %v", r.Format, e.URD, e.URD.Validate())
				}
				if (e.Line < 1 || e.Column < 1) && r.Format != ChangeDetection || e.Path == "" && (r.Format == ChangeDetection || r.Format == XML) {
					t.Fatalf("%s: entry without a place: %+v", r.Format, e)
				}
				for _, p := range slices.Concat(e.Problems, e.Warnings) {
					if p.Message == "" {
						t.Fatalf("%s: nothing is said of %+v", r.Format, e)
					}
				}
			}
		}
	})
}
