package xpath

import (
	"math"
	"slices"
	"strings"
)

// Nodes returns those that a path leads to from a node, each once, in the order of the document. The budget may end it
// with a panic, as all evaluations.
func (x *Expression) Nodes(t *Tree, from Node, b *Budget) []Node {
	e := evaluation{t: t, budget: b}
	return e.set(x.root, focus{from, 1, 1})
}

// True returns what the function boolean makes of the expression.
func (x *Expression) True(t *Tree, from Node, b *Budget) bool {
	e := evaluation{t: t, budget: b}
	return e.boolean(x.root, focus{from, 1, 1})
}

// Values returns what the function string makes of each node of a path, or of the one value.
func (x *Expression) Values(t *Tree, from Node, b *Budget) (values []string) {
	e := evaluation{t: t, budget: b}
	at := focus{from, 1, 1}
	if x.root.typ != NodeSet {
		return []string{e.string(x.root, at)}
	}
	for _, n := range e.set(x.root, at) {
		values = append(values, e.value(n))
	}
	return values
}

// evaluation is that of one expression on a tree.
type evaluation struct {
	t      *Tree
	budget *Budget
	spare  [][]Node
}

// focus is the node that an expression is evaluated of, its position among others, and how many they are.
type focus struct {
	node           Node
	position, size int
}

// take returns an empty set of nodes, and give lets it be used again.
func (e *evaluation) take() []Node {
	if n := len(e.spare); n > 0 {
		s := e.spare[n-1]
		e.spare = e.spare[:n-1]
		return s
	}
	return make([]Node, 0, 8)
}

func (e *evaluation) give(s []Node) { e.spare = append(e.spare, s[:0]) }

// set evaluates an expression that gives nodes. The caller gives them back, or keeps them.
func (e *evaluation) set(x *expr, f focus) []Node {
	if x.op == opUnion {
		left, right := e.set(x.args[0], f), e.set(x.args[1], f)
		e.budget.Spend(len(left) + len(right))
		left = sorted(append(left, right...))
		e.give(right)
		return left
	}
	nodes := e.begin(x, f)
	for i := range x.steps {
		nodes = e.follow(nodes, &x.steps[i])
	}
	return nodes
}

// begin returns where a path begins.
func (e *evaluation) begin(x *expr, f focus) []Node {
	switch {
	case x.absolute:
		return append(e.take(), NewNode(0, -1))
	case x.start == nil:
		return append(e.take(), f.node)
	}
	nodes := e.set(x.start, f)
	for _, p := range x.predicates {
		nodes = e.filter(nodes, 0, p)
	}
	return nodes
}

// sorted puts nodes into the order of the document, each once.
func sorted(nodes []Node) []Node {
	for i := 1; i < len(nodes); i++ {
		if nodes[i-1] >= nodes[i] {
			slices.Sort(nodes)
			return slices.Compact(nodes)
		}
	}
	return nodes
}

// fewNodes are as many as a step may lead to before those are looked for that it leads to again.
const fewNodes = 1 << 16

// follow returns the nodes that a step leads to from others, which it takes back.
func (e *evaluation) follow(from []Node, s *step) []Node {
	to := e.take()
	covered, most := int32(-1), fewNodes
	for _, n := range from {
		if (s.axis == descendant || s.axis == descendantOrSelf) && !s.positional && n.Attribute() < 0 {
			if n.Number() < covered {
				continue // it was among the descendants of one before, and so were its own
			}
			covered = e.t.links[n.Number()].end
		}
		if to = e.walk(to, n, s); len(to) > most { // as of following::*, which are the same of one after the other
			to = sorted(to)
			most = max(fewNodes, 2*len(to))
		}
	}
	e.give(from)
	if s.axis.reverse() && len(from) == 1 {
		slices.Reverse(to)
	}
	return sorted(to)
}

// walk adds the nodes that a step leads to from one, in the order of its axis.
func (e *evaluation) walk(to []Node, from Node, s *step) []Node {
	first, predicates, count := len(to), s.predicates, 0
	if s.nth > 0 {
		predicates = predicates[1:]
	}
	for c := e.t.along(s.axis, from); ; {
		n, ok := c.next()
		if e.budget.Spend(1); !ok {
			break
		}
		if !e.passes(s, n) {
			continue
		}
		if count++; count < s.nth {
			continue
		}
		e.budget.Spend(1)
		if to = append(to, n); s.nth > 0 {
			break
		}
	}
	for _, p := range predicates {
		to = e.filter(to, first, p)
	}
	return to
}

// passes reports whether a node is what a step asks for, before its predicates.
func (e *evaluation) passes(s *step, n Node) bool {
	kind := e.t.Kind(n)
	switch s.test {
	case anyNode:
		return true
	case anyText:
		return kind == Text
	case anyComment:
		return kind == Comment
	}
	if wanted := s.axis == attribute; kind == Attribute != wanted || !wanted && kind != Element {
		return false
	}
	if s.test == anyName {
		return true
	}
	prefix, local := e.t.Source.Name(n.Number(), n.Attribute())
	return prefix == s.prefix && (s.test == anyLocal || local == s.local)
}

// filter keeps the nodes from first on that a predicate holds for. They are in the order that their positions count.
func (e *evaluation) filter(nodes []Node, first int, p predicate) []Node {
	kept, size := first, len(nodes)-first
	for i := first; i < len(nodes); i++ {
		if n := nodes[i]; e.holds(p, focus{n, i - first + 1, size}) {
			nodes[kept] = n
			kept++
		}
	}
	return nodes[:kept]
}

func (e *evaluation) holds(p predicate, f focus) bool {
	e.budget.Spend(1)
	if p.typ == Number {
		return e.numeric(p.expr, f) == float64(f.position)
	}
	return e.boolean(p.expr, f)
}

// some reports whether a node that an expression gives is one that is looked for. It evaluates no more of the last
// step than it has to.
func (e *evaluation) some(x *expr, f focus, wanted func(Node) bool) bool {
	if x.op == opUnion {
		return e.some(x.args[0], f, wanted) || e.some(x.args[1], f, wanted)
	}
	from := e.begin(x, f)
	defer func() { e.give(from) }()
	if len(x.steps) == 0 {
		return slices.ContainsFunc(from, wanted)
	}
	last := &x.steps[len(x.steps)-1]
	for i := range x.steps[:len(x.steps)-1] {
		from = e.follow(from, &x.steps[i])
	}
	if last.positional {
		from = e.follow(from, last)
		return slices.ContainsFunc(from, wanted)
	}
	for _, at := range from {
		for c := e.t.along(last.axis, at); ; {
			n, ok := c.next()
			if e.budget.Spend(1); !ok {
				break
			}
			if e.passes(last, n) && e.all(last.predicates, n) && wanted(n) {
				return true
			}
		}
	}
	return false
}

// all reports whether predicates hold that ask for no positions.
func (e *evaluation) all(predicates []predicate, n Node) bool {
	for _, p := range predicates {
		if !e.holds(p, focus{n, 1, 1}) {
			return false
		}
	}
	return true
}

// first returns the first node in the order of the document, if an expression gives any.
func (e *evaluation) first(x *expr, f focus) (n Node, ok bool) {
	if x.op == opPath && x.start == nil && len(x.steps) == 1 && !x.steps[0].axis.reverse() {
		ok = e.some(x, f, func(one Node) bool {
			n = one
			return true
		})
		return n, ok
	}
	nodes := e.set(x, f)
	defer e.give(nodes)
	if len(nodes) == 0 {
		return 0, false
	}
	return nodes[0], true
}

// boolean is the function of that name.
func (e *evaluation) boolean(x *expr, f focus) bool {
	switch x.typ {
	case NodeSet:
		return e.some(x, f, func(Node) bool { return true })
	case Number:
		number := e.numeric(x, f)
		return number != 0 && !math.IsNaN(number)
	case String:
		return e.string(x, f) != ""
	}
	switch x.op {
	case opCall:
		return x.function.boolean(e, x, f)
	case opOr:
		return e.boolean(x.args[0], f) || e.boolean(x.args[1], f)
	case opAnd:
		return e.boolean(x.args[0], f) && e.boolean(x.args[1], f)
	}
	return e.compare(x, f)
}

// numeric is the function number.
func (e *evaluation) numeric(x *expr, f focus) float64 {
	switch {
	case x.typ == Boolean:
		return numberOf(e.boolean(x, f))
	case x.typ != Number:
		return ParseNumber(e.string(x, f))
	case x.op == opLiteral:
		return x.number
	case x.op == opCall:
		return x.function.number(e, x, f)
	case x.op == opNegate:
		return -e.numeric(x.args[0], f)
	}
	a, b := e.numeric(x.args[0], f), e.numeric(x.args[1], f)
	switch x.op {
	case opAdd:
		return a + b
	case opSubtract:
		return a - b
	case opMultiply:
		return a * b
	case opDivide:
		return a / b
	}
	return math.Mod(a, b)
}

// string is the function of that name.
func (e *evaluation) string(x *expr, f focus) string {
	switch x.typ {
	case NodeSet:
		if n, ok := e.first(x, f); ok {
			return e.value(n)
		}
		return ""
	case Number:
		return FormatNumber(e.numeric(x, f))
	case Boolean:
		if e.boolean(x, f) {
			return "true"
		}
		return "false"
	}
	if x.op == opLiteral {
		return x.text
	}
	return e.charge(x.function.string(e, x, f))
}

// value returns the text of a node: of elements, of all that is in them.
func (e *evaluation) value(n Node) string {
	number, isAttribute := n.Number(), n.Attribute() >= 0
	if kind := e.t.Kind(n); isAttribute || kind == Text || kind == Comment {
		return e.charge(e.t.Source.Text(number, n.Attribute()))
	}
	var all strings.Builder
	only, texts := "", 0
	for at := number + 1; at < e.t.links[number].end; at++ {
		if e.budget.Spend(1); e.t.links[at].kind != Text {
			continue
		}
		text := e.charge(e.t.Source.Text(at, -1))
		switch texts++; texts {
		case 1:
			only = text // most have no other
		case 2:
			all.WriteString(only)
			fallthrough
		default:
			all.WriteString(text)
		}
	}
	if texts < 2 {
		return only
	}
	return all.String()
}

// keptBytes of text that is kept beside the document cost a step.
const keptBytes = 8

// charge takes the steps that a text costs to read.
func (e *evaluation) charge(text string) string {
	e.budget.Spend(1 + len(text)/StepBytes)
	return text
}
