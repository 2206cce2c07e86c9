package selection

import (
	"bytes"
	"errors"
	"strings"

	"golang.org/x/net/html"
)

// ErrTooLarge is the error of a document that is too large to be taken apart.
var ErrTooLarge = errors.New("the document is too large to select from")

const (
	// MaxInput is the most bytes of a document that is taken apart, and maxNodes the most nodes.
	MaxInput = 16 << 20
	maxNodes = 1 << 19
	// maxDepth is how deep elements nest; those beyond stand beside each other.
	maxDepth = 512
)

// builder makes the tree of a document out of its tags: in one pass, with a node a token at most and one for
// each element that a page leaves out, so that no page costs more than its length. What a page leaves out
// is added as the HTML standard says (html, head, body, tbody, the ends of p, li, td and the like), so that
// what a browser calls "body > table > tbody" is called so here. But nothing is moved or copied: where a
// page is not well-formed, text stays where it is written, and a tag that fits nowhere is kept as it stands,
// for it may part two words.
type builder struct {
	root    *html.Node
	open    []*html.Node   // the elements that are open, root first
	counts  map[string]int // of these, by name
	beyond  int            // elements open beyond maxDepth
	nodes   int
	foreign int // of these, svg and math
	head    *html.Node
	body    *html.Node
	text    []byte // since the last tag that counted
}

func newBuilder() *builder {
	root := &html.Node{Type: html.DocumentNode}
	return &builder{root: root, open: []*html.Node{root}, counts: make(map[string]int)}
}

func (b *builder) top() *html.Node { return b.open[len(b.open)-1] }

// add puts a node where the page stands.
func (b *builder) add(n *html.Node) {
	b.flush()
	b.nodes++
	b.top().AppendChild(n)
}

// flush makes a node of the text that was read.
func (b *builder) flush() {
	if len(b.text) > 0 {
		b.nodes++
		b.top().AppendChild(&html.Node{Type: html.TextNode, Data: string(b.text)})
		b.text = b.text[:0]
	}
}

// push opens an element.
func (b *builder) push(n *html.Node) {
	b.add(n)
	if len(b.open) >= maxDepth {
		b.beyond++
		return
	}
	b.reopen(n)
}

// reopen takes an element of the tree for open.
func (b *builder) reopen(n *html.Node) {
	b.open = append(b.open, n)
	b.counts[n.Data]++
}

// popTo closes the elements from number i on.
func (b *builder) popTo(i int) {
	b.flush()
	i = max(i, 1)
	for _, n := range b.open[i:] {
		b.counts[n.Data]--
		if n.Data == "svg" || n.Data == "math" {
			b.foreign = max(0, b.foreign-1)
		}
	}
	b.open = b.open[:i]
}

// find returns the number of the innermost open element that is meant, unless one that stops the search is
// within it; -1 if there is none.
func (b *builder) find(meant, stops func(name string) bool) int {
	for i := len(b.open) - 1; i > 0; i-- {
		name := b.open[i].Data
		if meant(name) {
			return i
		}
		if stops(name) {
			return -1
		}
	}
	return -1
}

// parse returns the tree of a page of HTML.
func parse(body []byte) (*html.Node, error) {
	if len(body) > MaxInput {
		return nil, ErrTooLarge
	}
	b := newBuilder()
	z := html.NewTokenizer(bytes.NewReader(body))
	for b.nodes <= maxNodes {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			b.ensureBody()
			b.flush()
			return b.root, nil
		case html.TextToken:
			b.characters(z.Text())
		case html.CommentToken:
			b.add(&html.Node{Type: html.CommentNode})
		case html.StartTagToken, html.SelfClosingTagToken:
			b.startTag(z, kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := z.TagName()
			b.end(string(name))
		}
		z.AllowCDATA(b.inForeign())
	}
	return nil, ErrTooLarge
}

func (b *builder) characters(text []byte) {
	if top := b.top(); b.body == nil && (top == b.root || top == b.head || top.Data == "html") {
		if len(bytes.TrimSpace(text)) == 0 {
			return
		}
		b.ensureBody()
	}
	b.text = append(b.text, text...)
}

func (b *builder) startTag(z *html.Tokenizer, selfClosing bool) {
	token := z.Token()
	n := &html.Node{Type: html.ElementNode, Data: token.Data, Attr: token.Attr}
	if b.inForeign() && breakouts.has(n.Data) {
		b.leaveForeign()
	}
	foreign := b.inForeign()
	switch {
	case foreign:
		z.NextIsNotRawText()
		b.push(n)
	case b.document(n):
		return
	default:
		b.enclose(n)
		b.push(n)
	}
	drawing := n.Data == "svg" || n.Data == "math"
	switch {
	case foreign && selfClosing, drawing && selfClosing, !foreign && void.has(n.Data):
		b.close()
	case drawing && b.beyond == 0:
		b.foreign++
	}
}

// close closes the element that was pushed last.
func (b *builder) close() {
	b.flush()
	if b.beyond > 0 {
		b.beyond--
		return
	}
	b.popTo(len(b.open) - 1)
}

// inForeign reports whether the page stands in a drawing or formula, but not in HTML within that.
func (b *builder) inForeign() bool {
	for i := len(b.open) - 1; i > 0 && b.foreign > 0; i-- {
		switch b.open[i].Data {
		case "svg", "math":
			return true
		case "foreignobject", "desc", "title":
			return false
		}
	}
	return false
}

// leaveForeign closes the elements of drawings and formulas, which a page forgot to.
func (b *builder) leaveForeign() {
	for b.inForeign() {
		b.popTo(len(b.open) - 1)
	}
	b.beyond = 0
}

// document handles the elements that a page has once, and says whether the tag was one of theirs that opens
// nothing. Before any other, it sees to it that they are there.
func (b *builder) document(n *html.Node) (done bool) {
	switch {
	case n.Data == "html":
		root := b.ensureRoot()
		if len(root.Attr) < fewAttributes {
			root.Attr = merged(root.Attr, n.Attr)
		}
		return true
	case n.Data == "head":
		if b.head == nil && b.body == nil {
			b.ensureRoot()
			b.head = n
			b.push(n)
		}
		return true
	case n.Data == "body" || n.Data == "frameset":
		if b.body != nil {
			b.stray(n.Data, "<")
			return true
		}
		b.openBody(n)
		return true
	case b.body != nil || b.inside("template"):
	case inHead.has(n.Data):
		b.ensureHead()
	default:
		b.ensureBody()
	}
	return false
}

func (b *builder) inside(name string) bool {
	return b.counts[name] > 0
}

func (b *builder) ensureRoot() *html.Node {
	if len(b.open) == 1 {
		b.push(&html.Node{Type: html.ElementNode, Data: "html"})
	}
	return b.open[1]
}

func (b *builder) ensureHead() {
	b.ensureRoot()
	if b.head == nil {
		b.head = &html.Node{Type: html.ElementNode, Data: "head"}
		b.push(b.head)
	} else if len(b.open) == 2 { // it was closed: what belongs there goes there all the same
		b.reopen(b.head)
	}
}

func (b *builder) ensureBody() {
	if b.body == nil {
		b.openBody(&html.Node{Type: html.ElementNode, Data: "body"})
	}
}

func (b *builder) openBody(n *html.Node) {
	b.ensureRoot()
	b.popTo(2)
	if b.head == nil {
		b.head = &html.Node{Type: html.ElementNode, Data: "head"}
		b.add(b.head)
	}
	b.body = n
	b.push(n)
}

// stray keeps a tag that fits nowhere. It is no element, and is written out again where text is.
func (b *builder) stray(name, opening string) {
	b.add(&html.Node{Type: html.RawNode, Data: opening + name + ">"})
}

// fewAttributes are as many as a root has that takes those of further tags over.
const fewAttributes = 32

func merged(attrs, more []html.Attribute) []html.Attribute {
	for _, a := range more {
		if value(attrs, a.Key) == nil {
			attrs = append(attrs, a)
		}
	}
	return attrs
}

// value returns the value of an attribute, or nil.
func value(attrs []html.Attribute, key string) *string {
	for i := range attrs {
		if attrs[i].Key == key {
			return &attrs[i].Val
		}
	}
	return nil
}

// set is a set of names of elements.
type set map[string]bool

func names(list string) set {
	s := make(set)
	for name := range strings.FieldsSeq(list) {
		s[name] = true
	}
	return s
}

func (s set) has(name string) bool { return s[name] }
