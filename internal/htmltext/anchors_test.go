package htmltext_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltext"
)

func anchors() *htmltext.Scanner {
	return &htmltext.Scanner{Options: htmltext.Options{Anchors: true}}
}

// called returns the words of each anchor that has any, behind its address.
func called(s *htmltext.Scanner) (all []string) {
	for _, l := range s.Links {
		if text := s.TextOf(l); text != nil {
			all = append(all, string(l.URL)+": "+words(text))
		}
	}
	return all
}

func words(text []byte) string { return string(bytes.Join(bytes.Fields(text), []byte(" "))) }

func TestAnchors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"none", "<p>a", ""},
		{"plain", "x <a href=u>a b</a> y", "u: a b"},
		{"inline elements", "x<a href=u> a <b>b</b>c </a>y", "u: a bc"},
		{"references", "<a href=u>a&amp;b &eacute;</a>", "u: a&b é"},
		{"without text", "<a href=u><img src=i></a><a href=v> </a><a href=w></a>y", ""},
		{"an address is needed", "<a name=n>a</a><a href=u>b</a>", "u: b"},
		{"blocks within", "x  \n  <a href=u>\n <div>a</div>\n<p> b </p>\n</a>\n y", "u: a b"},
		{"within a block of its own", "<li>\n  <a href=u>\n a\n </a>\n</li>z", "u: a"},
		{"left open, it ends where the next begins", "<a href=u>a <a href=v>b</a> c", "u: a|v: b"},
		{"left open, it ends with the page", "<a href=u>a <p>b", "u: a b"},
		{"closed twice", "<a href=u>a</a> b</a> c", "u: a"},
		{"what is not shown is not said", "<a href=u>a<script>x</script><svg><text>y</text></svg></a>", "u: a"},
		{"areas have no text", "<area href=u>a</area><a href=v>b</a>", "v: b"},
		{"in a template there are none", "<template><a href=u>a</template></a>b<a href=v>c</a>", "v: c"},
		{"across fields", "a <a href=u><h2>b</h2> c</a> d", "u: b c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := anchors()
			s.Scan([]byte(c.in))
			if got := strings.Join(called(s), "|"); got != c.want {
				t.Errorf("%s\n got %q\nwant %q", c.in, got, c.want)
			}
			checkAnchors(t, s, []byte(c.in))
		})
	}
}

// checkAnchors holds what is true of anchors on any page: they lie in the text, one behind the other, with no white
// space at their ends, and that they are wanted changes nothing else.
func checkAnchors(t *testing.T, s *htmltext.Scanner, src []byte) {
	t.Helper()
	rest := s.Text.Bytes
	for _, l := range s.Links {
		text := s.TextOf(l)
		if text == nil {
			continue
		}
		before := cap(rest) - cap(text) // which share their array
		if before < 0 || before+len(text) > len(rest) || l.Kind != htmltext.Anchor {
			t.Fatalf("anchor %q is not within %q, which follows the one before", text, rest)
		}
		if len(text) == 0 || len(bytes.Trim(text, " \t\n\f\r")) != len(text) {
			t.Fatalf("anchor %q is empty or has white space at its ends", text)
		}
		rest = rest[before+len(text):]
	}
	plain := &htmltext.Scanner{Options: s.Options}
	plain.Anchors = false
	plain.Scan(src)
	same := bytes.Equal(plain.Text.Bytes, s.Text.Bytes) && slices.Equal(plain.Text.Blocks, s.Text.Blocks) &&
		slices.EqualFunc(plain.Links, s.Links, func(a, b htmltext.Link) bool { return bytes.Equal(a.URL, b.URL) && a.Kind == b.Kind })
	if !same || len(called(plain)) > 0 {
		t.Fatalf("with anchors: %q %v, without: %q %v", s.Text.Bytes, s.Links, plain.Text.Bytes, plain.Links)
	}
}

// TestAnchorsOfRealPagesAreThoseOfTheTree has the tree of a full parser as the slow oracle.
func TestAnchorsOfRealPagesAreThoseOfTheTree(t *testing.T) {
	t.Parallel()
	s := anchors()
	i, n := 0, 0
	documentation(t, func(path string, src []byte) {
		if i++; i%20 != 0 {
			return
		}
		s.Scan(src)
		got, want := called(s), treeAnchors(t, src)
		if !slices.Equal(got, want) {
			for k := range min(len(got), len(want)) {
				if got[k] != want[k] {
					t.Fatalf("%s: anchor %d is %q, in the tree %q", path, k, got[k], want[k])
				}
			}
			t.Fatalf("%s: %d anchors, in the tree %d", path, len(got), len(want))
		}
		n += len(got)
	})
	if n < 1000 {
		t.Errorf("only %d anchors were compared", n)
	}
}

func treeAnchors(t *testing.T, src []byte) (all []string) {
	t.Helper()
	root, err := html.ParseWithOptions(bytes.NewReader(src), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "href" })
		if n.Type != html.ElementNode || n.Data != "a" || i < 0 {
			continue
		}
		var within tree
		for c := range n.ChildNodes() {
			within.walk(c, webrace.FieldBody)
		}
		within.enter(webrace.FieldBody, true)
		var list []string
		for _, w := range within.words {
			list = append(list, w.text)
		}
		if len(list) > 0 {
			all = append(all, n.Attr[i].Val+": "+strings.Join(list, " "))
		}
	}
	return all
}

func FuzzAnchors(f *testing.F) {
	for _, seed := range []string{"a  <a href=x><div>b</div></a>", "<a href=x>&#32;<p>a</a>b", "<a href=x><svg><a href=y>", "<a href=x><template></a>b</template>", "<title><a href=x>"} {
		f.Add([]byte(seed))
	}
	s := anchors()
	f.Fuzz(func(t *testing.T, src []byte) {
		s.Scan(src)
		checkAnchors(t, s, src)
	})
}
