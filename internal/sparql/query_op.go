package sparql

// selectQuery makes the operators of a query or subquery, in the order of section 18.2.4 and 18.2.5. It has the row of
// the environment for itself.
func (p *planner) selectQuery(n *selectNode, env environment) operator {
	op := p.compile(n.where, nil, env)
	visible := n.where.binds().possible
	env = env.behind(&scope{})
	var late []expression
	if n.grouped {
		op, visible = p.grouped(n, op, env)
		var early []expression
		early, late = havingOf(n)
		op = p.filtered(op, conditionsOf(early, visible), env)
		if n.values != nil {
			rest := &joinOrder{planner: p, env: env}
			op = &joinOp{x: p.x, levels: []operator{op, rest.tableOp(n.values)}}
			visible = visible.union(n.values.possible)
		}
	}
	op, visible = p.selected(n, op, visible, env, len(late) > 0)
	op = p.filtered(op, conditionsOf(late, visible), env)
	if len(n.orderBy) > 0 {
		op = p.ordered(n, op, visible, env)
	}
	if n.distinct || n.reduced {
		op = &distinctOp{operator: op, x: p.x, row: env.row, variables: n.project, reduced: n.reduced}
	}
	if n.offset > 0 || n.limit >= 0 {
		op = &sliceOp{operator: op, offset: n.offset, limit: n.limit}
	}
	return op
}

func (p *planner) grouped(n *selectNode, inner operator, env environment) (operator, varSet) {
	visible := n.where.binds().possible
	op := &groupOp{operator: inner, x: p.x, bindings: bindings{row: env.row}}
	after := varSet{}
	for _, item := range n.groupBy {
		op.keys = append(op.keys, item.variable)
		var by computation
		if item.expression != nil {
			by = p.compute(item.expression, visible, env)
		}
		op.byKey = append(op.byKey, by)
		after.add(item.variable)
	}
	for _, a := range n.aggregates {
		one := groupAggregate{aggregate: a}
		if a.argument != nil {
			one.argument = p.compute(a.argument, visible, env)
		}
		if v, ok := a.argument.(*variableExpr); ok && visible.has(v.variable) {
			one.direct = v.variable
		}
		op.aggregates = append(op.aggregates, one)
		after.add(a.variable)
	}
	for _, v := range visible.list() {
		if p.query.names[v] != "" {
			op.all = append(op.all, v)
		}
	}
	return op, after
}

// havingOf returns the conditions of HAVING: those that ask for a value of SELECT, which the recommendation has no
// value for and other processors know, come late.
func havingOf(n *selectNode) (early, late []expression) {
	computed := varSet{}
	for _, item := range n.items {
		if item.expression != nil {
			computed.add(item.variable)
		}
	}
	for _, e := range n.having {
		if variablesOf(e, true).meets(computed) {
			late = append(late, e)
		} else {
			early = append(early, e)
		}
	}
	return early, late
}

// selected adds the expressions of SELECT, each of which sees those before. Their values are kept if they are looked at
// again.
func (p *planner) selected(n *selectNode, op operator, visible varSet, env environment, keep bool) (operator, varSet) {
	counted := false
	passing := !keep && n == p.query.root && !n.distinct && !n.reduced && len(n.orderBy) == 0
	for _, item := range n.items {
		passing = passing && !hasExists(item.expression)
	}
	for _, item := range n.items {
		if item.expression == nil {
			continue
		}
		if !counted {
			op, counted = &solutionOp{op, p.x}, true
		}
		op = &extendOp{operator: op, x: p.x, bindings: bindings{row: env.row}, variable: item.variable, passing: passing,
			value: p.compute(item.expression, visible, env)}
		visible = visible.union(setOf(item.variable))
	}
	return op, visible
}

func (p *planner) ordered(n *selectNode, inner operator, visible varSet, env environment) operator {
	op := &orderOp{operator: inner, x: p.x, bindings: bindings{row: env.row}, variables: n.project, most: -1}
	if n.limit >= 0 && !n.distinct && !n.reduced && n.limit+n.offset >= 0 {
		op.most = n.limit + n.offset
	}
	for _, item := range n.orderBy {
		op.by = append(op.by, p.compute(item.expression, visible, env))
		op.descending = append(op.descending, item.descending)
	}
	return op
}
