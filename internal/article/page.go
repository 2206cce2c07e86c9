package article

import (
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

// longestName is the most bytes of a class or id that is read for what it tells.
const longestName = 500

// page is a page's elements in document order, with what each holds.
type page struct {
	elements []element
	begun    bool // a section, whose heading comes next
	meta     meta
}

// element is an element of a page. Lengths are in letters, of which those of Chinese, Japanese and Korean count three.
type element struct {
	node        *html.Node
	parent, end int32 // number of its parent, and of the first element behind those within it
	own, linked int32 // of a block: length of its text outside of blocks within it, and of what of that is in links
	links       int32 // that it has there
	all         sums  // what is within it
	left        sums  // what is within it, but for what is out
	is          trait
	hint        hint
	holds       hint // of its own, and of those within it
	out         bool // it is none of the main part
	sentence    bool // its own text ends as a sentence does
}

// sums are what an element holds.
type sums struct{ text, link, prose, links int32 }

func (s *sums) add(t sums) {
	s.text += t.text
	s.link += t.link
	s.prose += t.prose
	s.links += t.links
}

// pages are spare ones, of which the room for elements is used again.
var pages = sync.Pool{New: func() any { return &page{elements: make([]element, 0, 1024)} }}

// mostSpare is the most elements that room is kept for, which take 2 MB.
const mostSpare = 1 << 14

// free lets go of all that was read.
func (p *page) free() {
	if cap(p.elements) > mostSpare {
		return
	}
	clear(p.elements)
	*p = page{elements: p.elements[:0]}
	pages.Put(p)
}

// read reads a tree of a page from there.
func (p *page) read(root *html.Node, from *url.URL) {
	p.meta.page = from
	p.elements = append(p.elements, element{node: root, parent: -1})
	p.children(root, 0, 0, false)
	p.elements[0].end = int32(len(p.elements))
	p.sum()
}

func (p *page) children(n *html.Node, at, block int32, inLink bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			l := letters(c.Data)
			if l == 0 {
				continue
			}
			b := &p.elements[block]
			b.own += l
			b.sentence = endsSentence(c.Data)
			if inLink {
				b.linked += l
			}
		case html.ElementNode:
			p.element(c, at, block, inLink)
		}
	}
}

func (p *page) element(n *html.Node, parent, block int32, inLink bool) {
	is := traits[n.Data]
	if is&skipped != 0 {
		p.meta.declared(n)
		return
	}
	if len(n.Attr) > 0 || is&inline == 0 {
		p.meta.shown(n)
		if isHidden(n) {
			is |= hidden
		}
	}
	if is&link != 0 && htmltree.Value(n.Attr, "href") != nil {
		inLink = true
		p.elements[block].links++
	}
	hint := hintOf(n, is)
	if is&(inline|hidden) == inline && hint == 0 { // it is text as any
		p.children(n, parent, block, inLink)
		return
	}
	at := int32(len(p.elements))
	p.elements = append(p.elements, element{node: n, parent: parent, is: is, hint: hint})
	if is&inline == 0 {
		block = at
	}
	switch e := &p.elements[at]; {
	case e.hint&(dated|authored) != 0:
		p.meta.called(n, e.hint)
	case e.hint&sect != 0:
		p.begun = true
	case e.is&heading != 0 && p.begun:
		p.begun = false
		e.hint |= section
	}
	p.children(n, at, block, inLink)
	p.elements[at].end = int32(len(p.elements))
}

// sum adds what elements hold to their parents.
func (p *page) sum() {
	for i := len(p.elements) - 1; i >= 0; i-- {
		e := &p.elements[i]
		e.all.add(e.itself())
		e.holds |= e.hint
		if e.parent >= 0 {
			up := &p.elements[e.parent]
			up.all.add(e.all)
			up.holds |= e.holds
		}
	}
}

// itself is what an element holds without those within it.
func (e *element) itself() (s sums) {
	s.text, s.link, s.links = e.own, e.linked, e.links
	if e.own >= 40 && 2*e.linked < e.own && e.is&heading == 0 {
		s.prose = e.own - e.linked
	}
	return s
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

// hintOf returns what an element is, as far as its name and its attributes tell.
func hintOf(n *html.Node, is trait) (h hint) {
	if is&document != 0 {
		return 0 // of the page, not of a part
	}
	if is&heading != 0 {
		h = headed
	}
	switch n.Data {
	case "h1":
		h |= title
	case "article":
		h = content
	case "main":
		h = main
	case "figcaption":
		h = caption
	case "section":
		if htmltree.Value(n.Attr, "id") != nil {
			h = sect
		}
	case "th":
		h = data
	case "pre":
		h = code
	}
	for i := range n.Attr {
		a := &n.Attr[i]
		if len(a.Val) > longestName {
			continue
		}
		switch a.Key {
		case "class", "role":
			h |= hintsOf(a.Val)
		case "id":
			if is&anchored == 0 {
				h |= hintsOfID(a.Val)
			}
		case "itemprop":
			switch a.Val {
			case "articleBody":
				h |= body
			case "description":
				h |= lead
			}
		}
	}
	if h&sect != 0 { // it is called what it treats of
		h &^= beside | replies | dated
	}
	return h
}

// isHidden reports whether an element is not shown until a script or a reader does something.
func isHidden(n *html.Node) bool {
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "style":
			if _, v, ok := strings.Cut(a.Val, "display"); ok {
				v, ok = strings.CutPrefix(strings.TrimLeft(v, " \t\n"), ":")
				return ok && strings.HasPrefix(strings.TrimLeft(v, " \t\n"), "none")
			}
		}
	}
	return false
}

// endsSentence reports whether a text ends as a sentence does, with or without a quotation mark or bracket behind.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, " \t\r\n\"')»”’“\u00a0」』")
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune(".!?…。！？:;", r)
}
