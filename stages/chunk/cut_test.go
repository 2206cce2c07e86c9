package chunk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
	"github.com/webrace/webrace/internal/testutil"
)

func TestBlocksThatAreTooLargeAreCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"sentences", "One two three. Four five six. Seven eight nine ten.", []string{"One two three. Four five six.", "Seven eight nine ten."}},
		{"words", "1 2 3 4 5 6 7 8 9 0 1. 2", []string{"1 2 3 4 5 6 7 8", "9 0 1. 2"}},
		{"what would be markup", "a b c d e f g h - i", []string{"a b c d e f g h", "\\- i"}},
		{"a link", "a b c d e f [g h i j](https://example.org/x\\)y) k", []string{"a b c d e f", "[g h i j](https://example.org/x\\)y) k"}},
		{"a long link", "a [b c d e f g h i j](https://example.org/)", []string{"a b c d e f g h", "i j"}},
		{"code", "a b c `d e f g h i j` l", []string{"a b c", "`d e f g h i`", "`j` l"}},
		{"code alone", "`` a b c d e f <script> h i j ``", []string{"`` a b c d e``", "``f <script> h i j``"}},
		{"a script without blanks", "一二三四五六七八九十。", []string{"一二三四五六七八", "九十。"}},
		{"a list", "- a b c d\n- e f g h\n  - i j k l\n- m", []string{"- a b c d", "e f g h", "- i j k l", "- m"}},
		{"an item", "- a b c d\n\n  e f g h\n\n  ```\n  i j\n\n    k\n  ```\n", []string{"a b c d", "e f g h", "```\ni j\n\n  k\n```"}},
		{"a quotation", "> a b c d e\n>\n> f g h i j", []string{"a b c d e", "f g h i j"}},
		{"code in lines", "```go\na b c\nd e f\ng h i\n```", []string{"```go\na b c\nd e f\n```", "```go\ng h i\n```"}},
		{"a line of code", "````\n``` b c d e f g h\n````", []string{"````\n``` b c d e f\n````", "````\ng h\n````"}},
	} {
		if got := splitText(c.text, 8); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives %q, not %q", c.name, c.text, got, c.want)
		}
	}
	const head = "| a | b |\n| --- | --- |\n"
	if got := splitText(head+"| c | d |\n| e | f |\n| g | h |", 20); !slices.Equal(got, []string{head + "| c | d |\n| e | f |", head + "| g | h |"}) {
		t.Errorf("the table gives %q", got)
	}
}

// checkPieces returns what is wrong with the pieces of a text.
func checkPieces(md string, o Options) string {
	pieces, leftOut := cut(md, o, nil)
	have := make(map[rune]int)
	for _, p := range pieces {
		if p.words > o.Words {
			return "a piece of too many words:\n" + p.text
		}
		if wrong := harm(p.text); wrong != "" {
			return wrong + ":\n" + p.text
		}
		for _, r := range p.text {
			have[r]++
		}
	}
	for _, r := range md {
		if have[r]--; have[r] < 0 && leftOut == 0 && unicode.IsLetter(r) && !strings.ContainsRune("https://example.org/x/y", r) { // of links that are left out
			return fmt.Sprintf("a letter %c is missing", r)
		}
	}
	var before [][]uint64
	for i := range pieces {
		before = append(before, pieces[i].hashes())
	}
	again, _ := cut(md, o, before)
	if !slices.EqualFunc(pieces, again, func(a, b piece) bool { return a.text == b.text }) {
		return "the same text gives other pieces"
	}
	return ""
}

// harm returns what of Markdown might do harm; "" if nothing does.
func harm(md string) (wrong string) {
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(md)))
	ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			wrong = "a block of HTML"
		case *ast.RawHTML:
			if tag := string(n.Segments.Value([]byte(md))); tag != "<br>" {
				wrong = "a tag " + tag
			}
		case *ast.Link:
			if !strings.HasPrefix(string(n.Destination), "http") {
				wrong = "a link to " + string(n.Destination)
			}
		}
		return ast.WalkContinue, nil
	})
	return wrong
}

func markdownOf(tb testing.TB, page string) string {
	tb.Helper()
	root, err := htmltree.Parse([]byte(page))
	if err != nil {
		tb.Skip(err)
	}
	return string(markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: "https://example.org/"}))
}

var pieces = strings.Split("<p>|<br>|<b>|</b>|<i>|</i>|<code>|</code>|<a href=x>|<a href='(y)'>|</a>|<pre>|</pre>|<ul>|</ul>|<ol start=9>|<li>|<blockquote>|</blockquote>|<h1>|<h2>|<h3>|</h3>|"+
	"<table><tr><th>a<th>b|<tr>|<td>|</table>|a|b. |word |字| | | |&lt;script>|&lt;!--|`|```|*|_|-|1. |- |# |~~~|&amp;lt;|\\|[|](javascript:x)|http://y.com |word word word |One two three. ", "|")

func randomPage(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(80) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestPiecesOfRandomPages(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pages := 10_000
	if testing.Short() {
		pages = 1000
	}
	for range pages {
		page := randomPage(r)
		o := Options{Words: 20 + r.IntN(30)}
		o.Overlap = r.IntN(o.Words / 2)
		if wrong := checkPieces(markdownOf(t, page), o); wrong != "" {
			t.Fatalf("%+v: %q\n%s\n%s", o, page, markdownOf(t, page), wrong)
		}
	}
}

func FuzzCut(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(randomPage(r), uint8(r.IntN(200)), uint8(r.IntN(50)))
	}
	f.Fuzz(func(t *testing.T, page string, words, overlap uint8) {
		o := Options{Words: 20 + int(words)}
		o.Overlap = min(int(overlap), o.Words/2)
		if wrong := checkPieces(markdownOf(t, page), o); wrong != "" {
			t.Errorf("%+v: %q\n%s", o, page, wrong)
		}
	})
}

func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	for _, c := range []testutil.Construct{
		repeated("words", "<p>", "a ", ""),
		repeated("paragraphs of headings", "", "<h1>a<p>b", ""),
		repeated("headings in headings", "", "<h1>a</h1><h2>b</h2><h3>c</h3><h4>d</h4><p>e", ""),
		repeated("lists in lists", "", "<ul><li>a", ""),
		repeated("items", "<ul>", "<li>a", ""),
		repeated("quotations in quotations", "", "<blockquote>a", ""),
		repeated("blocks of code in deep lists", strings.Repeat("<ul><li>", 20), "<pre>a\n\nb</pre>", ""),
		repeated("rows", "<table><tr><th>a<th>b", "<tr><td>a<td>b", ""),
		repeated("code", "<code>", "a ", "</code>"),
		repeated("texts of links", "<a href=x>", "a ", "</a>"),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			root, err := htmltree.Parse(body)
			if err != nil {
				return true
			}
			md := string(markdown.Append(nil, []*html.Node{root}, markdown.Options{}))
			cut(md, defaults, nil)
			return false
		})
	}
}
