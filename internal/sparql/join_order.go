package sparql

import "slices"

// joinOperand is a part of a join that has not got its place yet.
type joinOperand struct {
	node
	estimate int64
	first    bool // it cannot be run behind the others by nested loops
}

// joinOrder gives the parts of a join their places, greedily.
type joinOrder struct {
	*planner
	env      environment
	parts    []joinOperand
	waiting  []condition
	possible []int // of each variable: how many parts that wait may bind it
	levels   []operator
}

// join makes nested loops of the parts of a join: the least estimate first; then, of those that share a variable with
// what is bound, the one with the most bound places, and of these the least estimate, but for properties of one thing.
func (p *planner) join(nodes []node, conditions []condition, env environment) operator {
	o := &joinOrder{planner: p, env: env, waiting: conditions, possible: make([]int, p.names)}
	o.start(nodes)
	for len(o.parts) > 0 && p.x.step() {
		o.place(o.choose())
	}
	if len(o.levels) == 0 {
		o.bindGraph()
	}
	if len(o.levels) == 0 {
		o.levels = []operator{&unitOp{}}
	}
	var op operator = &joinOp{x: p.x, levels: o.levels}
	if len(o.levels) == 1 {
		op = o.levels[0]
	}
	return p.filtered(op, o.waiting, o.env)
}

func (o *joinOrder) start(nodes []node) {
	before := make([]varSet, len(nodes)+1) // what the parts before each may bind
	for i, n := range nodes {
		before[i+1] = before[i].union(n.binds().possible)
		for _, v := range n.binds().possible.list() {
			o.possible[v]++
		}
	}
	after := varSet{}
	outer := o.env.outer.minus(o.env.substituted)
	o.parts = make([]joinOperand, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		o.parts[i].node = nodes[i]
		if len(nodes) > 1 {
			o.parts[i].estimate = o.estimate(nodes[i], o.env.graph)
			_, separate := nodes[i].(*selectNode)
			o.parts[i].first = separate ||
				composite(nodes[i]) && !correlates(nodes[i], before[i].union(after).union(outer))
		}
		after.addAll(nodes[i].binds().possible)
	}
}

// composite reports whether a node is more than a pattern or a table.
func composite(n node) bool {
	switch n.(type) {
	case *tripleNode, *pathNode, *textNode, *tableNode:
		return false
	default:
		return true
	}
}

// choose takes the next part out of those that wait.
func (o *joinOrder) choose() joinOperand {
	best := 0
	for i := 0; i < len(o.parts) && o.x.step(); i++ {
		if i > 0 && o.better(&o.parts[i], &o.parts[best]) {
			best = i
		}
	}
	chosen := o.parts[best]
	o.parts = slices.Delete(o.parts, best, best+1)
	for _, v := range chosen.binds().possible.list() {
		o.possible[v]--
	}
	return chosen
}

func (o *joinOrder) better(a, b *joinOperand) bool {
	if first, other := a.first && o.streams(a.node), b.first && o.streams(b.node); first != other {
		return first
	}
	if o.graphOpen() { // patterns bind the graph; for all else its names would be gone through
		if binds, other := bindsGraph(a.node), bindsGraph(b.node); binds != other {
			return binds
		}
	}
	shared, places := o.boundPlaces(a.node)
	otherShared, otherPlaces := o.boundPlaces(b.node)
	switch {
	case !o.env.outer.any(): // the first
		return a.estimate < b.estimate
	case shared != otherShared:
		return shared
	}
	if p, q, alike := o.properties(a, b); shared && alike {
		return p < q
	}
	if shared && places != otherPlaces {
		return places > otherPlaces
	}
	return a.estimate < b.estimate
}

// properties reports whether two parts ask for properties of the same thing that about as many things have, and which:
// by their order it is best to ask for them, since a store has them side by side.
func (o *joinOrder) properties(a, b *joinOperand) (p, q ID, alike bool) {
	left, isTriple := a.node.(*tripleNode)
	right, areTriples := b.node.(*tripleNode)
	if !isTriple || !areTriples || left.subject != right.subject || a.estimate/2 > b.estimate || b.estimate/2 > a.estimate {
		return 0, 0, false
	}
	p, q = o.x.id(left.predicate.term), o.x.id(right.predicate.term)
	return p, q, p != q
}

func bindsGraph(n node) bool {
	switch n.(type) {
	case *tripleNode, *textNode:
		return true
	default:
		return false
	}
}

// streams reports whether a part can be run as it is where it would stand now.
func (o *joinOrder) streams(n node) bool {
	if _, ok := n.(*selectNode); ok {
		return o.env.once
	}
	return correlates(n, o.env.outer.minus(o.env.substituted))
}

func (o *joinOrder) graphOpen() bool { return o.env.graph.variable != 0 && !o.env.graphBound }

// boundPlaces reports whether a part shares a variable with what is bound, and how many of its places are.
func (o *joinOrder) boundPlaces(n node) (shared bool, places int) {
	var of []varOrTerm
	switch n := n.(type) {
	case *tripleNode:
		of = []varOrTerm{n.subject, n.predicate, n.object}
	case *pathNode:
		of = []varOrTerm{n.subject, n.object}
	default:
		places = min(2, n.binds().possible.intersect(o.env.outer).len())
		return places > 0, places
	}
	for _, one := range of {
		switch {
		case one.variable == 0:
			places++
		case o.env.outer.has(one.variable):
			places++
			shared = true
		}
	}
	return shared, places
}

// place makes a part the next level, with the conditions that can be looked at there.
func (o *joinOrder) place(n joinOperand) {
	binds := n.binds()
	after := o.env.certain.union(binds.certain)
	ready, waiting := split(o.waiting, func(c *condition) bool {
		for _, v := range c.needs.minus(after).list() {
			if o.possible[v] > 0 {
				return false
			}
		}
		return true
	})
	o.waiting = waiting
	o.levels = append(o.levels, o.level(n, ready))
	o.env = o.env.behind(binds)
}

func (o *joinOrder) level(chosen joinOperand, ready []condition) operator {
	n := chosen.node
	if t, ok := n.(*tripleNode); ok {
		return o.filtered(o.adaptive(t, o.scan(t, o.env), o.env, chosen.estimate), ready, o.env)
	}
	_, isSelect := n.(*selectNode)
	_, isGraph := n.(*graphNode)
	if composite(n) && !isSelect && correlates(n, o.env.outer.minus(o.env.substituted)) {
		if isGraph {
			o.bindGraph()
			return o.inGraph(n.(*graphNode), ready, o.env)
		}
		return o.compile(n, ready, o.env)
	}
	if t, ok := n.(*textNode); ok {
		return o.filtered(o.textOp(t), ready, o.env)
	}
	o.bindGraph()
	var op operator
	switch n := n.(type) {
	case *pathNode:
		op = o.pathOp(n)
	case *tableNode:
		op = o.tableOp(n)
	default:
		if isSelect && o.env.once && len(o.levels) == 0 {
			inner, row, graph := o.alone(n, o.env)
			op = &scopeOp{bindings{row: o.env.row}, inner, row, n.binds().possible.list(), graph}
		} else {
			op = o.hashed(n, o.env)
		}
	}
	return o.filtered(op, ready, o.env)
}

// bindGraph goes through the names of graphs, if what comes needs to be run in one and none is bound.
func (o *joinOrder) bindGraph() {
	if o.graphOpen() {
		o.levels = append(o.levels, o.graphs(o.env))
		v := setOf(o.env.graph.variable)
		o.env = o.env.behind(&scope{v, v})
	}
}

func (p *planner) scan(n *tripleNode, env environment) *scanOp {
	op := &scanOp{x: p.x, bindings: bindings{row: env.row}, graph: env.graph, not: p.x.idsOf(n.not)}
	for i, one := range [...]varOrTerm{n.subject, n.predicate, n.object} {
		op.variables[i], op.constants[i] = one.variable, p.x.id(one.term)
	}
	return op
}

func (o *joinOrder) pathOp(n *pathNode) operator {
	constant := func(p varOrTerm) bool { return p.variable == 0 || o.env.substituted.has(p.variable) }
	return &pathOp{free: !constant(n.subject) && !constant(n.object), x: o.x, bindings: bindings{row: o.env.row}, path: n.path, graph: o.env.graph,
		subject: n.subject.variable, object: n.object.variable, from: o.x.id(n.subject.term), to: o.x.id(n.object.term), walk: walker{x: o.x}}
}

func (o *joinOrder) textOp(n *textNode) operator {
	return &textOp{x: o.x, bindings: bindings{row: o.env.row}, graph: o.env.graph,
		subject: n.subject.variable, constant: o.x.id(n.subject.term), property: n.property, words: n.words, limit: n.limit}
}

func (o *joinOrder) tableOp(n *tableNode) operator {
	const few = 8
	if len(n.rows) > few && n.certain.meets(o.env.certain) {
		return o.hashed(n, o.env)
	}
	op := &tableOp{x: o.x, bindings: bindings{row: o.env.row}, variables: n.variables}
	for i := 0; i < len(n.rows) && o.x.step(); i++ {
		op.rows = append(op.rows, o.x.idsOf(n.rows[i]))
		o.x.keep(24 + 8*len(n.rows[i]))
	}
	return op
}

// estimate returns about how many solutions a node has.
func (p *planner) estimate(n node, graph graphPlace) int64 {
	switch n := n.(type) {
	case *tripleNode:
		return p.count(Pattern{Subject: p.x.id(n.subject.term), Predicate: p.x.id(n.predicate.term),
			Object: p.x.id(n.object.term)}, graph)
	case *pathNode:
		if n.subject.variable != 0 && n.object.variable != 0 {
			return p.count(Pattern{}, graph)
		}
		return 256
	case *textNode:
		return 64
	case *tableNode:
		return int64(len(n.rows))
	case *joinNode:
		least := int64(1)
		for i, part := range n.parts {
			if e := p.estimate(part, graph); i == 0 || e < least {
				least = e
			}
		}
		return least
	case *unionNode:
		sum := int64(0)
		for _, part := range n.parts {
			sum += p.estimate(part, graph)
		}
		return sum
	case *leftNode:
		return p.estimate(n.left, graph)
	case *filterNode:
		return p.estimate(n.inner, graph)
	case *minusNode:
		return p.estimate(n.left, graph)
	case *extendNode:
		return p.estimate(n.inner, graph)
	case *graphNode:
		if n.name.variable == 0 {
			return p.estimate(n.inner, graphPlace{ids: []ID{p.x.id(n.name.term)}})
		}
		return p.estimate(n.inner, graphPlace{variable: n.name.variable})
	case *selectNode:
		return p.estimateQuery(n, graph)
	}
	return 1
}

func (p *planner) estimateQuery(n *selectNode, graph graphPlace) int64 {
	if n.grouped && len(n.groupBy) == 0 {
		return 1
	}
	e := p.estimate(n.where, graph)
	if n.limit >= 0 {
		e = min(e, n.limit)
	}
	return e
}

func (p *planner) count(pattern Pattern, graph graphPlace) int64 {
	if pattern.Subject|pattern.Predicate|pattern.Object >= localID || !p.x.step() {
		return 0
	}
	if graph.variable == 0 {
		if len(graph.ids) == 0 {
			return 0
		}
		if pattern.Graph = graph.ids[0]; len(graph.ids) > 1 {
			pattern.Graph = Union
		}
		if pattern.Graph != Union && pattern.Graph&localID != 0 {
			return 0
		}
	}
	n, err := p.x.dataset.Estimate(pattern)
	p.x.fail(err)
	return n
}
