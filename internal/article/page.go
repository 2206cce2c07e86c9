package article

import (
	"golang.org/x/net/html"
)

// page is a page's elements in document order, with what each holds.
type page struct {
	elements []element
	scratch  []int32
}

// element is an element of a page. Lengths are in letters, of which those of Chinese, Japanese and Korean count three.
type element struct {
	node        *html.Node
	parent, end int32 // number of its parent, and of the first element behind those within it
	text, link  int32 // length of the text within it, and of what of that is in links
	own, linked int32 // the same of its own text, outside of blocks within it
	prose       int32 // length of the text within it that reads like prose
	is          trait
	hint        hint
	out         bool // it is none of the main part
	holds       hint // what is within it: an h1, an article
}

// newPage reads a tree.
func newPage(root *html.Node) *page {
	p := &page{elements: make([]element, 0, 1024)}
	p.elements = append(p.elements, element{node: root, parent: -1})
	p.children(root, 0, 0, false)
	p.elements[0].end = int32(len(p.elements))
	return p
}

func (p *page) children(n *html.Node, at, block int32, inLink bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			l := letters(c.Data)
			e := &p.elements[at]
			e.text += l
			b := &p.elements[block]
			b.own += l
			if inLink {
				e.link += l
				b.linked += l
			}
		case html.ElementNode:
			p.element(c, at, block, inLink)
		}
	}
}

func (p *page) element(n *html.Node, parent, block int32, inLink bool) {
	is := traits[n.Data]
	if is&hidden != 0 || isHidden(n) {
		return
	}
	at := int32(len(p.elements))
	e := element{node: n, parent: parent, is: is, hint: hintOf(n)}
	p.elements = append(p.elements, e)
	if is&inline == 0 {
		block = at
	}
	p.children(n, at, block, inLink || is&link != 0)
	p.leave(at)
}

// leave adds what an element holds to its parent's.
func (p *page) leave(at int32) {
	e := &p.elements[at]
	e.end = int32(len(p.elements))
	if e.own >= 40 && 2*e.linked < e.own {
		e.prose += e.own - e.linked
	}
	if e.node.Data == "h1" || e.node.Data == "article" || e.node.Data == "main" {
		e.holds |= content
	}
	if e.is&control != 0 || e.hint&beside != 0 && e.hint&body == 0 && e.node.Data != "body" && e.node.Data != "html" && e.holds == 0 {
		e.out = true
		return
	}
	up := &p.elements[e.parent]
	up.text += e.text
	up.link += e.link
	up.prose += e.prose
	up.holds |= e.holds
}

// letters returns the length of a text, without white space.
func letters(s string) (n int32) {
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ', 0x80 <= c && c < 0xC0:
		case 0xE3 <= c && c <= 0xED:
			n += 3
		default:
			n++
		}
	}
	return n
}

func hintOf(n *html.Node) (h hint) {
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "class", "id", "role", "itemprop":
			if v := n.Attr[i].Val; len(v) < 500 {
				h |= hintsOf(v)
				if n.Attr[i].Key == "itemprop" && v == "articleBody" {
					h |= body
				}
			}
		}
	}
	return h
}

func isHidden(n *html.Node) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == "hidden" {
			return true
		}
	}
	return false
}
