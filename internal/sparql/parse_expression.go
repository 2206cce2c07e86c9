package sparql

import (
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// expression reads an expression, from its weakest operator on.
func (p *parser) expression() expression {
	p.enter()
	defer p.leave()
	return p.logical("||", func() expression { return p.logical("&&", p.relational) })
}

func (p *parser) logical(operator string, part func() expression) expression {
	first := part()
	if !p.isSign(operator) {
		return first
	}
	all := &operatorExpr{operator: operator, arguments: []expression{first}}
	for p.acceptSign(operator) {
		all.arguments = append(all.arguments, part())
	}
	return all
}

func (p *parser) relational() expression {
	left := p.additive()
	for _, operator := range []string{"=", "!=", "<", ">", "<=", ">="} {
		if p.acceptSign(operator) {
			return &operatorExpr{operator, []expression{left, p.additive()}}
		}
	}
	switch {
	case p.accept("IN"):
		return &operatorExpr{"IN", append([]expression{left}, p.arguments()...)}
	case p.is("NOT"):
		p.advance()
		p.expect("IN")
		return &operatorExpr{"NOT IN", append([]expression{left}, p.arguments()...)}
	}
	return left
}

// additive reads sums. A number with a sign may follow a number without an operator between: 1-1.
func (p *parser) additive() expression {
	chain := &chainExpr{first: p.multiplicative()}
	for {
		switch {
		case p.isSign("+"), p.isSign("-"):
			chain.operators = append(chain.operators, p.token.text[0])
			p.advance()
			chain.rest = append(chain.rest, p.multiplicative())
		case p.signedNumber():
			chain.operators = append(chain.operators, p.token.text[0])
			p.token.text = p.token.text[1:]
			chain.rest = append(chain.rest, p.multiplicative())
		case len(chain.rest) == 0:
			return chain.first
		default:
			return chain
		}
	}
}

func (p *parser) signedNumber() bool {
	switch p.token.kind {
	case integerToken, decimalToken, doubleToken:
		return p.token.text[0] == '+' || p.token.text[0] == '-'
	default:
		return false
	}
}

func (p *parser) multiplicative() expression {
	chain := &chainExpr{first: p.unary()}
	for p.isSign("*") || p.isSign("/") {
		chain.operators = append(chain.operators, p.token.text[0])
		p.advance()
		chain.rest = append(chain.rest, p.unary())
	}
	if len(chain.rest) == 0 {
		return chain.first
	}
	return chain
}

func (p *parser) unary() expression {
	for _, operator := range []string{"!", "+", "-"} {
		if p.acceptSign(operator) {
			p.enter()
			defer p.leave()
			return &operatorExpr{operator, []expression{p.primary()}}
		}
	}
	return p.primary()
}

func (p *parser) primary() expression {
	switch {
	case p.acceptSign("("):
		e := p.expression()
		p.expectSign(")")
		return e
	case p.token.kind == variableToken:
		return &variableExpr{p.variable()}
	case p.isIRI():
		return p.iriOrCall()
	}
	if term, ok := p.literal(); ok {
		return &termExpr{term}
	}
	if p.token.kind == wordToken {
		return p.builtIn()
	}
	p.expected("an expression")
	return nil
}

// isConstraint reports whether a constraint is next.
func (p *parser) isConstraint() bool {
	if p.isSign("(") || p.isIRI() {
		return true
	}
	return p.token.kind == wordToken && (p.is("EXISTS") || p.is("NOT") || isFunction(strings.ToUpper(p.token.text)))
}

// constraint reads what may stand behind FILTER: an expression in parentheses, or a call.
func (p *parser) constraint() expression {
	p.enter()
	defer p.leave()
	switch {
	case p.acceptSign("("):
		e := p.expression()
		p.expectSign(")")
		return e
	case p.isIRI():
		name := p.token
		e := p.iriOrCall()
		if _, ok := e.(*callExpr); !ok {
			p.fail(name.end, "\"(\" is expected behind the name of a function")
		}
		return e
	case p.token.kind == wordToken:
		return p.builtIn()
	default:
		p.expected("an expression in parentheses, or a call,")
		return nil
	}
}

func (p *parser) iriOrCall() expression {
	iri := p.iri()
	if !p.isSign("(") {
		return &termExpr{iri}
	}
	return &callExpr{rdf.Value(iri), p.arguments()}
}

// arguments reads expressions in parentheses, with commas between.
func (p *parser) arguments() []expression {
	var all []expression
	p.expectSign("(")
	if p.acceptSign(")") {
		return nil
	}
	for all = append(all, p.expression()); p.acceptSign(","); {
		all = append(all, p.expression())
	}
	p.expectSign(")")
	return all
}

var aggregateNames = map[string]bool{
	"COUNT": true, "SUM": true, "MIN": true, "MAX": true, "AVG": true, "SAMPLE": true, "GROUP_CONCAT": true,
}

// isFunction reports whether a word names a function.
func isFunction(name string) bool {
	switch name {
	case "BOUND", "IF", "COALESCE":
		return true
	}
	_, _, known := value.Arity(name)
	return known || aggregateNames[name]
}

// varying are the functions that do not give the same each time that a query is run.
var varying = map[string]bool{"NOW": true, "RAND": true, "UUID": true, "STRUUID": true}

// builtIn reads a call of one of the functions that have a name of their own.
func (p *parser) builtIn() expression {
	name, at := strings.ToUpper(p.token.text), p.token.start
	if varying[name] {
		p.refuse(name, "it gives another answer each time")
	}
	switch {
	case p.accept("EXISTS"):
		return &existsExpr{group: p.group()}
	case p.accept("NOT"):
		p.expect("EXISTS")
		return &existsExpr{not: true, group: p.group()}
	case !isFunction(name):
		p.expected("an expression or the name of a function")
	case aggregateNames[name]:
		return p.aggregate(name)
	}
	p.advance()
	if name == "BOUND" {
		p.expectSign("(")
		v := &variableExpr{p.variable()}
		p.expectSign(")")
		return &operatorExpr{name, []expression{v}}
	}
	arguments := p.arguments()
	least, most := 3, 3
	switch name {
	case "COALESCE":
		least, most = 0, -1
	case "IF":
	default:
		least, most, _ = value.Arity(name)
	}
	if n := len(arguments); n < least || most >= 0 && n > most {
		p.fail(at, fmt.Sprintf("%s has %d arguments, and takes %s", name, n, span(least, most)))
	}
	if name == "IF" || name == "COALESCE" {
		return &operatorExpr{name, arguments}
	}
	p.query.varies = p.query.varies || varying[name]
	return &callExpr{name, arguments}
}

func span(least, most int) string {
	switch {
	case most < 0:
		return fmt.Sprintf("at least %d", least)
	case least == most:
		return fmt.Sprint(least)
	default:
		return fmt.Sprintf("%d to %d", least, most)
	}
}

// aggregate reads a call of an aggregate, and returns the variable that its result is bound to.
func (p *parser) aggregate(name string) expression {
	switch {
	case p.inAggregate:
		p.fail(p.token.start, name+" stands in another aggregate")
	case p.aggregates == nil:
		p.fail(p.token.start, name+" stands where there are no groups: aggregates belong into SELECT, HAVING and ORDER BY")
	}
	p.advance()
	p.expectSign("(")
	a := aggregate{variable: p.fresh(), name: name, distinct: p.accept("DISTINCT"), separator: " "}
	if name == "COUNT" && p.acceptSign("*") {
		p.expectSign(")")
		*p.aggregates = append(*p.aggregates, a)
		return &variableExpr{a.variable}
	}
	p.inAggregate = true
	a.argument = p.expression()
	p.inAggregate = false
	if name == "GROUP_CONCAT" && p.acceptSign(";") {
		p.expect("SEPARATOR")
		p.expectSign("=")
		if p.token.kind != stringToken {
			p.expected("a string")
		}
		a.separator = p.token.text
		p.advance()
	}
	p.expectSign(")")
	*p.aggregates = append(*p.aggregates, a)
	return &variableExpr{a.variable}
}
