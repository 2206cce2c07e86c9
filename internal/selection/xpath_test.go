package selection

import (
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/xpath"
)

// asXML writes a tree so that an XML parser makes the same of it.
func asXML(b *strings.Builder, n *html.Node) {
	switch n.Type {
	case html.TextNode:
		_ = xml.EscapeText(b, []byte(n.Data))
	case html.CommentNode, html.RawNode:
		b.WriteString("<!---->")
	case html.ElementNode:
		b.WriteString("<" + n.Data)
		for _, a := range n.Attr {
			b.WriteString(" " + a.Key + `="`)
			_ = xml.EscapeText(b, []byte(a.Val))
			b.WriteString(`"`)
		}
		b.WriteString(">")
	}
	for kid := n.FirstChild; kid != nil; kid = kid.NextSibling {
		asXML(b, kid)
	}
	if n.Type == html.ElementNode {
		b.WriteString("</" + n.Data + ">")
	}
}

func randomPage(r *rand.Rand, elements int) string {
	var b strings.Builder
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	for range elements {
		name := one("div", "div", "p", "span", "ul", "li", "a", "b", "table", "tr", "td", "h1", "section", "em")
		switch r.IntN(6) {
		case 0:
			b.WriteString("</" + name + ">")
		case 1:
			b.WriteString(one("one", "two 2", "3", " 1 ", "a b  c", "\u00a0x\u00a0", "0.5", "2.5", "é𝄞", "<!--c-->", "\n"))
		default:
			b.WriteString("<" + name)
			for _, key := range []string{"class", "id", "href", "title", "data-n"} {
				if r.IntN(4) == 0 {
					fmt.Fprintf(&b, " %s='%s'", key, one("a", "b", "a b", "1", "2", "3", "x", "", "one"))
				}
			}
			b.WriteString(">")
		}
	}
	return b.String()
}

func TestXPathLikeLibxml2(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 14))
	var documents []string
	var trees []*xpath.Tree
	for i := range 40 {
		root, err := htmltree.Parse([]byte(randomPage(r, 10+3*i)))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		asXML(&b, root)
		documents, trees = append(documents, b.String()), append(trees, &newPaths(root).Tree)
	}
	g := &testutil.XPathGenerator{
		Rand:       r,
		Elements:   []string{"div", "p", "span", "ul", "li", "a", "b", "td", "tr", "body", "section"},
		Attributes: []string{"class", "id", "href", "title", "data-n"},
		Values:     []string{"'a'", "'b'", "'1'", "'2'", "'x'", "''", "'one'", "'two 2'"},
	}
	testutil.CompareXPath(t, g, documents, trees, nil, func() string { return g.Nodes(3) }, nil)
}
