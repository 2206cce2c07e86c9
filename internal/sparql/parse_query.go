package sparql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

var updates = []string{"INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD", "WITH"}

func (p *parser) parseQuery() {
	p.prologue()
	switch {
	case p.is("SELECT"):
		p.query.form = Select
		p.query.query = p.selectQuery(true)
	case p.accept("ASK"):
		p.query.form = Ask
		p.query.query = p.restOfQuery()
	case p.accept("CONSTRUCT"):
		p.query.form = Construct
		p.construct()
	case p.accept("DESCRIBE"):
		p.query.form = Describe
		p.describe()
	case p.token.kind == wordToken && slices.Contains(updates, strings.ToUpper(p.token.text)):
		p.fail(p.token.start, strings.ToUpper(p.token.text)+" is refused: queries read, and nothing is updated by SPARQL")
	default:
		p.expected("SELECT, ASK, CONSTRUCT or DESCRIBE")
	}
	if p.token.kind != endToken {
		p.expected("the end of the query")
	}
}

func (p *parser) prologue() {
	for {
		switch {
		case p.accept("BASE"):
			if p.token.kind != iriToken {
				p.expected("an IRI in angle brackets")
			}
			base, err := rdf.ParseBase(rdf.Value(p.resolve(p.token.text)))
			if err != nil {
				p.fail(p.token.start, err.Error())
			}
			p.base = base
			p.advance()
		case p.accept("PREFIX"):
			if p.token.kind != nameToken || p.token.local != "" || p.text[p.token.end-1] != ':' {
				p.expected("a prefix, which ends in a colon,")
			}
			prefix := p.token.text
			p.advance()
			if p.token.kind != iriToken {
				p.expected("an IRI in angle brackets")
			}
			p.prefixes[prefix] = rdf.Value(p.resolve(p.token.text))
			p.advance()
		default:
			return
		}
	}
}

// selectQuery reads a query or subquery from SELECT on.
func (p *parser) selectQuery(top bool) *selectQuery {
	p.expect("SELECT")
	q := &selectQuery{limit: -1}
	outer, outerIn := p.aggregates, p.inAggregate
	defer func() { p.aggregates, p.inAggregate = outer, outerIn }()
	p.aggregates, p.inAggregate = &q.aggregates, false

	if q.distinct = p.accept("DISTINCT"); !q.distinct {
		q.reduced = p.accept("REDUCED")
	}
	var at []int // where the variables of items stand
	if q.star = p.acceptSign("*"); !q.star {
		at = p.selectItems(q)
	}
	if top {
		p.dataset()
	}
	star := p.token.start
	p.body(q)
	if q.star && q.grouped {
		p.fail(star, "SELECT * cannot stand with GROUP BY: the variables have to be named")
	}
	p.checkItems(q, at)
	return q
}

func (p *parser) selectItems(q *selectQuery) (at []int) {
	for {
		switch {
		case p.token.kind == variableToken:
			at = append(at, p.token.start)
			q.items = append(q.items, selectItem{variable: p.variable()})
		case p.acceptSign("("):
			e := p.expression()
			p.expect("AS")
			at = append(at, p.token.start)
			q.items = append(q.items, selectItem{variable: p.variable(), expression: e})
			p.expectSign(")")
		case len(at) == 0:
			p.expected("a variable, an expression in parentheses or *")
		default:
			return at
		}
	}
}

// checkItems holds what SELECT names against what is in scope (sections 11.4, 18.2.1 and 19.8, notes 12 and 13).
func (p *parser) checkItems(q *selectQuery, at []int) {
	keys := varSet{}
	for _, item := range q.groupBy {
		keys.add(item.variable)
	}
	named := varSet{}
	for i, item := range q.items {
		name := "?" + p.query.names[item.variable]
		if item.expression != nil && (named.has(item.variable) || q.where.scope.has(item.variable) ||
			q.grouped && keys.has(item.variable)) {
			p.fail(at[i], name+" has a value already: AS needs a new variable")
		}
		if q.grouped {
			used := setOf(item.variable)
			if item.expression != nil {
				used = variablesOf(item.expression, false)
			}
			for _, a := range q.aggregates {
				keys.add(a.variable)
			}
			if loose := used.minus(keys).minus(named); loose.len() > 0 {
				p.fail(at[i], "?"+p.query.names[loose.list()[0]]+
					" has many values in a group: it has to stand in GROUP BY, or in an aggregate as COUNT or SAMPLE")
			}
		}
		named.add(item.variable)
	}
}

// restOfQuery reads a query that is no SELECT from its dataset on.
func (p *parser) restOfQuery() *selectQuery {
	q := &selectQuery{star: true, limit: -1}
	p.dataset()
	p.body(q)
	return q
}

func (p *parser) dataset() {
	p.refuse("FROM", oneGraph)
	for p.accept("FROM") {
		if p.accept("NAMED") {
			p.query.named = append(p.query.named, p.iri())
		} else {
			p.query.from = append(p.query.from, p.iri())
		}
	}
}

func (p *parser) construct() {
	if !p.isSign("{") { // CONSTRUCT WHERE { triples }
		q := &selectQuery{star: true, limit: -1}
		p.dataset()
		p.expect("WHERE")
		p.expectSign("{")
		block := &triplesElement{}
		p.triplesBlock(block, true)
		p.expectSign("}")
		for _, t := range block.patterns {
			p.query.template = append(p.query.template, t.(*triplePattern))
		}
		q.where = &group{scope: varSet{}}
		if len(block.patterns) > 0 {
			p.addElement(q.where, block)
		}
		p.modifiers(q)
		p.query.query = q
		return
	}
	p.expectSign("{")
	block := &triplesElement{}
	p.triplesBlock(block, true)
	p.expectSign("}")
	for _, t := range block.patterns {
		p.query.template = append(p.query.template, t.(*triplePattern))
	}
	p.blanks = map[string]blankNode{} // a label of the template is another in the pattern
	p.query.query = p.restOfQuery()
}

func (p *parser) describe() {
	if !p.acceptSign("*") {
		for p.token.kind == variableToken || p.isIRI() {
			p.query.describe = append(p.query.describe, p.variableOrIRI())
		}
		if len(p.query.describe) == 0 {
			p.expected("a variable, an IRI or *")
		}
	}
	p.dataset()
	q := &selectQuery{star: true, limit: -1, where: &group{scope: varSet{}}}
	if p.is("WHERE") || p.isSign("{") {
		p.accept("WHERE")
		q.where = p.group()
	}
	p.modifiers(q)
	p.query.query = q
}

func (p *parser) variableOrIRI() varOrTerm {
	if p.token.kind == variableToken {
		return varOrTerm{variable: p.variable()}
	}
	return varOrTerm{term: p.iri()}
}

// body reads a query from WHERE on.
func (p *parser) body(q *selectQuery) {
	p.accept("WHERE")
	q.where = p.group()
	p.modifiers(q)
}

// modifiers reads GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET and the VALUES at the end.
func (p *parser) modifiers(q *selectQuery) {
	outer := p.aggregates
	defer func() { p.aggregates = outer }()
	p.aggregates = nil
	if p.accept("GROUP") {
		p.expect("BY")
		p.groupBy(q)
	}
	p.aggregates = &q.aggregates
	if p.accept("HAVING") {
		for q.having = append(q.having, p.constraint()); p.isConstraint(); {
			q.having = append(q.having, p.constraint())
		}
	}
	if p.accept("ORDER") {
		p.expect("BY")
		p.orderBy(q)
	}
	p.slice(q)
	q.grouped = len(q.groupBy) > 0 || len(q.aggregates) > 0 || len(q.having) > 0
	p.sampleLoose(q)
	if p.accept("VALUES") {
		q.values = p.values()
	}
}

func (p *parser) groupBy(q *selectQuery) {
	for {
		switch {
		case p.token.kind == variableToken:
			q.groupBy = append(q.groupBy, selectItem{variable: p.variable()})
		case p.acceptSign("("):
			item := selectItem{expression: p.expression()}
			if p.accept("AS") {
				at := p.token.start
				item.variable = p.variable()
				if q.where.scope.has(item.variable) {
					p.fail(at, "?"+p.query.names[item.variable]+" has a value already: AS needs a new variable")
				}
			} else {
				item.variable = p.fresh()
			}
			p.expectSign(")")
			q.groupBy = append(q.groupBy, item)
		case p.isConstraint():
			q.groupBy = append(q.groupBy, selectItem{variable: p.fresh(), expression: p.constraint()})
		case len(q.groupBy) == 0:
			p.expected("a variable, a call or an expression in parentheses")
		default:
			return
		}
	}
}

func (p *parser) orderBy(q *selectQuery) {
	for {
		item := orderItem{}
		switch {
		case p.is("ASC"), p.is("DESC"):
			item.descending = p.is("DESC")
			p.advance()
			p.expectSign("(")
			item.expression = p.expression()
			p.expectSign(")")
		case p.token.kind == variableToken:
			item.expression = &variableExpr{p.variable()}
		case p.isConstraint():
			item.expression = p.constraint()
		case len(q.orderBy) == 0:
			p.expected("a variable, a call, ASC, DESC or an expression in parentheses")
		default:
			return
		}
		q.orderBy = append(q.orderBy, item)
	}
}

func (p *parser) slice(q *selectQuery) {
	limit, offset := false, false
	for {
		switch {
		case !limit && p.accept("LIMIT"):
			limit, q.limit = true, p.integer()
		case !offset && p.accept("OFFSET"):
			offset, q.offset = true, p.integer()
		default:
			return
		}
	}
}

func (p *parser) integer() int64 {
	n, err := strconv.ParseInt(p.token.text, 10, 64)
	if p.token.kind != integerToken || err != nil || n < 0 || !isDigit(p.token.text[0]) {
		p.expected("a whole number from 0")
	}
	p.advance()
	return n
}

// sampleLoose replaces variables in HAVING and ORDER BY that have many values in a group by one of those
// (section 18.2.4.1).
func (p *parser) sampleLoose(q *selectQuery) {
	if !q.grouped {
		return
	}
	keep := varSet{}
	for _, item := range q.groupBy {
		keep.add(item.variable)
	}
	for _, item := range q.items {
		keep.add(item.variable)
	}
	sampled := map[variable]variable{}
	sample := func(v variable) variable {
		if keep.has(v) || !q.where.scope.has(v) {
			return v
		}
		if sampled[v] == 0 {
			sampled[v] = p.fresh()
			q.aggregates = append(q.aggregates,
				aggregate{variable: sampled[v], name: "SAMPLE", argument: &variableExpr{v}})
		}
		return sampled[v]
	}
	for i := range q.having {
		renameVariables(q.having[i], sample)
	}
	for i := range q.orderBy {
		renameVariables(q.orderBy[i].expression, sample)
	}
}

// values reads what stands behind VALUES.
func (p *parser) values() *valuesElement {
	v := &valuesElement{}
	if p.token.kind == variableToken {
		v.variables = []variable{p.variable()}
		p.expectSign("{")
		for !p.acceptSign("}") {
			v.rows = append(v.rows, []webrace.Term{p.dataValue()})
		}
		return v
	}
	p.expectSign("(")
	for !p.acceptSign(")") {
		v.variables = append(v.variables, p.variable())
	}
	p.expectSign("{")
	for !p.acceptSign("}") {
		p.expectSign("(")
		row := make([]webrace.Term, 0, len(v.variables))
		for !p.isSign(")") {
			row = append(row, p.dataValue())
		}
		if len(row) != len(v.variables) {
			p.fail(p.token.start, "VALUES has "+strconv.Itoa(len(v.variables))+" variables, but "+
				strconv.Itoa(len(row))+" values here")
		}
		p.advance()
		v.rows = append(v.rows, row)
	}
	return v
}

func (p *parser) dataValue() webrace.Term {
	if p.accept("UNDEF") {
		return ""
	}
	if p.isIRI() {
		return p.iri()
	}
	term, ok := p.literal()
	if !ok {
		p.expected("an IRI, a literal or UNDEF")
	}
	return term
}
