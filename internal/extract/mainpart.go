package extract

import (
	"bytes"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/article"
	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/htmltree"
)

// mainParameter is the parameter of a content type by which [ContentType] passes on that what stands beside the main
// part of the page counts as navigation.
const mainParameter = "; webrace-main=1"

// treeCost is about how many bytes of memory a tree takes for each of its page.
const treeCost = 12

// besideMain makes navigation of what of a page, whose text is read, stands beside its main part. A page without one,
// or of which no tree can be made, stays as it is.
func (x *extraction) besideMain(page []byte) {
	root, err := htmltree.Parse(page)
	if err != nil {
		return
	}
	a := article.Find(root, x.base.String())
	if a.Main == nil {
		return
	}
	var main, beside bytes.Buffer
	for _, n := range a.Main {
		render(&main, n)
		for within := range n.Descendants() {
			if a.Without(within) {
				render(&beside, within)
			}
		}
	}
	in, out := x.blocksOf(main.Bytes()), x.blocksOf(beside.Bytes())
	for i := range x.Text.Blocks {
		b := &x.Text.Blocks[i]
		text := x.Text.Slice(*b)
		if b.Field != webrace.FieldTitle && (!in[string(text)] || out[string(text)]) {
			b.Field = webrace.FieldNavigation
		}
	}
}

// render writes an element as HTML, apart from those beside it.
func render(to *bytes.Buffer, n *html.Node) {
	_ = html.Render(to, n) // what cannot be written is not found again, and so is beside the main part
	to.WriteString("<hr>")
}

// blocksOf returns the blocks of text that a part of the page has.
func (x *extraction) blocksOf(part []byte) map[string]bool {
	s := htmltext.Scanner{Options: htmltext.Options{Scripts: x.opts.Scripts}}
	s.Scan(part)
	blocks := make(map[string]bool, len(s.Text.Blocks))
	for _, b := range s.Text.Blocks {
		blocks[string(s.Text.Slice(b))] = true
	}
	return blocks
}
