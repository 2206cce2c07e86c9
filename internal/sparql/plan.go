package sparql

import "github.com/webrace/webrace"

// The plan: algebra becomes operators that share a row. A part of a join may be run with what the parts before it have
// bound, by nested loops, if that gives what a join of separate results would: see correlates. Else it is run by
// itself, in a row of its own, and kept in a hash table.

// planner makes the operators of one execution.
type planner struct {
	x     *execution
	query *Query
	names int // of variables
}

// environment is where an operator will stand.
type environment struct {
	row         []ID
	outer       varSet // what may be bound when it is opened
	certain     varSet // what will be, of that
	substituted varSet // of outer: what EXISTS has put in, which filters see
	graph       graphPlace
	graphBound  bool // whether the variable of graph will be bound when it is opened; else the operator binds it
	once        bool // whether it will be opened once
}

// condition is a part of a filter, to be looked at as soon as the variables that it needs are bound.
type condition struct {
	expression expression
	visible    varSet
	needs      varSet
	exists     bool
}

func conditionsOf(all []expression, visible varSet) []condition {
	conditions := make([]condition, 0, len(all))
	for _, e := range all {
		needs := variablesOf(e, true)
		conditions = append(conditions, condition{e, visible, needs.intersect(visible), hasExists(e)})
	}
	return conditions
}

func hasExists(e expression) bool {
	if _, ok := e.(*existsExpr); ok {
		return true
	}
	for _, argument := range argumentsOf(e) {
		if hasExists(argument) {
			return true
		}
	}
	return false
}

// ready reports whether a condition can be looked at behind a part: what it needs is bound by that part, or never will
// be by the rest.
func (c *condition) ready(part *scope, rest varSet) bool {
	return !c.needs.intersect(rest).minus(part.certain).any()
}

func split(conditions []condition, first func(*condition) bool) (yes, no []condition) {
	for _, c := range conditions {
		if first(&c) {
			yes = append(yes, c)
		} else {
			no = append(no, c)
		}
	}
	return yes, no
}

func (p *planner) filtered(inner operator, conditions []condition, env environment) operator {
	if len(conditions) == 0 {
		return inner
	}
	env.graphBound = true
	f := &filterOp{operator: inner, x: p.x}
	cheap, patterns := split(conditions, func(c *condition) bool { return !c.exists })
	for _, c := range append(cheap, patterns...) {
		f.conditions = append(f.conditions, p.truth(c.expression, c.visible, env))
	}
	return f
}

// planBytes is about what an operator, or a part of an expression, takes.
const planBytes = 64

// affords pays for what the plan is about to get. A plan can be much larger than its query: what a filter holds is made
// anew for each part of a UNION.
func (p *planner) affords() bool { return p.x.keep(planBytes) && p.x.step() }

// compile makes the operator of a node, with conditions that its solutions have to meet. If the variable of the graph
// is not bound before, it is so in all solutions.
func (p *planner) compile(n node, conditions []condition, env environment) operator {
	if !p.affords() {
		return emptyOp{}
	}
	switch n := n.(type) {
	case *joinNode:
		return p.join(n.parts, conditions, env)
	case *filterNode:
		own := conditionsOf(n.conditions, n.possible.union(env.substituted))
		return p.compile(n.inner, append(own, conditions...), env)
	case *unionNode:
		return p.union(n, conditions, env)
	case *leftNode:
		return p.left(n, conditions, env)
	case *minusNode:
		return p.minus(n, conditions, env)
	case *extendNode:
		return p.extend(n, conditions, env)
	default:
		return p.join([]node{n}, conditions, env)
	}
}

// union has its parts look at the conditions, but at those with a pattern: one in a UNION in one in a UNION would be
// made as often as there are ways through them all.
func (p *planner) union(n *unionNode, conditions []condition, env environment) operator {
	each, patterns := split(conditions, func(c *condition) bool { return !c.exists })
	op := &unionOp{parts: make([]operator, len(n.parts))}
	for i, part := range n.parts {
		op.parts[i] = p.compile(part, each, env)
	}
	return p.filtered(op, patterns, env)
}

// behind is the environment of what is run for each solution of a part.
func (e environment) behind(part *scope) environment {
	e.outer, e.certain = e.outer.union(part.possible), e.certain.union(part.certain)
	e.graphBound, e.once = true, false
	return e
}

func (p *planner) left(n *leftNode, conditions []condition, env environment) operator {
	early, late := split(conditions, func(c *condition) bool {
		return c.ready(n.left.binds(), n.right.binds().possible)
	})
	left := p.compile(n.left, early, env)
	env = env.behind(n.left.binds())
	own := conditionsOf(n.conditions, n.possible.union(env.substituted))
	var right operator
	if correlates(n.right, env.outer.minus(env.substituted)) {
		right = p.compile(n.right, own, env)
	} else {
		right = p.filtered(p.hashed(n.right, env), own, env)
	}
	return p.filtered(&leftOp{left: left, right: right}, late, env)
}

func (p *planner) minus(n *minusNode, conditions []condition, env environment) operator {
	left := p.compile(n.left, conditions, env)
	env = env.behind(n.left.binds())
	shared := n.left.binds().possible.intersect(n.right.binds().possible)
	if !shared.any() {
		return left
	}
	both := n.left.binds().certain.intersect(n.right.binds().certain)
	if both.any() && correlates(n.right, env.outer.minus(env.substituted)) {
		return &antiOp{left, p.compile(n.right, nil, env)}
	}
	env.certain = n.left.binds().certain
	table := p.table(n.right, env)
	op := &minusOp{operator: left, row: env.row, table: table}
	for i, v := range table.variables {
		if shared.has(v) {
			op.shared = append(op.shared, i)
		}
	}
	return op
}

func (p *planner) extend(n *extendNode, conditions []condition, env environment) operator {
	early, late := split(conditions, func(c *condition) bool { return !c.needs.has(n.variable) })
	inner := p.compile(n.inner, early, env)
	if _, ok := n.inner.(*extendNode); !ok {
		inner = &solutionOp{inner, p.x}
	}
	env = env.behind(n.inner.binds())
	visible := n.inner.binds().possible.union(env.substituted)
	op := &extendOp{operator: inner, x: p.x, bindings: bindings{row: env.row}, variable: n.variable,
		value: p.compute(n.expression, visible, env)}
	return p.filtered(op, late, env)
}

// solutionOp tells BNODE that another solution is computed.
type solutionOp struct {
	operator
	x *execution
}

func (o *solutionOp) next() bool {
	o.x.env.Solution++
	return o.operator.next()
}

// correlates reports whether a node may be run with variables bound before: whether that gives the solutions that are
// compatible with those bindings, and no others. It does not if the node looks at a variable that it does not always
// bind itself, as a filter or an OPTIONAL can.
func correlates(n node, outer varSet) bool {
	switch n := n.(type) {
	case *joinNode:
		return all(n.parts, outer)
	case *unionNode:
		return all(n.parts, outer)
	case *filterNode:
		return looksInside(n.conditions, n.inner.binds(), n.inner.binds().possible, outer) && correlates(n.inner, outer)
	case *leftNode:
		left := n.left.binds()
		return n.right.binds().possible.intersect(outer).within(left.certain) &&
			looksInside(n.conditions, left, n.possible, outer) && correlates(n.left, outer)
	case *minusNode:
		return n.right.binds().possible.intersect(outer).within(n.left.binds().certain) && correlates(n.left, outer)
	case *graphNode:
		return correlates(n.inner, outer)
	case *extendNode:
		inner := n.inner.binds()
		return looksInside([]expression{n.expression}, inner, inner.possible, outer) && correlates(n.inner, outer)
	default: // subqueries, too: they have a row of their own
		return true
	}
}

func all(parts []node, outer varSet) bool {
	for _, part := range parts {
		if !correlates(part, outer) {
			return false
		}
	}
	return true
}

// looksInside reports whether all that expressions see of the variables outside is bound inside as well. A pattern of
// EXISTS sees also those that are not visible to it, where it stands in the same row.
func looksInside(expressions []expression, inside *scope, visible, outer varSet) bool {
	for _, e := range expressions {
		seen := variablesOf(e, true)
		if !hasExists(e) {
			seen = seen.intersect(visible)
		}
		if !seen.intersect(outer).within(inside.certain) {
			return false
		}
	}
	return true
}

// alone compiles a node in a row of its own.
func (p *planner) alone(n node, env environment) (op operator, row []ID, graph variable) {
	row = make([]ID, p.names)
	p.x.keep(8 * len(row))
	own := environment{row: row, graph: env.graph, graphBound: true, once: true}
	return p.compileAlone(n, own), row, env.graph.variable
}

func (p *planner) compileAlone(n node, env environment) operator {
	if s, ok := n.(*selectNode); ok {
		return p.selectQuery(s, env)
	}
	return p.compile(n, nil, env)
}

// table compiles a node for a hash table. What is certain in the environment can be keys.
func (p *planner) table(n node, env environment) *hashTable {
	h := &hashTable{x: p.x, variables: n.binds().possible.list()}
	h.keys = n.binds().certain.intersect(env.certain).list()
	h.keys = h.keys[:min(2, len(h.keys))]
	h.inner, h.innerRow, h.graph = p.alone(n, env)
	return h
}

func (p *planner) hashed(n node, env environment) operator {
	return &hashOp{bindings: bindings{row: env.row}, table: p.table(n, env)}
}

// inGraph compiles a GRAPH.
func (p *planner) inGraph(n *graphNode, conditions []condition, env environment) operator {
	inner, outer := conditions, []condition(nil)
	name := n.name.variable
	if name == 0 {
		id := p.x.id(n.name.term)
		if !p.x.hasGraph(id) {
			return emptyOp{}
		}
		inner, outer = split(conditions, func(c *condition) bool { return !c.exists })
		inside := env
		inside.graph, inside.graphBound = graphPlace{ids: []ID{id}}, true
		return p.filtered(p.compile(n.inner, inner, inside), outer, env)
	}
	inner, outer = split(conditions, func(c *condition) bool { return !c.exists && !c.needs.has(name) })
	inside := env
	inside.graph, inside.graphBound = graphPlace{variable: n.hidden}, false
	var op operator
	if p.x.restricted {
		inside.graphBound = true
		op = &joinOp{x: p.x, levels: []operator{p.graphs(inside), p.compile(n.inner, inner, inside)}}
	} else {
		op = p.compile(n.inner, inner, inside)
	}
	op = &nameOp{operator: op, bindings: bindings{row: env.row}, hidden: n.hidden, name: name}
	return p.filtered(op, outer, env)
}

func (p *planner) graphs(env environment) operator {
	return &graphsOp{x: p.x, bindings: bindings{row: env.row}, name: env.graph.variable}
}

// idsOf returns what stands for terms; unknown ones have ids, too.
func (x *execution) idsOf(terms []webrace.Term) []ID {
	ids := make([]ID, len(terms))
	for i, t := range terms {
		ids[i] = x.id(t)
	}
	return ids
}
