package markdown_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
)

// check returns what is wrong with the Markdown of a tree; "" if nothing is.
func check(tb testing.TB, root *html.Node, md []byte) string {
	tb.Helper()
	if wrong := harm(md); wrong != "" {
		return wrong
	}
	if len(md) > 0 && md[len(md)-1] != '\n' {
		return "no line feed at its end"
	}
	want, got := readNode(tb, root, address, true), rendered(tb, md)
	if hasOddAddress(root) { // that are compared elsewhere: two libraries disagree on what they mean
		want.links, got.links = nil, nil
	}
	return difference(want, got)
}

// harm returns what of Markdown might do harm; "" if nothing does.
func harm(md []byte) (wrong string) {
	if !utf8.Valid(md) {
		return "no UTF-8"
	}
	for _, r := range string(md) {
		if r < ' ' && r != '\n' && r != '\t' || 0x7F <= r && r <= 0x9F || 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 || r>>12 == 0xE0 {
			return fmt.Sprintf("it has %U", r)
		}
	}
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(md))
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			wrong = "it has a block of HTML"
		case *ast.RawHTML:
			if s := string(n.Segments.Value(md)); s != "<br>" {
				wrong = "it has the tag " + s
			}
		case *ast.AutoLink:
			wrong = "an address became a link: " + string(n.URL(md))
		case *ast.Link:
			wrong = harmfulAddress(n.Destination)
		case *ast.Image:
			wrong = harmfulAddress(n.Destination)
		}
		if wrong != "" {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err.Error()
	}
	return wrong
}

var harmless = regexp.MustCompile(`^(https?://|ftp:|mailto:|tel:|news:|nntp:)[\x21-\x7E]+$`)

func harmfulAddress(address []byte) string {
	if harmless.Match(address) {
		return ""
	}
	return fmt.Sprintf("it leads to %q", address)
}

var plainAddress = regexp.MustCompile(`^(https?://[a-z]+\.com/|[a-z])?[a-z0-9/.]*$`)

func hasOddAddress(root *html.Node) bool {
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if (a.Key == "href" || a.Key == "src") && !plainAddress.MatchString(a.Val) {
				return true
			}
		}
	}
	return false
}

// pieces are what random pages consist of.
var pieces = strings.Split("<p>|</p>|<b>|</b>|<i>|</i>|<s>|</s>|<code>|</code>|<pre>|</pre>|<a href=x>|<a href=http://y.com/>|</a>|<img src=i alt='a]b`*'>|<br>|<hr>|"+
	"<ul>|</ul>|<ol>|<ol start=7>|</ol>|<li>|<li>|</li>|<blockquote>|</blockquote>|<h1>|</h1>|<h3>|</h3>|<table><tr><th>|<table><tr>|<tr>|<td>|<td>|<th>|</table>|<dl><dt>|<dd>|<dt>|</dl>|"+
	"<span>|</span>|<sup>|</sup>|<div>|</div>|<svg>x</svg>|<q hidden>|</q>|<details><summary>|</summary>|</details>|<textarea>|</textarea>|<button>|</button>|<caption>|</caption>|"+
	"a|b|c1|é|字|「|€|word| | | |\n|\n\n|\t|&nbsp;|*|**|_|__|`|``|```|~|~~|~~~|#|##|-|--|---|+|=|===|1|23|.|)|(|[|]|!|![|](|](u)|\\|\\\\|&amp;|&amp;amp;|&amp;#35;|;|lt|&lt;|&gt;|"+
	":|http://y.com|https://y.com/a_b|http|://|www.|y.com|@|a@b.com|\"|'|^|{|}|$|/|[x]|&lt;script>|&lt;!--|-->|&lt;![CDATA[|]]>|&#0;|&#x202e;|&#x200b;|\xff|&shy;|: |- |1. |1) |# |> |    |x:|]:|mailto:a@b.com|e|E", "|")

func randomPage(r *rand.Rand) []byte {
	var b strings.Builder
	for range 1 + r.IntN(30) {
		piece := pieces[r.IntN(len(pieces))]
		if piece == "" {
			piece = "|"
		}
		b.WriteString(piece)
	}
	return []byte(b.String())
}

func TestRoundTripOfRandomPages(t *testing.T) {
	t.Parallel()
	pages := 20_000
	if testing.Short() {
		pages /= 10
	}
	r := rand.New(rand.NewPCG(5, 2))
	bad := 0
	for range pages {
		page := randomPage(r)
		root, err := htmltree.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		md := markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: address})
		if wrong := check(t, root, md); wrong != "" {
			page = smallest(t, page)
			t.Errorf("%q\nis\n%s\n%s", page, written(t, page), wrong)
			if bad++; bad > 8 {
				return
			}
		}
	}
}

// smallest cuts from a page what it is wrong without.
func smallest(tb testing.TB, page []byte) []byte {
	for size := len(page) / 2; size > 0; {
		cut := false
		for i := 0; i+size <= len(page); i++ {
			less := append(bytes.Clone(page[:i]), page[i+size:]...)
			root, err := htmltree.Parse(less)
			if err == nil && check(tb, root, markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: address})) != "" {
				page, cut = less, true
				break
			}
		}
		if !cut {
			size /= 2
		}
		size = min(size, len(page))
	}
	return page
}

func FuzzAppend(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		f.Add(randomPage(r))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		root, err := htmltree.Parse(page)
		if err != nil {
			t.Skip(err)
		}
		md := markdown.Append([]byte("before"), []*html.Node{root}, markdown.Options{Base: address})
		md, ok := bytes.CutPrefix(md, []byte("before"))
		if !ok {
			t.Fatal("what was there is gone")
		}
		if wrong := check(t, root, md); wrong != "" {
			t.Errorf("%q\nis\n%s\n%s", page, md, wrong)
		}
	})
}
