package xpath

import "slices"

// Kind is that of a node. The numbers are those that node tables of xmlschema are stored with.
type Kind uint8

// The kinds of nodes.
const (
	Root Kind = iota
	Element
	Attribute
	Text
	Comment
)

// Node is a node of a tree: its number in the order of the document, with that of an attribute behind it. So nodes
// compare as they stand in the document, attributes between their element and what is in it.
type Node int64

// NewNode returns the node with a number, or its attribute, counted from 0; -1 is none.
func NewNode(number, attribute int32) Node { return Node(number)<<32 | Node(uint32(attribute+1)) }

// Number returns that of the node, for an attribute that of its element.
func (n Node) Number() int32 { return int32(n >> 32) }

// Attribute returns the number of the attribute that it is, from 0; -1 if it is none.
func (n Node) Attribute() int32 { return int32(uint32(n)) - 1 }

// Source is what the nodes of a tree have in them. The attribute is -1 where the node itself is meant.
type Source interface {
	Name(number, attribute int32) (prefix, local string)
	Space(number, attribute int32) string // the URI of the name's namespace
	Text(number, attribute int32) string  // of a text, a comment or an attribute
	Attributes(number int32) int32        // how many
}

// Tree is a document: where its nodes stand, and what is in them. It may be read by many goroutines at once.
type Tree struct {
	Source Source
	links  []treeLinks
}

// treeLinks are where a node stands. A node's descendants follow it, up to its end.
type treeLinks struct {
	kind   Kind
	parent int32 // -1 of the root
	end    int32 // until Done, the last child; 0 for none
	before int32 // the sibling; 0 for none
}

// Reset empties a tree but for its root, which is node 0, and makes room for so many nodes.
func (t *Tree) Reset(room int) {
	t.links = append(slices.Grow(t.links[:0], room), treeLinks{kind: Root, parent: -1})
}

// Add adds the next node in the order of the document, below one that was added, and returns its number. It panics
// if there is no such parent, or if it is a kind of node that has no place of its own.
func (t *Tree) Add(kind Kind, parent int32) int32 {
	if kind != Element && kind != Text && kind != Comment {
		panic("no node of a tree is of this kind")
	}
	n := int32(len(t.links))
	above := &t.links[parent]
	t.links = append(t.links, treeLinks{kind: kind, parent: parent, before: above.end})
	t.links[parent].end = n
	return n
}

// Done tells the tree that all nodes were added.
func (t *Tree) Done() {
	for i := len(t.links) - 1; i >= 0; i-- {
		p := &t.links[i]
		if p.end == 0 {
			p.end = int32(i) + 1
		} else {
			p.end = t.links[p.end].end
		}
	}
}

// Kind returns that of a node.
func (t *Tree) Kind(n Node) Kind {
	if n.Attribute() >= 0 {
		return Attribute
	}
	return t.links[n.Number()].kind
}

// axis is that of a step.
type axis uint8

const (
	self axis = iota
	child
	descendant
	descendantOrSelf
	following
	followingSibling
	attribute
	parent // from here on the nearest comes first
	ancestor
	ancestorOrSelf
	preceding
	precedingSibling
)

var axes = map[string]axis{
	"self": self, "child": child, "descendant": descendant, "descendant-or-self": descendantOrSelf, "following": following,
	"following-sibling": followingSibling, "attribute": attribute, "parent": parent, "ancestor": ancestor,
	"ancestor-or-self": ancestorOrSelf, "preceding": preceding, "preceding-sibling": precedingSibling,
}

func (a axis) reverse() bool { return a >= parent }

// cursor walks along an axis.
type cursor struct {
	t        *Tree
	axis     axis
	of       int32 // where the axis begins
	at, stop int32
	own      Node // comes first, unless it is -1
}

// along returns a cursor on the axis of a node.
func (t *Tree) along(a axis, of Node) cursor {
	n, isAttribute := of.Number(), of.Attribute() >= 0
	c := cursor{t: t, axis: a, of: n, own: -1}
	p := &t.links[n]
	switch a {
	case self:
		c.own = of
	case child, descendant:
		if !isAttribute {
			c.at, c.stop = n+1, p.end
		}
	case descendantOrSelf:
		if c.own = of; !isAttribute {
			c.at, c.stop = n+1, p.end
		}
	case following:
		if c.at, c.stop = p.end, int32(len(t.links)); isAttribute {
			c.at = n + 1 // what is in its element stands behind it, and is no descendant
		}
	case followingSibling:
		if !isAttribute && n > 0 {
			c.at, c.stop = p.end, t.links[p.parent].end
		}
	case attribute:
		if !isAttribute && p.kind == Element {
			c.stop = t.Source.Attributes(n)
		}
	case parent, ancestor, ancestorOrSelf:
		if a == ancestorOrSelf {
			c.own = of
		}
		if c.at = p.parent; isAttribute {
			c.at = n
		}
	case preceding:
		c.at = n - 1
	case precedingSibling:
		if !isAttribute {
			c.at = p.before
		}
	}
	return c
}

// next returns the next node on the axis, until there is none.
func (c *cursor) next() (n Node, ok bool) {
	if c.own >= 0 {
		n, c.own = c.own, -1
		return n, true
	}
	at := c.at
	switch c.axis {
	case child, followingSibling:
		if ok = at < c.stop; ok {
			c.at = c.t.links[at].end
		}
	case descendant, descendantOrSelf, following:
		ok = at < c.stop
		c.at++
	case attribute:
		c.at++
		return NewNode(c.of, at), at < c.stop
	case parent:
		ok, c.at = at >= 0, -1
	case ancestor, ancestorOrSelf:
		if ok = at >= 0; ok {
			c.at = c.t.links[at].parent
		}
	case preceding:
		for at > 0 && c.t.links[at].end > c.of {
			at-- // an ancestor
		}
		ok, c.at = at > 0, at-1
	case precedingSibling:
		if ok = at > 0; ok {
			c.at = c.t.links[at].before
		}
	}
	return NewNode(at, -1), ok
}
