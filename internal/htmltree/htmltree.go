// Package htmltree makes trees of golang.org/x/net/html out of pages, and out of XML that is only nearly well-formed,
// at a cost in proportion to their length. That library's own parser makes what the HTML standard requires, at times at
// a great cost: it compares the attributes of each tag body with those before, for which a page of 135 KB asked two
// minutes, and 12 GB in all.
package htmltree

import (
	"errors"
	"strings"

	"golang.org/x/net/html"
)

// ErrTooLarge is the error of a document that is too large to be taken apart.
var ErrTooLarge = errors.New("the document is too large for a tree")

const (
	// MaxInput is the most bytes of a document that is made a tree, and MaxNodes the most nodes.
	MaxInput = 16 << 20
	MaxNodes = 1 << 19
	// MaxDepth is how deep elements nest; those beyond stand beside each other.
	MaxDepth = 512
)

// builder makes the tree of a document out of its tags: in one pass, with a node a token at most and one for
// each element that a page leaves out, so that no page costs more than its length. What a page leaves out
// is added as the HTML standard requires (html, head, body, tbody, the ends of p, li, td and the like), so that
// what a browser calls "body > table > tbody" is called so here. But nothing is moved or copied: where a
// page is not well-formed, text stays where it is written, and a tag that fits nowhere is kept as it stands,
// for it may part two words.
type builder struct {
	root    *html.Node
	open    []*html.Node   // the elements that are open, root first
	counts  map[string]int // of these, by name
	beyond  int            // elements open beyond MaxDepth
	nodes   int
	foreign int // of these, svg and math
	head    *html.Node
	body    *html.Node
	text    string // since the last tag that counted
	texts   []byte // the same, if it is of several parts; else empty
	room    *Room
	free    []html.Node // of the room
}

func newBuilder(room *Room) *builder {
	b := &builder{room: room, counts: make(map[string]int)}
	b.root = b.node(html.DocumentNode, "")
	b.open = []*html.Node{b.root}
	return b
}

func (b *builder) top() *html.Node { return b.open[len(b.open)-1] }

// add puts a node where the page stands.
func (b *builder) add(n *html.Node) {
	b.flush()
	b.nodes++
	b.top().AppendChild(n)
}

func (b *builder) node(kind html.NodeType, data string) *html.Node {
	if len(b.free) == 0 {
		b.free = b.room.someNodes()
	}
	n := &b.free[0]
	b.free = b.free[1:]
	n.Type, n.Data = kind, data
	return n
}

func (b *builder) element(name string) *html.Node { return b.node(html.ElementNode, name) }

// addText keeps a text until a tag follows.
func (b *builder) addText(text string) {
	switch {
	case len(b.texts) > 0:
		b.texts = append(b.texts, text...)
	case b.text == "":
		b.text = text
	default:
		b.texts = append(append(b.texts, b.text...), text...)
	}
}

// flush makes a node of the text that was read.
func (b *builder) flush() {
	if len(b.texts) > 0 {
		b.text = string(b.texts)
		b.texts = b.texts[:0]
	}
	if b.text != "" {
		b.nodes++
		b.top().AppendChild(b.node(html.TextNode, b.text))
		b.text = ""
	}
}

// push opens an element.
func (b *builder) push(n *html.Node) {
	b.add(n)
	if len(b.open) >= MaxDepth {
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

// Parse returns the tree of a page of HTML in UTF-8. The nodes have no DataAtom.
func Parse(body []byte) (*html.Node, error) { return parse(body, new(Room)) }

func parse(body []byte, room *Room) (*html.Node, error) {
	if len(body) > MaxInput {
		return nil, ErrTooLarge
	}
	b := newBuilder(room)
	t := newTokens(body, room)
	for b.nodes <= MaxNodes {
		switch t.next() {
		case noToken:
			b.ensureBody()
			b.flush()
			return b.root, nil
		case textToken:
			b.characters(t.text)
		case commentToken:
			b.add(b.node(html.CommentNode, ""))
		case startToken:
			b.startTag(t)
		case endToken:
			if t.endsNoScript {
				b.endNoScript()
			} else {
				b.end(t.name)
			}
		}
		t.cdata = b.inForeign()
	}
	return nil, ErrTooLarge
}

// characters reads a text.
func (b *builder) characters(text string) {
	if top := b.top(); b.body == nil && (top == b.root || top == b.head || top.Data == "html" || top.Data == "noscript") {
		if strings.TrimSpace(text) == "" {
			return
		}
		b.ensureBody()
	}
	b.addText(text)
}

func (b *builder) startTag(t *tokens) {
	n := b.element(t.name)
	n.Attr = t.attributes
	is := traitsOf[n.Data]
	if b.inForeign() && is&isBreakout != 0 {
		b.leaveForeign()
	}
	foreign := b.inForeign()
	switch {
	case foreign:
		t.rawElement = ""
		b.push(n)
	case b.document(n, is):
		return
	default:
		b.enclose(n.Data, is)
		b.push(n)
	}
	drawing := n.Data == "svg" || n.Data == "math"
	switch {
	case (foreign || drawing) && t.selfClosing, !foreign && is&isVoid != 0:
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

// document handles the elements that a page has once, and reports whether the tag was one of theirs that opens
// nothing. Before any other, it sees to it that they are there.
func (b *builder) document(n *html.Node, is traits) (done bool) {
	switch {
	case n.Data == "html":
		if root := b.ensureRoot(); len(root.Attr) == 0 {
			root.Attr = n.Attr
		} else {
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
	case is&isInHead != 0:
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
		b.push(b.element("html"))
	}
	return b.open[1]
}

func (b *builder) ensureHead() {
	b.ensureRoot()
	if b.head == nil {
		b.head = b.element("head")
		b.push(b.head)
	} else if len(b.open) == 2 { // it was closed: what belongs there goes there all the same
		b.reopen(b.head)
	}
}

func (b *builder) ensureBody() {
	if b.body == nil {
		b.openBody(b.element("body"))
	}
}

func (b *builder) openBody(n *html.Node) {
	b.ensureRoot()
	b.popTo(2)
	if b.head == nil {
		b.head = b.element("head")
		b.add(b.head)
	}
	b.body = n
	b.push(n)
}

// stray keeps a tag that fits nowhere. It is no element, and is written out again where text is.
func (b *builder) stray(name, opening string) {
	b.add(b.node(html.RawNode, opening+name+">"))
}

// fewAttributes are as many as a root has that takes those of further tags over: each is compared with all that it has.
const fewAttributes = 32

func merged(attrs, more []html.Attribute) []html.Attribute {
	for _, a := range more {
		if len(attrs) >= fewAttributes {
			break
		}
		if Value(attrs, a.Key) == nil {
			attrs = append(attrs, a)
		}
	}
	return attrs
}

// Value returns the value of an attribute, or nil.
func Value(attrs []html.Attribute, key string) *string {
	for i := range attrs {
		if attrs[i].Key == key {
			return &attrs[i].Val
		}
	}
	return nil
}

// Set is a set of names of elements.
type Set map[string]bool

// Names returns the set of the names in a list.
func Names(list string) Set {
	s := make(Set)
	for name := range strings.FieldsSeq(list) {
		s[name] = true
	}
	return s
}

// Has reports whether a name is in the set.
func (s Set) Has(name string) bool { return s[name] }
