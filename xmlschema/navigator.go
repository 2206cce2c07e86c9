package xmlschema

import (
	"strings"

	"github.com/antchfx/xpath"

	"github.com/webrace/webrace/internal/xpathguard"
)

// ErrBudget is the error of a match that needs more steps than a query may take.
var ErrBudget = xpathguard.ErrBudget

// maxSteps is how often one match may move over the document: thousands of times what an ordinary
// expression needs, and less than a second.
const maxSteps = 1 << 20

// navigator walks a table. It follows the XPath data model, so that namespace declarations are no
// attributes and the root's value is the text of the document.
type navigator struct {
	t      *table
	budget *xpathguard.Budget
	node   int
	attr   int // of the node, from 0; -1 on the node itself
}

var _ xpath.NodeNavigator = (*navigator)(nil)

func (n *navigator) NodeType() xpath.NodeType {
	if n.attr >= 0 {
		return xpath.AttributeNode
	}
	return xpath.NodeType(n.t.node(n.node, cellKind))
}

// The parts of a name.
const (
	partLocal = iota
	partPrefix
	partNamespace
)

func (n *navigator) namePart(part int) string {
	name, namespace := 0, ""
	switch n.NodeType() {
	case xpath.AttributeNode:
		name = n.t.attr(n.attribute(), 0)
	case xpath.ElementNode:
		name, namespace = n.t.node(n.node, cellName), Namespace
	default:
		return ""
	}
	if name >= ownNames {
		return string(n.t.namePart(name, part))
	}
	switch part {
	case partLocal:
		return vocabulary[name]
	case partNamespace:
		return namespace
	}
	return ""
}

func (n *navigator) attribute() int { return n.t.node(n.node, cellAttr) + n.attr }

func (n *navigator) LocalName() string { return n.namePart(partLocal) }
func (n *navigator) Prefix() string    { return n.namePart(partPrefix) }

// NamespaceURL is what namespace-uri() asks for.
func (n *navigator) NamespaceURL() string { return n.namePart(partNamespace) }

func (n *navigator) Value() string {
	switch n.NodeType() {
	case xpath.AttributeNode:
		a := n.attribute()
		return n.charge(n.t.slice(n.t.attr(a, 1), n.t.attr(a, 2)))
	case xpath.TextNode, xpath.CommentNode:
		return n.charge(n.t.slice(n.t.node(n.node, cellText), n.t.node(n.node, cellTextLen)))
	}
	var all strings.Builder
	n.collect(n.node, &all)
	return all.String()
}

func (n *navigator) charge(text []byte) string {
	n.budget.Spend(1 + len(text)/xpathguard.StepBytes)
	return string(text)
}

// collect gathers the text in a node, in document order.
func (n *navigator) collect(node int, all *strings.Builder) {
	for kid := n.t.node(node, cellFirst); kid != 0; kid = n.t.node(kid, cellNext) {
		n.budget.Spend(1)
		switch xpath.NodeType(n.t.node(kid, cellKind)) {
		case xpath.TextNode:
			all.WriteString(n.charge(n.t.slice(n.t.node(kid, cellText), n.t.node(kid, cellTextLen))))
		case xpath.ElementNode:
			n.collect(kid, all)
		}
	}
}

func (n *navigator) Copy() xpath.NodeNavigator {
	n.budget.Spend(1)
	c := *n
	return &c
}

func (n *navigator) MoveToRoot() { n.node, n.attr = 0, -1 }

func (n *navigator) MoveToParent() bool {
	n.budget.Spend(1)
	if n.attr >= 0 {
		n.attr = -1
		return true
	}
	if n.node == 0 {
		return false
	}
	n.node = n.t.node(n.node, cellParent)
	return true
}

func (n *navigator) MoveToNextAttribute() bool {
	n.budget.Spend(1)
	if n.attr+1 >= n.t.node(n.node, cellAttrs) {
		return false
	}
	n.attr++
	return true
}

func (n *navigator) MoveToChild() bool    { return n.moveTo(cellFirst) }
func (n *navigator) MoveToNext() bool     { return n.moveTo(cellNext) }
func (n *navigator) MoveToPrevious() bool { return n.moveTo(cellPrevious) }

func (n *navigator) moveTo(cell int) bool {
	n.budget.Spend(1)
	if n.attr >= 0 {
		return false
	}
	to := n.t.node(n.node, cell)
	if to == 0 {
		return false
	}
	n.node = to
	return true
}

func (n *navigator) MoveToFirst() bool {
	moved := false
	for n.MoveToPrevious() {
		moved = true
	}
	return moved
}

func (n *navigator) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*navigator)
	if !ok || o.t != n.t {
		return false
	}
	n.node, n.attr = o.node, o.attr
	return true
}
