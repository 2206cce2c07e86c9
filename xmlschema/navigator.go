package xmlschema

import (
	"context"
	"strings"
	"sync"

	"github.com/antchfx/xpath"

	"github.com/webrace/webrace/internal/xpathguard"
)

// ErrBudget is the error of a match that needs more steps than a query may take.
var ErrBudget = xpathguard.ErrBudget

// maxSteps is how often one match may move over the document: thousands of times what an ordinary
// expression needs, and less than a second.
const maxSteps = 1 << 20

// evaluation is what the navigators of one match share.
type evaluation struct {
	t      table
	budget xpathguard.Budget
	slab   []navigator
}

// The xpath package copies its navigator for each step of a path. So they are made many at a time, and those of the
// next match in the same memory.
const slabSize = 64

var evaluations = sync.Pool{New: func() any { return &evaluation{slab: make([]navigator, 0, slabSize)} }}

// evaluate calls back with a navigator on the root of a table. Neither it nor its copies may be kept.
func evaluate(ctx context.Context, t table, back func(root *navigator)) error {
	e := evaluations.Get().(*evaluation)
	defer func() {
		*e = evaluation{slab: e.slab[:0]} // the table is the caller's
		evaluations.Put(e)
	}()
	e.t, e.budget = t, xpathguard.Budget{Context: ctx, Left: maxSteps}
	return xpathguard.Evaluate(func() { back(e.add(navigator{e: e, attr: -1})) })
}

func (e *evaluation) add(n navigator) *navigator {
	if len(e.slab) == cap(e.slab) {
		e.slab = make([]navigator, 0, slabSize)
	}
	e.slab = append(e.slab, n)
	return &e.slab[len(e.slab)-1]
}

// navigator walks a table. It follows the XPath data model, so that namespace declarations are no
// attributes and the root's value is the text of the document.
type navigator struct {
	e    *evaluation
	node int
	attr int // of the node, from 0; -1 on the node itself
}

var _ xpath.NodeNavigator = (*navigator)(nil)

func (n *navigator) cell(cell int) int { return n.e.t.node(n.node, cell) }

func (n *navigator) NodeType() xpath.NodeType {
	if n.attr >= 0 {
		return xpath.AttributeNode
	}
	return xpath.NodeType(n.cell(cellKind))
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
		name = n.e.t.attr(n.attribute(), 0)
	case xpath.ElementNode:
		name, namespace = n.cell(cellName), Namespace
	default:
		return ""
	}
	if name >= ownNames {
		return string(n.e.t.namePart(name, part))
	}
	switch part {
	case partLocal:
		return vocabulary[name]
	case partNamespace:
		return namespace
	}
	return ""
}

func (n *navigator) attribute() int { return n.cell(cellAttr) + n.attr }

func (n *navigator) LocalName() string { return n.namePart(partLocal) }
func (n *navigator) Prefix() string    { return n.namePart(partPrefix) }

// NamespaceURL is what namespace-uri() asks for.
func (n *navigator) NamespaceURL() string { return n.namePart(partNamespace) }

func (n *navigator) Value() string {
	switch n.NodeType() {
	case xpath.AttributeNode:
		a := n.attribute()
		return n.charge(n.e.t.slice(n.e.t.attr(a, 1), n.e.t.attr(a, 2)))
	case xpath.TextNode, xpath.CommentNode:
		return n.text(n.node)
	}
	if text, simple := n.e.t.simpleText(n.node); simple {
		return n.charge(text)
	}
	var all strings.Builder
	n.collect(n.node, &all)
	return all.String()
}

// text returns that of a node which has some itself.
func (n *navigator) text(node int) string {
	return n.charge(n.e.t.slice(n.e.t.node(node, cellText), n.e.t.node(node, cellTextLen)))
}

func (n *navigator) charge(text []byte) string {
	n.e.budget.Spend(1 + len(text)/xpathguard.StepBytes)
	return string(text)
}

// collect gathers the text in a node, in document order.
func (n *navigator) collect(node int, all *strings.Builder) {
	for kid := n.e.t.node(node, cellFirst); kid != 0; kid = n.e.t.node(kid, cellNext) {
		n.e.budget.Spend(1)
		switch xpath.NodeType(n.e.t.node(kid, cellKind)) {
		case xpath.TextNode:
			all.WriteString(n.text(kid))
		case xpath.ElementNode:
			n.collect(kid, all)
		}
	}
}

func (n *navigator) Copy() xpath.NodeNavigator {
	n.e.budget.Spend(1)
	return n.e.add(*n)
}

func (n *navigator) MoveToRoot() { n.node, n.attr = 0, -1 }

func (n *navigator) MoveToParent() bool {
	n.e.budget.Spend(1)
	if n.attr >= 0 {
		n.attr = -1
		return true
	}
	if n.node == 0 {
		return false
	}
	n.node = n.cell(cellParent)
	return true
}

func (n *navigator) MoveToNextAttribute() bool {
	n.e.budget.Spend(1)
	if n.attr+1 >= n.cell(cellAttrs) {
		return false
	}
	n.attr++
	return true
}

func (n *navigator) MoveToChild() bool    { return n.moveTo(cellFirst) }
func (n *navigator) MoveToNext() bool     { return n.moveTo(cellNext) }
func (n *navigator) MoveToPrevious() bool { return n.moveTo(cellPrevious) }

func (n *navigator) moveTo(cell int) bool {
	n.e.budget.Spend(1)
	if n.attr >= 0 {
		return false
	}
	to := n.cell(cell)
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
	if !ok || o.e != n.e {
		return false
	}
	n.node, n.attr = o.node, o.attr
	return true
}
