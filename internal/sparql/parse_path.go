package sparql

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// path reads a property path, from its weakest operator on.
func (p *parser) path() *path {
	p.enter()
	defer p.leave()
	return p.pathChain(pathAlternative, "|", func() *path {
		return p.pathChain(pathSequence, "/", p.pathElement)
	})
}

func (p *parser) pathChain(op pathKind, sign string, part func() *path) *path {
	first := part()
	if !p.isSign(sign) {
		return first
	}
	chain := &path{op: op, parts: []*path{first}}
	for p.acceptSign(sign) {
		p.count()
		chain.parts = append(chain.parts, part())
	}
	return chain
}

// pathElement reads a step, with what may stand before and behind it.
func (p *parser) pathElement() *path {
	if p.acceptSign("^") {
		return &path{op: pathInverse, parts: []*path{p.pathElement1()}}
	}
	return p.pathElement1()
}

func (p *parser) pathElement1() *path {
	one := p.pathPrimary()
	for sign, op := range map[string]pathKind{"*": pathZeroOrMore, "+": pathOneOrMore, "?": pathZeroOrOne} {
		if p.acceptSign(sign) {
			return &path{op: op, parts: []*path{one}}
		}
	}
	return one
}

func (p *parser) pathPrimary() *path {
	switch {
	case p.isIRI() || p.isA():
		return &path{op: pathLink, iri: p.verb()}
	case p.acceptSign("("):
		inner := p.path()
		p.expectSign(")")
		return inner
	case p.acceptSign("!"):
		return p.negated()
	default:
		p.expected("a predicate or a path")
		return nil
	}
}

func (p *parser) isA() bool { return p.token.kind == wordToken && p.token.text == "a" }

// verb reads an IRI, or the word a.
func (p *parser) verb() webrace.Term {
	if p.isA() {
		p.advance()
		return rdf.NewIRI(rdf.Type)
	}
	return p.iri()
}

// negated reads the predicates behind an exclamation mark.
func (p *parser) negated() *path {
	set := &path{op: pathNegated}
	if !p.acceptSign("(") {
		p.negatedOne(set)
		return set
	}
	if p.acceptSign(")") {
		set.forward = true
		return set
	}
	for p.negatedOne(set); p.acceptSign("|"); {
		p.count()
		p.negatedOne(set)
	}
	p.expectSign(")")
	return set
}

func (p *parser) negatedOne(set *path) {
	if p.acceptSign("^") {
		set.backward, set.notBack = true, append(set.notBack, p.verb())
		return
	}
	set.forward, set.not = true, append(set.not, p.verb())
}
