package expression

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// checkConstants evaluates the parts of an expression that are the same for every item, and refuses one that fails, as
// date("2026-02-30") does: it would fail each item.
func checkConstants(tree *parser.Tree) error {
	c := &constants{variable: make(map[ast.Node]bool), callees: make(map[ast.Node]bool)}
	ast.Walk(&tree.Node, calledBy{c})
	if c.nodes > mostNodes {
		return nil // which the compiler reports
	}
	ast.Walk(&tree.Node, c)
	for _, part := range c.parts {
		if evaluateConstant(part.node) == nil {
			continue
		}
		found := failing{variable: c.variable}
		ast.Walk(&part.node, &found)
		return found.wrong.Bind(tree.Source)
	}
	return nil
}

// constants finds the largest parts that do not vary. It is told of the nodes of a tree from the inside out.
type constants struct {
	nodes    int
	visited  int
	variable map[ast.Node]bool // those that depend on an item, the time or an element of a list
	callees  map[ast.Node]bool // names of functions
	parts    []constantPart
}

type constantPart struct {
	node    ast.Node
	visited int // nodes up to this one
}

// calledBy finds the names of the functions that are called.
type calledBy struct{ *constants }

func (c calledBy) Visit(node *ast.Node) {
	c.nodes++
	if call, ok := (*node).(*ast.CallNode); ok {
		if id, ok := call.Callee.(*ast.IdentifierNode); ok && isFunction(id.Value) {
			c.callees[id] = true
		}
	}
}

func (c *constants) Visit(node *ast.Node) {
	c.visited++
	n := *node
	below := children{constants: c, of: n}
	ast.Walk(node, &below)
	c.variable[n] = below.vary || c.varies(n)
	if c.variable[n] || !computes(n) {
		return
	}
	for len(c.parts) > 0 && c.parts[len(c.parts)-1].visited > c.visited-below.count {
		c.parts = c.parts[:len(c.parts)-1] // it lies within this one
	}
	c.parts = append(c.parts, constantPart{n, c.visited})
}

// varies reports whether a node does by itself.
func (c *constants) varies(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return !c.callees[n]
	case *ast.PointerNode, *ast.VariableDeclaratorNode:
		return true
	case *ast.BuiltinNode:
		return n.Name == "now"
	}
	return false
}

// computes reports whether evaluating a node can fail.
func computes(node ast.Node) bool {
	switch node.(type) {
	case *ast.BuiltinNode, *ast.CallNode, *ast.BinaryNode, *ast.UnaryNode, *ast.MemberNode, *ast.SliceNode:
		return true
	}
	return false
}

// children counts the nodes from one on, and finds out whether one below it varies.
type children struct {
	*constants
	of    ast.Node
	count int
	vary  bool
}

func (c *children) Visit(node *ast.Node) {
	c.count++
	c.vary = c.vary || *node != c.of && c.variable[*node]
}

// failing finds the innermost part that fails.
type failing struct {
	variable map[ast.Node]bool
	wrong    *file.Error
}

func (f *failing) Visit(node *ast.Node) {
	if f.wrong != nil || f.variable[*node] || !computes(*node) {
		return
	}
	if err := evaluateConstant(*node); err != nil {
		f.wrong = &file.Error{Location: (*node).Location(), Message: fmt.Sprintf("%s fails: %s", *node, err)}
	}
}

// overBudget is what the machine reports of an expression that builds more than it may.
const overBudget = "memory budget exceeded"

// evaluateConstant returns why a part of an expression has no value. It is nil as well for one that cannot be compiled
// alone, of which the compiler tells, and for one that takes much work, which is bounded for each item.
func evaluateConstant(node ast.Node) error {
	code, err := expr.Compile(node.String(), append(functions(), expr.Patch(bounded{}), expr.Patch(exact{}))...)
	if err != nil {
		return nil
	}
	_, err = (&vm.VM{MemoryBudget: countedMost}).Run(code, nil)
	at := (*file.Error)(nil)
	switch {
	case !errors.As(err, &at):
		return err
	case at.Message == overBudget:
		return nil
	}
	return errors.New(at.Message)
}
