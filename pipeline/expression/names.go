package expression

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/webrace/webrace/internal/suggest"
)

// look returns the names that an expression needs of an item, and refuses those that there are not.
func look(tree *parser.Tree, s *scope) (used []string, err error) {
	w := &walker{scope: s, own: make(map[string]bool), called: make(map[*ast.IdentifierNode]bool), used: make(map[string]bool)}
	ast.Walk(&tree.Node, declared{w})
	ast.Walk(&tree.Node, w)
	if depth := nesting(tree.Node); depth > mostNesting {
		return nil, fmt.Errorf("it goes through lists within lists %d deep, more than %d", depth, mostNesting)
	}
	if w.unknown != nil {
		return nil, w.unknownName(tree.Source)
	}
	return slices.Sorted(maps.Keys(w.used)), nil
}

// declared finds the names that the expression itself gives, by let, and the functions that it calls.
type declared struct{ *walker }

func (d declared) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode:
		d.own[n.Name] = true
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok && isFunction(id.Value) {
			d.called[id] = true
		}
	}
}

// walker finds the names that an expression uses.
type walker struct {
	scope   *scope
	own     map[string]bool
	called  map[*ast.IdentifierNode]bool
	used    map[string]bool
	unknown *ast.IdentifierNode // the first
}

func (w *walker) Visit(node *ast.Node) {
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok || w.own[id.Value] || w.called[id] {
		return
	}
	if _, known := w.scope.names[id.Value]; !known && (!w.scope.open || id.Value == "$env") {
		w.unknown = cmp.Or(w.unknown, id)
		return
	}
	w.used[id.Value] = true
}

func (w *walker) unknownName(source file.Source) error {
	name := w.unknown.Value
	message := fmt.Sprintf("there is no %q", name)
	candidates := append(slices.Sorted(maps.Keys(w.scope.names)), functionNames...)
	near := suggest.Nearest(name, candidates)
	if near == name {
		message, near = fmt.Sprintf("there is no field %[1]q, and the function of that name needs arguments: %[1]s(…)", name), ""
	}
	at := &file.Error{Location: w.unknown.Location(), Message: message + suggest.DidYouMean(near)}
	at.Bind(source)
	return &nearError{at, near}
}

// nesting returns how deep predicates lie within predicates.
func nesting(root ast.Node) int {
	n := &nested{depth: make(map[ast.Node]int)}
	ast.Walk(&root, n)
	return n.most
}

// nested is told of the nodes of a tree from the inside out.
type nested struct {
	depth map[ast.Node]int // of predicates
	most  int
}

func (n *nested) Visit(node *ast.Node) {
	p, ok := (*node).(*ast.PredicateNode)
	if !ok {
		return
	}
	within := &nested{depth: n.depth}
	ast.Walk(&p.Node, gather{within})
	n.depth[p] = 1 + within.most
	n.most = max(n.most, n.depth[p])
}

// gather finds the greatest depth that is known below a node.
type gather struct{ *nested }

func (g gather) Visit(node *ast.Node) { g.most = max(g.most, g.depth[*node]) }

// article writes the type of a result for people.
func article(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "a " + t.String()
}
