package sparql

import "github.com/webrace/webrace"

// The algebra of section 18.2. Solutions bind variables; joins are flat lists, in any order, whose parts are patterns
// and other nodes.

// node is an expression of the algebra.
type node interface {
	binds() *scope
}

// scope is what the solutions of a node may bind, and what all of them bind.
type scope struct{ possible, certain varSet }

func (s *scope) binds() *scope { return s }

type (
	tripleNode struct {
		scope
		triplePattern
		not []webrace.Term // predicates that it must not have: a negated set
	}
	pathNode struct {
		scope
		pathPattern
	}
	textNode struct {
		scope
		textPattern
	}
	joinNode struct { // of no parts: the one solution that binds nothing
		scope
		parts []node
	}
	leftNode struct {
		scope
		left, right node
		conditions  []expression // of solutions of both
	}
	filterNode struct {
		scope
		inner      node
		conditions []expression
	}
	unionNode struct {
		scope
		parts []node
	}
	minusNode struct {
		scope
		left, right node
	}
	graphNode struct {
		scope
		name   varOrTerm
		hidden variable // stands for the name inside, where the name itself is not in scope
		inner  node
	}
	extendNode struct {
		scope
		inner      node
		variable   variable
		expression expression
	}
	tableNode struct {
		scope
		valuesElement
	}
	// selectNode is a query: what section 18.2.4 and 18.2.5 make of one, in that order.
	selectNode struct {
		scope
		*selectQuery
		where   node
		values  *tableNode
		project []variable
	}
)

// translateQuery makes the algebra of a whole query.
func (q *Query) translateQuery() *selectNode {
	t := translator{q}
	return t.selectQuery(q.query)
}

type translator struct{ query *Query }

// group is Translate of section 18.2.2.6.
func (t translator) group(g *group) node {
	if g.sub != nil {
		return t.selectQuery(g.sub)
	}
	var all node = &joinNode{}
	var conditions []expression
	for _, e := range g.elements {
		switch e := e.(type) {
		case *triplesElement:
			for _, p := range e.patterns {
				all = join(all, t.pattern(p))
			}
		case *filterElement:
			t.expression(e.expression)
			conditions = appendConditions(conditions, e.expression)
		case *optionalElement:
			all = optional(all, t.group(e.group))
		case *minusElement:
			right := t.group(e.group)
			all = &minusNode{scope: *all.binds(), left: all, right: right}
		case *unionElement:
			all = join(all, t.union(e))
		case *graphElement:
			inner := t.group(e.group)
			named := &graphNode{scope: copyScope(inner), name: e.name, inner: inner}
			if v := e.name.variable; v != 0 {
				named.possible.add(v)
				named.certain.add(v)
				named.hidden = t.query.fresh("")
			}
			all = join(all, named)
		case *bindElement:
			t.expression(e.expression)
			bound := &extendNode{scope: copyScope(all), inner: all, variable: e.variable, expression: e.expression}
			bound.possible.add(e.variable)
			all = bound
		case *valuesElement:
			all = join(all, table(e))
		}
	}
	return filter(all, conditions)
}

// expression translates the patterns of EXISTS.
func (t translator) expression(e expression) {
	if e, ok := e.(*existsExpr); ok {
		e.pattern = t.group(e.group)
	}
	for _, argument := range argumentsOf(e) {
		t.expression(argument)
	}
}

// appendConditions takes what holds only together apart: each part can be looked at as soon as it can be known.
func appendConditions(conditions []expression, e expression) []expression {
	if all, ok := e.(*operatorExpr); ok && all.operator == "&&" {
		for _, part := range all.arguments {
			conditions = appendConditions(conditions, part)
		}
		return conditions
	}
	return append(conditions, e)
}

func copyScope(n node) scope {
	s := n.binds()
	return scope{s.possible.union(nil), s.certain.union(nil)}
}

func filter(inner node, conditions []expression) node {
	if len(conditions) == 0 {
		return inner
	}
	return &filterNode{scope: *inner.binds(), inner: inner, conditions: conditions}
}

// join adds a node to the parts of another: joins are associative.
func join(all, part node) node {
	list, ok := all.(*joinNode)
	if !ok {
		list = &joinNode{scope: copyScope(all), parts: []node{all}}
	}
	list.possible.addAll(part.binds().possible)
	list.certain.addAll(part.binds().certain)
	if parts, ok := part.(*joinNode); ok {
		list.parts = append(list.parts, parts.parts...)
	} else {
		list.parts = append(list.parts, part)
	}
	return list
}

func optional(left, right node) node {
	n := &leftNode{scope: copyScope(left), left: left, right: right}
	n.possible.addAll(right.binds().possible)
	if f, ok := right.(*filterNode); ok {
		n.right, n.conditions = f.inner, f.conditions
	}
	return n
}

func (t translator) union(e *unionElement) node {
	if len(e.groups) == 1 {
		return t.group(e.groups[0])
	}
	parts := make([]node, 0, len(e.groups))
	for _, g := range e.groups {
		parts = append(parts, t.group(g))
	}
	return union(parts)
}

func union(parts []node) node {
	n := &unionNode{scope: copyScope(parts[0]), parts: parts}
	for _, part := range parts[1:] {
		n.possible.addAll(part.binds().possible)
		n.certain = n.certain.intersect(part.binds().certain)
	}
	return n
}

func table(e *valuesElement) *tableNode {
	n := &tableNode{valuesElement: *e, scope: scope{setOf(e.variables...), setOf(e.variables...)}}
	for _, row := range e.rows {
		for i, term := range row {
			if term == "" {
				n.certain = n.certain.minus(setOf(e.variables[i]))
			}
		}
	}
	return n
}

func (t translator) pattern(p pattern) node {
	switch p := p.(type) {
	case *pathPattern:
		return t.path(p.subject, p.path, p.object)
	case *textPattern:
		v := patternVariables(p)
		return &textNode{scope{v, v}, *p}
	default:
		return triple(*p.(*triplePattern), nil)
	}
}

func triple(p triplePattern, not []webrace.Term) node {
	v := patternVariables(&p)
	return &tripleNode{scope{v, v}, p, not}
}

// path turns what it can of a path into joins and unions (section 18.2.2.4).
func (t translator) path(from varOrTerm, p *path, to varOrTerm) node {
	switch p.op {
	case pathLink:
		return triple(triplePattern{from, varOrTerm{term: p.iri}, to}, nil)
	case pathInverse:
		return t.path(to, p.parts[0], from)
	case pathSequence:
		var all node = &joinNode{}
		for i, part := range p.parts {
			next := to
			if i < len(p.parts)-1 {
				next = varOrTerm{variable: t.query.fresh("")}
			}
			all = join(all, t.path(from, part, next))
			from = next
		}
		return all
	case pathAlternative:
		parts := make([]node, 0, len(p.parts))
		for _, part := range p.parts {
			parts = append(parts, t.path(from, part, to))
		}
		return union(parts)
	case pathNegated:
		var parts []node
		if p.forward {
			parts = append(parts, triple(triplePattern{from, varOrTerm{variable: t.query.fresh("")}, to}, p.not))
		}
		if p.backward {
			parts = append(parts, triple(triplePattern{to, varOrTerm{variable: t.query.fresh("")}, from}, p.notBack))
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return union(parts)
	default:
		v := setOf(from.variable, to.variable)
		return &pathNode{scope{v, v}, pathPattern{from, p, to}}
	}
}

// selectQuery is sections 18.2.4 and 18.2.5: what they make of a query is done in the order of the fields.
func (t translator) selectQuery(q *selectQuery) *selectNode {
	t.selectExpressions(q)
	n := &selectNode{selectQuery: q, where: t.group(q.where)}
	switch {
	case q.values != nil && q.grouped:
		n.values = table(q.values)
	case q.values != nil:
		n.where = join(n.where, table(q.values))
	}
	certain := n.where.binds().certain
	if q.grouped {
		keys := varSet{}
		for _, item := range q.groupBy {
			if item.expression == nil {
				keys.add(item.variable)
			}
		}
		certain = certain.intersect(keys)
	}
	switch {
	case !q.star:
		for _, item := range q.items {
			n.project = append(n.project, item.variable)
		}
	case q.grouped:
		for _, item := range q.groupBy {
			n.project = append(n.project, item.variable)
		}
	default:
		for _, v := range q.scope().list() {
			if t.query.names[v] != "" {
				n.project = append(n.project, v)
			}
		}
	}
	n.possible = setOf(n.project...)
	n.certain = n.possible.intersect(certain)
	return n
}

func (t translator) selectExpressions(q *selectQuery) {
	for _, item := range q.items {
		t.expression(item.expression)
	}
	for _, item := range q.groupBy {
		t.expression(item.expression)
	}
	for _, a := range q.aggregates {
		t.expression(a.argument)
	}
	for _, e := range q.having {
		t.expression(e)
	}
	for _, item := range q.orderBy {
		t.expression(item.expression)
	}
}
