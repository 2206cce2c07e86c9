package urlnorm

import (
	"strings"
	"testing"
)

const post = "POST-0123456789abcdef0123"

func TestAMarkIsKeptBehindAURLAndAFragmentIsNot(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"HTTP://A.example#" + post:                     "http://a.example/#" + post,
		"http://a.example/b?c#" + post:                 "http://a.example/b?c#" + post,
		"http://a.example/b#top":                       "http://a.example/b",
		"http://a.example/b#PUT" + post[4:]:            "http://a.example/b",
		"http://a.example/b#" + post + "0":             "http://a.example/b",
		"http://a.example/b#top#" + post:               "http://a.example/b#" + post,
		"http://a.example/b#POST-0123456789ABCDEF0123": "http://a.example/b",
	} {
		if got, err := ParseAddress(given); got != want || err != nil {
			t.Errorf("%s: %s, %v", given, got, err)
		}
	}
	if u, err := Parse("http://a.example/#" + post); u != "http://a.example/" || err != nil {
		t.Errorf("what stands on a page keeps a mark: %s, %v", u, err)
	}
	if _, err := ParseAddress("http://a.example/" + strings.Repeat("x", MaxLength-20) + "#" + post); err == nil {
		t.Error("it is too long")
	}
}

// A marked URL is its own normal form, and has the mark and the URL that it is made of.
func FuzzMarks(f *testing.F) {
	f.Add("http://a.example/#x", "0123456789abcdef0123")
	f.Add("http://a.example/?#POST-0123456789abcdef0123", "x")
	f.Fuzz(func(t *testing.T, text, digest string) {
		url, err := Parse(text)
		if err != nil {
			return
		}
		marked := Marked(url, "GET-"+digest)
		if plain, mark := CutMark(marked); isMark("GET-"+digest) && (plain != url || mark != "GET-"+digest) {
			t.Fatalf("%q is cut to %q and %q", marked, plain, mark)
		}
		once, err := ParseAddress(marked)
		if err != nil {
			return
		}
		if twice, err := ParseAddress(once); twice != once || err != nil {
			t.Fatalf("%q becomes %q: %v", once, twice, err)
		}
		if Host(once) != Host(url) || Origin(once) != Origin(url) {
			t.Fatalf("%q is of another host than %q", once, url)
		}
	})
}
