package channel

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"
)

// A feed is read by others as it was meant: newest entries, links to the page and to what is said of it, texts as text.
func TestFeedIsRead(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	f := Feed{ID: "7", Title: "Boats & <more>", Author: "webrace", Self: "https://alerts.example/feed/7-KEY.atom", Link: "https://alerts.example/"}
	for i := range MaxShown + 3 {
		f.Entries = append(f.Entries, FeedEntry{ID: string(rune('a' + i)), Entry: Entry{
			Title: "Storm <b>&", URL: "https://page.example/a?b=1&c=2", Summary: "Gale <script>", Link: "https://alerts.example/a/9", Time: at.Add(-time.Duration(i) * time.Hour),
		}})
	}
	f.Entries[1].URL = "javascript:alert(1)"
	text, err := f.Atom()
	if err != nil {
		t.Fatal(err)
	}
	read, err := gofeed.NewParser().ParseString(string(text))
	if err != nil {
		t.Fatalf("%v of %s", err, text)
	}
	if read.Title != f.Title || read.FeedLink != f.Self || read.Link != f.Link || !read.UpdatedParsed.Equal(at) || len(read.Items) != MaxShown {
		t.Errorf("it is read as %+v", read)
	}
	e := read.Items[0]
	if e.Title != "Storm <b>&" || e.Description != "Gale <script>" || e.Link != f.Entries[0].URL || !strings.Contains(string(text), `rel="related" href="https://alerts.example/a/9"`) || !e.UpdatedParsed.Equal(at) {
		t.Errorf("an entry is read as %+v", e)
	}
	if !strings.HasPrefix(e.GUID, "urn:uuid:") || e.GUID == read.Items[1].GUID || len(e.GUID) != len("urn:uuid:")+36 {
		t.Errorf("it is named %q, the next one %q", e.GUID, read.Items[1].GUID)
	}
	if e := read.Items[1]; e.Link != "https://alerts.example/a/9" {
		t.Errorf("what has no address on the web leads to %q", e.Link)
	}
	if again, _ := f.Atom(); string(again) != string(text) {
		t.Error("it is another each time")
	}
	if empty, err := (Feed{ID: "7"}).Atom(); err != nil || !strings.Contains(string(empty), "<updated>") {
		t.Errorf("%s, %v", empty, err)
	}
}

// FuzzFeed holds that a feed can be read back whatever its texts are, has each entry, and leads to the web alone.
func FuzzFeed(f *testing.F) {
	f.Add("Storm", "https://a.example/", "Gale", "https://b.example/a/1", 2)
	f.Add("\x00\ufffe\u202e]]>", "javascript:x", "<!--\x1b", "", 1)
	f.Fuzz(func(t *testing.T, title, url, summary, link string, entries int) {
		feed := Feed{ID: title, Title: title, Author: summary, Self: link, Link: url}
		for i := range entries & 63 {
			feed.Entries = append(feed.Entries, FeedEntry{title, Entry{Title: title, URL: url, Summary: summary, Link: link, Time: time.Unix(int64(i), 0)}})
		}
		text, err := feed.Atom()
		if err != nil || !utf8.Valid(text) {
			t.Fatalf("%s, %v", text, err)
		}
		read, err := gofeed.NewParser().ParseString(string(text))
		if err != nil || len(read.Items) != min(entries&63, MaxShown) {
			t.Fatalf("%v of %s", err, text)
		}
		for _, e := range read.Items {
			if e.Title == "" || e.Link != "" && !strings.HasPrefix(e.Link, "http://") && !strings.HasPrefix(e.Link, "https://") {
				t.Errorf("%+v of %s", e, text)
			}
		}
	})
}
