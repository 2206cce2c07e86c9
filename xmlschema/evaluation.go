package xmlschema

import (
	"context"
	"sync"

	"github.com/webrace/webrace/internal/xpath"
)

// ErrBudget is the error of a match that needs more steps than a query may take.
var ErrBudget = xpath.ErrBudget

// maxSteps is how many nodes one match may look at: thousands of times what an ordinary expression needs, and less
// than a second.
const maxSteps = 1 << 20

// evaluation is a table as XPath looks at it. It follows the XPath data model, so that namespace declarations are no
// attributes and the root's value is the text of the document.
type evaluation struct {
	t      table
	budget xpath.Budget
	tree   xpath.Tree
}

var evaluations = sync.Pool{New: func() any { return new(evaluation) }}

// evaluate calls back with a table as XPath looks at it, which may not be kept.
func evaluate(ctx context.Context, t table, back func(e *evaluation)) error {
	e := evaluations.Get().(*evaluation)
	defer func() {
		e.t, e.budget = table{}, xpath.Budget{} // the table is the caller's
		evaluations.Put(e)
	}()
	e.t, e.budget = t, xpath.Budget{Context: ctx, Left: maxSteps}
	return xpath.Evaluate(func() { back(e) })
}

// grow makes the tree of the table, whose nodes have the same numbers.
func (e *evaluation) grow() *xpath.Tree {
	e.tree.Source = e
	e.tree.Reset(e.t.nodes())
	for n := 1; n < e.t.nodes(); n++ {
		e.tree.Add(xpath.Kind(e.t.node(n, cellKind)), int32(e.t.node(n, cellParent)))
	}
	e.tree.Done()
	return &e.tree
}

// The parts of a name.
const (
	partLocal = iota
	partPrefix
	partNamespace
)

// name returns the number of a node's or an attribute's name.
func (e *evaluation) name(number, attribute int32) int {
	if attribute >= 0 {
		return e.t.attr(e.attribute(number, attribute), 0)
	}
	return e.t.node(int(number), cellName)
}

func (e *evaluation) attribute(number, attribute int32) int {
	return e.t.node(int(number), cellAttr) + int(attribute)
}

func (e *evaluation) Name(number, attribute int32) (prefix, local string) {
	name := e.name(number, attribute)
	if name >= ownNames {
		return string(e.t.namePart(name, partPrefix)), string(e.t.namePart(name, partLocal))
	}
	return "", vocabulary[name]
}

// Space is what namespace-uri() asks for.
func (e *evaluation) Space(number, attribute int32) string {
	switch name := e.name(number, attribute); {
	case name >= ownNames:
		return string(e.t.namePart(name, partNamespace))
	case attribute < 0:
		return Namespace
	}
	return ""
}

func (e *evaluation) Text(number, attribute int32) string {
	if attribute >= 0 {
		a := e.attribute(number, attribute)
		return string(e.t.slice(e.t.attr(a, 1), e.t.attr(a, 2)))
	}
	return string(e.t.slice(e.t.node(int(number), cellText), e.t.node(int(number), cellTextLen)))
}

func (e *evaluation) Attributes(number int32) int32 { return int32(e.t.node(int(number), cellAttrs)) }
