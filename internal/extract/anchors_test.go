package extract

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLinksAreCalledByTheirAnchors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 400)
	for _, c := range []struct {
		name, page string
		links      []string
		anchors    []string
	}{
		{"each by its own", "<a href=/a>A  one</a><a href=/b>B</a>", []string{"http://h/a", "http://h/b"}, []string{"A one", "B"}},
		{"by what all its anchors say, each once", "<a href=/a>Storm</a><a href=/a#x><img></a><a href=/a>Storm</a><a href='/a '>read more</a>", []string{"http://h/a"}, []string{"Storm read more"}},
		{"the last ones may have no name", "<a href=/a>A</a><a href=/b><img></a>", []string{"http://h/a", "http://h/b"}, []string{"A"}},
		{"what is no link has none", "<a href=mailto:x>x</a><a rel=nofollow href=/n>n</a><a href=/a>A</a>", []string{"http://h/a"}, []string{"A"}},
		{"in few bytes", "<a href=/a>" + long + "</a><a href=/a>more</a>", []string{"http://h/a"}, []string{long[:256]}},
		{"a page that is left open says no more", "<a href=/a>A<p>" + strings.Repeat("x ", 1000), []string{"http://h/a"}, []string{"A" + strings.Repeat(" x", 127)}},
		{"beyond the most links there are none", "<a href=/a>A</a><a href=/b>B</a><a href=/c>C</a><a href=/a>again</a>", []string{"http://h/a", "http://h/b"}, []string{"A again", "B"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Document([]byte(c.page), "text/html; charset=utf-8", "http://h/", Options{Anchors: true, MaxLinks: 2})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Links, c.links) || !slices.Equal(got.Anchors, c.anchors) {
				t.Errorf("links %q called %q\nwant  %q called %q", got.Links, got.Anchors, c.links, c.anchors)
			}
			for _, a := range got.Anchors {
				if len(a) > mostCalled || !utf8.ValidString(a) {
					t.Errorf("%q has %d bytes, or is no UTF-8", a, len(a))
				}
			}
			plain, err := Document([]byte(c.page), "text/html; charset=utf-8", "http://h/", Options{MaxLinks: 2})
			if err != nil || !slices.Equal(plain.Links, c.links) || plain.Anchors != nil {
				t.Errorf("not wanted: %q called %q, %v", plain.Links, plain.Anchors, err)
			}
		})
	}
}
