package entries

import (
	"testing"

	"github.com/webrace/webrace"
)

// An entry keeps its link through what a site does to all its addresses at once, and gets no other's.
func TestLinksThatAreUsuallyOne(t *testing.T) {
	linkOf := func(name, link string) uint64 {
		text := &webrace.Text{Bytes: []byte("The ferry leaves"), Blocks: []webrace.Block{{End: 16}}}
		MarkPublished(text, 0, name, link)
		return text.Entries[0].Link
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://www.harbour.example/news/12/", "https://harbour.example/news/12", true},
		{"https://harbour.example/news/12?utm_source=rss&id=3", "https://harbour.example/news/12?id=3", true},
		{"https://harbour.example/news/12/?utm_source=rss", "https://harbour.example/news/12", true},
		{"https://harbour.example/news/12?id=3", "https://harbour.example/news/12?id=4", false},
		{"https://harbour.example/news/12#a", "https://harbour.example/news/12#b", false},
		{"https://harbour.example/news/12", "https://harbour.example/news/1", false},
		{"urn:uuid:1", "urn:uuid:2", false},
		{"www.1", "1", false},
	} {
		if got := linkOf("name", c.a) == linkOf("other", c.b); got != c.same {
			t.Errorf("%s and %s are one link: %t", c.a, c.b, got)
		}
		if linkOf("name", c.a) != linkOf(c.a, "") {
			t.Errorf("%s is not the link of an entry that has only that name", c.a)
		}
	}
}
