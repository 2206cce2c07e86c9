package markdown_test

import (
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
)

func tree(t *testing.T, page string) *html.Node {
	t.Helper()
	root, err := htmltree.Parse([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestPartsOfAPageAreWrittenWithoutWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	root := tree(t, "<nav>a</nav><main><p>b <span class=share>c</span> d<ul class=share><li>e</ul><table><tr><th>f<th class=share>g<tr><td>h<td class=share>i</table></main><p>j")
	var main []*html.Node
	for n := range root.Descendants() {
		if n.Data == "main" {
			main = append(main, n)
		}
	}
	without := func(n *html.Node) bool {
		for _, a := range n.Attr {
			if a.Val == "share" {
				return true
			}
		}
		return false
	}
	const want = "before\nb d\n\n| f |\n| --- |\n| h |\n"
	if got := markdown.Append([]byte("before\n"), main, markdown.Options{Without: without}); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLinksAreAbsoluteByWhatThePageDeclares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, url, want string }{
		{"the page", "", "https://a.example/b/c?d#e", "[x](https://a.example/b/f)\n"},
		{"its base", "<base href=/g/>", "https://a.example/b/c", "[x](https://a.example/g/f)\n"},
		{"its base elsewhere", "<base target=_top><base href='//h.example/i/'><base href=/g/>", "https://a.example/b/c", "[x](https://h.example/i/f)\n"},
		{"a base that is none", "<base href='javascript:x'>", "https://a.example/b/c", "[x](https://a.example/b/f)\n"},
		{"a message", "", "mid:1@a.example", "x\n"},
		{"nothing", "", "", "x\n"},
	} {
		root := tree(t, c.head+"<a href=f>x</a>")
		got := markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: markdown.BaseOf(root, c.url)})
		if string(got) != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
