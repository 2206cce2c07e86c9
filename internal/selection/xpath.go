package selection

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/xpathguard"
)

// parseXPath compiles an expression that names nodes.
func parseXPath(s string) (*xpath.Expr, error) {
	if len(s) > xpathguard.MaxExpression {
		return nil, fmt.Errorf("it is longer than %d bytes", xpathguard.MaxExpression)
	}
	tokens, err := xpathguard.Lex(s)
	if err == nil {
		err = xpathguard.Check(tokens)
	}
	if err != nil {
		return nil, err
	}
	text := xpathguard.Render(tokens)
	probe, err := xpathguard.Compile(text)
	if err != nil {
		return nil, err
	}
	nodes := false
	err = xpathguard.Evaluate(func() { // of a copy, because this leaves its marks
		budget := &xpathguard.Budget{Context: context.Background(), Left: 1 << 16}
		_, nodes = probe.Evaluate(&navigator{budget: budget, node: &html.Node{Type: html.DocumentNode}, attr: -1}).(*xpath.NodeIterator)
	})
	if err != nil {
		return nil, xpathguard.ErrExpression
	}
	if !nodes {
		return nil, errors.New("it gives a value, not a part of the page")
	}
	return xpathguard.Compile(text)
}

// evaluate returns the nodes that an expression names. The budget may end it with a panic.
func evaluate(expr *xpath.Expr, root *html.Node, budget *xpathguard.Budget) (found []hit) {
	for it := expr.Select(&navigator{budget: budget, node: root, attr: -1}); it.MoveNext(); {
		budget.Spend(1)
		if n, ok := it.Current().(*navigator); ok {
			found = append(found, hit{n.node, n.attr})
		}
	}
	return found
}

// navigator walks the tree of a document, and counts its steps. Tags that fit nowhere are comments to it.
type navigator struct {
	budget *xpathguard.Budget
	node   *html.Node
	attr   int // of the node, from 0; -1 on the node itself
}

var _ xpath.NodeNavigator = (*navigator)(nil)

func (n *navigator) NodeType() xpath.NodeType {
	switch {
	case n.attr >= 0:
		return xpath.AttributeNode
	case n.node.Type == html.DocumentNode:
		return xpath.RootNode
	case n.node.Type == html.ElementNode:
		return xpath.ElementNode
	case n.node.Type == html.TextNode:
		return xpath.TextNode
	}
	return xpath.CommentNode
}

func (n *navigator) LocalName() string {
	switch {
	case n.attr >= 0:
		return n.node.Attr[n.attr].Key
	case n.node.Type == html.ElementNode:
		return n.node.Data
	}
	return ""
}

func (n *navigator) Prefix() string {
	switch {
	case n.attr >= 0:
		return n.node.Attr[n.attr].Namespace
	case n.node.Type == html.ElementNode:
		return n.node.Namespace
	}
	return ""
}

func (n *navigator) Value() string {
	switch {
	case n.attr >= 0:
		return n.charge(n.node.Attr[n.attr].Val)
	case n.node.Type == html.TextNode:
		return n.charge(n.node.Data)
	}
	var all strings.Builder
	for at := following(n.node, n.node); at != nil; at = following(at, n.node) {
		if n.budget.Spend(1); at.Type == html.TextNode {
			all.WriteString(n.charge(at.Data))
		}
	}
	return all.String()
}

func (n *navigator) charge(text string) string {
	n.budget.Spend(1 + len(text)/xpathguard.StepBytes)
	return text
}

func (n *navigator) Copy() xpath.NodeNavigator {
	n.budget.Spend(1)
	c := *n
	return &c
}

func (n *navigator) MoveToRoot() {
	for n.attr = -1; n.node.Parent != nil; n.node = n.node.Parent {
		n.budget.Spend(1)
	}
}

func (n *navigator) MoveToParent() bool {
	if n.attr >= 0 {
		n.budget.Spend(1)
		n.attr = -1
		return true
	}
	return n.moveTo(n.node.Parent)
}

func (n *navigator) MoveToNextAttribute() bool {
	n.budget.Spend(1)
	if n.node.Type != html.ElementNode || n.attr+1 >= len(n.node.Attr) {
		return false
	}
	n.attr++
	return true
}

func (n *navigator) MoveToChild() bool    { return n.attr < 0 && n.moveTo(n.node.FirstChild) }
func (n *navigator) MoveToNext() bool     { return n.attr < 0 && n.moveTo(n.node.NextSibling) }
func (n *navigator) MoveToPrevious() bool { return n.attr < 0 && n.moveTo(n.node.PrevSibling) }

func (n *navigator) moveTo(to *html.Node) bool {
	n.budget.Spend(1)
	if to == nil {
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
	if ok {
		n.node, n.attr = o.node, o.attr
	}
	return ok
}
