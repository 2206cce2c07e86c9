package channel

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// storm tells of a page that tries to be more than text, and of a source that fails.
var storm = Message{
	Entries: []Entry{{
		Title: "Gale <warning> & *storm*", URL: "https://weather.levanda.org/a?b=1&c=2|x", Summary: "Winds of 9\n[bank](https://evil.org) <!channel> @everyone",
		Relevance: 73, Keywords: []string{"gale", "wind"}, Labels: []string{"sea"}, Urgency: 3,
		Time: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC), Link: "https://race.levanda.org/a/7",
	}, {
		Title: "https://x.org/ gives no document any more", URL: "javascript:alert(1)", Summary: "404", Notice: true,
	}},
	More: 3, Link: "https://race.levanda.org/",
}

// many is a message of so many entries.
func many(n int) (m Message) {
	for i := range n {
		m.Entries = append(m.Entries, Entry{Title: fmt.Sprint("page ", i+1), URL: fmt.Sprint("https://a.org/", i+1)})
	}
	return m
}

func TestTheSubjectTellsOfTheFirstAndHowManyMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message Message
		want    string
	}{
		{Message{}, "0 alerts"},
		{Message{More: 1}, "1 alert"},
		{many(1), "page 1"},
		{many(3), "page 1 (and 2 more)"},
		{many(60), "page 1 (and 59 more)"},
		{Message{Entries: []Entry{{URL: "https://a.org/"}}, More: 1}, "https://a.org/ (and 1 more)"},
		{Message{Entries: []Entry{{}}}, "(no title)"},
		{Message{Entries: []Entry{{Title: " \n", URL: "\x00"}}}, "(no title)"},
		{Message{Entries: []Entry{{Title: "a\r\nBcc: b\u202e\xff\u2028c"}}}, "a Bcc: b\ufffd c"},
		{Message{Entries: []Entry{{Title: strings.Repeat("я", 121)}}}, strings.Repeat("я", 119) + "…"},
	} {
		if got := c.message.Subject(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestAMailHasATextAndAPage(t *testing.T) {
	t.Parallel()
	const text = `Gale <warning> & *storm*
https://weather.levanda.org/a?b=1&c=2|x
relevance 73 · gale, wind · sea · urgent
Winds of 9 [bank](https://evil.org) <!channel> @everyone
details: https://race.levanda.org/a/7

https://x.org/ gives no document any more
javascript:alert(1)
404

3 more: https://race.levanda.org/
`
	if got := storm.Text(); got != text {
		t.Errorf("the text is\n%s\nwant\n%s", got, text)
	}
	const page = `<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Gale &lt;warning&gt; &amp; *storm* (and 4 more)</title></head>
<body style="font-family: sans-serif; max-width: 40em">
<h3 dir="auto"><a href="https://weather.levanda.org/a?b=1&amp;c=2%7Cx" rel="noreferrer">Gale &lt;warning&gt; &amp; *storm*</a></h3>
<p dir="auto">Winds of 9 [bank](https://evil.org) &lt;!channel&gt; @everyone</p>
<p><small>https://weather.levanda.org/a?b=1&amp;c=2|x</small></p>
<p><small>relevance 73 · gale, wind · sea · urgent <a href="https://race.levanda.org/a/7">details</a></small></p>
<h3 dir="auto">https://x.org/ gives no document any more</h3>
<p dir="auto">404</p>
<p><small>javascript:alert(1)</small></p>
<p><a href="https://race.levanda.org/">3 more</a></p>
</body></html>
`
	if got := storm.HTML(); got != page {
		t.Errorf("the page is\n%s\nwant\n%s", got, page)
	}
}

// A mail ends in where it is said that no more are wanted, if there is such a place; a program is not told.
func TestAMailTellsHowItIsStopped(t *testing.T) {
	t.Parallel()
	m := storm
	m.Stop = "https://race.levanda.org/off/7-ABC"
	if text := m.Text(); text != storm.Text()+"\nstop these mails: https://race.levanda.org/off/7-ABC\n" {
		t.Errorf("the text is\n%s", text)
	}
	if page := m.HTML(); !strings.HasSuffix(page, `<p><small><a href="https://race.levanda.org/off/7-ABC">stop these mails</a></small></p>`+"\n</body></html>\n") {
		t.Errorf("the page is\n%s", page)
	}
	if text, err := m.JSON(); err != nil || strings.Contains(string(text), "/off/") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestFiftyAreShownAndTheRestCounted(t *testing.T) {
	t.Parallel()
	m := many(60)
	m.More, m.Link = 5, "https://race.levanda.org/"
	if text := m.Text(); !strings.Contains(text, "page 50\n") || strings.Contains(text, "page 51\n") || !strings.HasSuffix(text, "\n15 more: https://race.levanda.org/\n") {
		t.Errorf("the text is\n%s", text)
	}
	if page := m.HTML(); !strings.Contains(page, ">page 50<") || strings.Contains(page, ">page 51<") || !strings.Contains(page, `<a href="https://race.levanda.org/">15 more</a>`) {
		t.Errorf("the page is\n%s", page)
	}
	var written Message
	if text, err := m.JSON(); err != nil || json.Unmarshal(text, &written) != nil || len(written.Entries) != 50 || written.More != 15 {
		t.Errorf("%s, %v", text, err)
	}
	m.Entries = m.Entries[:50]
	if text, err := m.JSON(); err != nil || json.Unmarshal(text, &written) != nil || !reflect.DeepEqual(written, m) {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := (Message{}).JSON(); err != nil || string(text) != `{"entries":[]}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestWhatIsCutIsNoLongerThanItMayBe(t *testing.T) {
	t.Parallel()
	twice := func(r rune) string { return string(r) + string(r) }
	for _, c := range []struct {
		text   string
		most   int
		size   func(rune) int
		escape func(rune) string
		want   string
	}{
		{"", 0, utf8.RuneLen, nil, ""},
		{"abc", 3, utf8.RuneLen, nil, "abc"},
		{"abcd", 3, utf8.RuneLen, nil, "…"},
		{"abcd", 2, utf8.RuneLen, nil, ""},
		{"яяяя", 7, utf8.RuneLen, nil, "яя…"},
		{"😀😀", 3, utf16.RuneLen, nil, "😀…"},
		{"abc", 6, utf8.RuneLen, twice, "aabbcc"},
		{"abc", 5, utf8.RuneLen, twice, "aa…"},
	} {
		if got := fit(c.text, c.most, c.size, c.escape); got != c.want {
			t.Errorf("%q in %d is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestAnAddressOnTheWebIsOneThatEachServiceTakes(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://a.org/b?c=d&e=f#g":    "https://a.org/b?c=d&e=f#g",
		"http://a.org:8080":            "http://a.org:8080",
		"HTTPS://a.org/":               "https://a.org/",
		"https://a.org/a_b(c)~*":       "https://a.org/a_b(c)~*",
		"https://a.org/a b|c\"d>e<f`g": "https://a.org/a%20b%7Cc%22d%3Ee%3Cf%60g",
		"https://a.org/é?é":            "https://a.org/%C3%A9?%C3%A9",
		"https://[::1]/":               "https://[::1]/",
		"https://é.org/":               "",
		"https:///a":                   "",
		"https://a b/":                 "",
		"https://u:p@a.org/":           "", // a browser shows another host than it goes to
		"ftp://a.org/":                 "",
		"javascript:alert(1)":          "",
		"//a.org/":                     "",
		"/a":                           "",
		"":                             "",
		"https://a.org/\n":             "",
		"https://a.org/\xff":           "",
		"https://a.org/" + string(make([]byte, 1)):  "",
		"https://a.org/" + strings.Repeat("é", 400): "",
	} {
		if got := webURL(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// FuzzMessage holds of each form of a message that it keeps to the limits of who takes it, tells of every entry or
// counts it, and lets no text of a page be more than that.
func FuzzMessage(f *testing.F) {
	f.Add("Gale <warning> & *storm*", "https://weather.levanda.org/a?b=1&c=2|x", "Winds\n[bank](https://evil.org) <!channel> @everyone", "sea,side", "https://race.levanda.org/a/7", 2, 3)
	f.Add(strings.Repeat(`"\`, 400), "https://a.org/"+strings.Repeat(`"`, 600), strings.Repeat("&<>", 900), strings.Repeat("😀", 90), "https://a.org/"+strings.Repeat("&", 900), 60, 1)
	f.Add(strings.Repeat("*", 900), "javascript:alert(1)", "\xff\x00\u202e\u2028", "", "", 12, 0)
	f.Add("", "\x01", "", "", "", 1, 0)
	f.Add("", "", "", "", "", 0, 0)
	f.Fuzz(func(t *testing.T, title, url, summary, word, link string, entries, more int) {
		m := Message{More: int(uint16(more)), Link: link, Stop: url}
		for i := range entries & 63 {
			m.Entries = append(m.Entries, Entry{
				Title: title, URL: url, Summary: summary, Keywords: []string{word, title}, Labels: []string{word, summary}, Link: link,
				Relevance: i, Urgency: i % 4, Notice: i%5 == 4, Time: time.Unix(int64(i)*1e7, 0),
			})
		}
		subject := m.Subject()
		isText(t, subject, false)
		if n := utf8.RuneCountInString(subject); n == 0 || n > 150 {
			t.Errorf("the subject has %d characters", n)
		}
		isText(t, m.Text(), true)
		isHarmless(t, m.HTML())
		isSlack(t, m)
		isDiscord(t, m)
		isNtfy(t, m)
		var written Message
		if text, err := m.JSON(); err != nil || json.Unmarshal(text, &written) != nil || len(written.Entries) > MaxShown || len(written.Entries)+written.More != len(m.Entries)+m.More {
			t.Errorf("%s, %v", text, err)
		}
	})
}

// isText holds that nothing in a text acts on a screen.
func isText(t *testing.T, text string, lines bool) {
	t.Helper()
	if !utf8.ValidString(text) || !lines && strings.Contains(text, "\n") {
		t.Errorf("%q", text)
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			t.Fatalf("%q holds %U", text, r)
		}
	}
}

// isHarmless holds that a page has nothing but what its template has, and links to the web.
func isHarmless(t *testing.T, page string) {
	t.Helper()
	isText(t, page, true)
	z := html.NewTokenizer(strings.NewReader(page))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		if token.Type == html.CommentToken {
			t.Fatalf("a comment is in\n%s", page)
		}
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		allowed := map[string]string{"html": "", "head": "", "meta": "charset", "title": "", "body": "style", "h3": "dir", "p": "dir", "small": "", "a": "href rel"}
		names, ok := allowed[token.Data]
		if !ok {
			t.Fatalf("<%s> is in\n%s", token.Data, page)
		}
		for _, a := range token.Attr {
			if !strings.Contains(names, a.Key) || a.Key == "href" && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "https://") {
				t.Fatalf("%s=%q is in\n%s", a.Key, a.Val, page)
			}
		}
	}
}
