package selection

import (
	"errors"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/normalform"
	"github.com/webrace/webrace/internal/xpath"
)

// parseXPath compiles an expression that names nodes.
func parseXPath(s string) (*xpath.Expression, error) {
	expression, err := xpath.Compile(s)
	if err == nil && expression.Type() != xpath.NodeSet {
		return nil, errors.New("it gives a value, not a part of the page")
	}
	return expression, err
}

// paths is a document as XPath looks at it. Tags that fit nowhere are comments to it.
type paths struct {
	xpath.Tree
	nodes   []*html.Node
	numbers map[*html.Node]int32 // made when an expression is about a part of the document
}

func newPaths(root *html.Node) *paths {
	count := 1
	for n := following(root, root); n != nil; n = following(n, root) {
		count++
	}
	p := &paths{nodes: append(make([]*html.Node, 0, count), root)}
	p.Source = p
	p.Reset(count)
	open := []int32{0} // the node, and those that it is in
	for n := following(root, root); n != nil; n = following(n, root) {
		for p.nodes[open[len(open)-1]] != n.Parent {
			open = open[:len(open)-1]
		}
		kind := xpath.Comment
		switch n.Type {
		case html.ElementNode:
			kind = xpath.Element
		case html.TextNode:
			kind = xpath.Text
		}
		number := p.Add(kind, open[len(open)-1])
		p.nodes = append(p.nodes, n)
		open = append(open, number)
	}
	p.Done()
	return p
}

// evaluate returns the nodes that an expression leads to from a part of the document. The budget may end it with a
// panic.
func (p *paths) evaluate(x *xpath.Expression, from hit, budget *xpath.Budget) (found []hit) {
	number := int32(0)
	if from.node != p.nodes[0] {
		if p.numbers == nil {
			p.numbers = make(map[*html.Node]int32, len(p.nodes))
			for i, n := range p.nodes {
				p.numbers[n] = int32(i)
			}
		}
		number = p.numbers[from.node]
	}
	nodes := x.Nodes(&p.Tree, xpath.NewNode(number, int32(from.attr)), budget)
	found = make([]hit, 0, len(nodes))
	for _, n := range nodes {
		found = append(found, hit{p.nodes[n.Number()], int(n.Attribute())})
	}
	return found
}

func (p *paths) Name(number, attribute int32) (prefix, local string) {
	n := p.nodes[number]
	if attribute >= 0 {
		a := &n.Attr[attribute]
		return a.Namespace, a.Key
	}
	return n.Namespace, n.Data
}

// Space returns nothing: of a page that is only nearly XML, no namespaces are known.
func (p *paths) Space(_, _ int32) string { return "" }

func (p *paths) Text(number, attribute int32) string {
	switch n := p.nodes[number]; {
	case attribute >= 0:
		return normalform.String(n.Attr[attribute].Val)
	case n.Type == html.TextNode:
		return normalform.String(n.Data)
	}
	return ""
}

func (p *paths) Attributes(number int32) int32 { return int32(len(p.nodes[number].Attr)) }
