package sparql

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// group reads what stands between braces, with them.
func (p *parser) group() *group {
	p.enter()
	defer p.leave()
	outer := p.aggregates
	defer func() { p.aggregates = outer }()
	p.aggregates = nil

	p.expectSign("{")
	g := &group{}
	if p.is("SELECT") {
		p.block++
		p.count()
		g.sub = p.selectQuery(false)
		g.scope = g.sub.scope()
		p.block++
		p.expectSign("}")
		return g
	}
	p.block++
	for !p.acceptSign("}") {
		p.element(g)
	}
	p.block++
	return g
}

// scope returns the variables that a query gives its solutions (section 18.2.1).
func (q *selectQuery) scope() varSet {
	scope := varSet{}
	switch {
	case !q.star:
		for _, item := range q.items {
			scope.add(item.variable)
		}
	default:
		scope.addAll(q.where.scope)
		if q.values != nil {
			scope.addAll(setOf(q.values.variables...))
		}
	}
	return scope
}

// addElement adds an element to a group, and to what is in scope there.
func (p *parser) addElement(g *group, e element) {
	p.count()
	g.elements = append(g.elements, e)
	switch e := e.(type) {
	case *triplesElement:
		for _, t := range e.patterns {
			g.scope.addAll(patternVariables(t))
		}
	case *optionalElement:
		g.scope.addAll(e.group.scope)
	case *unionElement:
		for _, part := range e.groups {
			g.scope.addAll(part.scope)
		}
	case *graphElement:
		g.scope.add(e.name.variable)
		g.scope.addAll(e.group.scope)
	case *bindElement:
		g.scope.add(e.variable)
	case *valuesElement:
		g.scope.addAll(setOf(e.variables...))
	}
}

func patternVariables(t pattern) varSet {
	switch t := t.(type) {
	case *triplePattern:
		return setOf(t.subject.variable, t.predicate.variable, t.object.variable)
	case *pathPattern:
		return setOf(t.subject.variable, t.object.variable)
	case *textPattern:
		return setOf(t.subject.variable)
	}
	return nil
}

// element reads one part of a group. A FILTER does not end a basic graph pattern, all others do (section 18.2.2.5):
// labels of blank nodes hold within one.
func (p *parser) element(g *group) {
	if p.is("FILTER") {
		p.advance()
		block := p.block
		p.addElement(g, &filterElement{p.constraint()})
		p.block = block
		p.acceptSign(".")
		return
	}
	p.refuse("GRAPH", oneGraph)
	var e element
	switch {
	case p.accept("OPTIONAL"):
		e = &optionalElement{p.group()}
	case p.accept("MINUS"):
		e = &minusElement{p.group()}
	case p.accept("GRAPH"):
		name := p.variableOrIRI()
		e = &graphElement{name, p.group()}
	case p.is("SERVICE"):
		p.fail(p.token.start, "SERVICE is refused: a query is answered from what is here, and asks nothing of the network")
	case p.accept("BIND"):
		e = p.bind(g)
	case p.accept("VALUES"):
		e = p.values()
	case p.isSign("{"):
		union := &unionElement{groups: []*group{p.group()}}
		for p.accept("UNION") {
			p.count()
			union.groups = append(union.groups, p.group())
		}
		e = union
	case p.startsTriples():
		block := &triplesElement{}
		p.triplesBlock(block, false)
		p.addElement(g, block)
		return
	default:
		p.expected("a triple, a FILTER, OPTIONAL, UNION, MINUS, GRAPH, BIND, VALUES or \"}\"")
	}
	p.block++
	p.addElement(g, e)
	p.acceptSign(".")
}

func (p *parser) bind(g *group) element {
	p.expectSign("(")
	e := &bindElement{expression: p.expression()}
	p.expect("AS")
	at := p.token.start
	e.variable = p.variable()
	if g.scope.has(e.variable) {
		p.fail(at, "?"+p.query.names[e.variable]+" has a value in this group already: BIND needs a new variable")
	}
	p.expectSign(")")
	return e
}

func (p *parser) startsTriples() bool {
	switch p.token.kind {
	case variableToken, iriToken, nameToken, blankToken, stringToken, integerToken, decimalToken, doubleToken:
		return true
	case wordToken:
		return p.is("true") || p.is("false")
	case signToken:
		return p.isSign("(") || p.isSign("[")
	default:
		return false
	}
}

// triplesBlock reads triples as long as there are some; plain: as a template, without paths.
func (p *parser) triplesBlock(block *triplesElement, plain bool) {
	t := triplesParser{parser: p, block: block, plain: plain}
	for p.startsTriples() {
		t.sameSubject()
		if !p.acceptSign(".") {
			if p.startsTriples() {
				p.expected("a point behind a triple")
			}
			return
		}
	}
}

// triplesParser reads triples into a block.
type triplesParser struct {
	*parser
	block  *triplesElement
	plain  bool
	isList bool // whether the subject is written as a list
}

func (t *triplesParser) add(one pattern) {
	t.count()
	t.block.patterns = append(t.block.patterns, one)
}

func (t *triplesParser) triple(s varOrTerm, predicate webrace.Term, o varOrTerm) {
	t.add(&triplePattern{s, varOrTerm{term: predicate}, o})
}

// sameSubject reads a subject and what is said of it. Brackets and lists may stand alone.
func (t *triplesParser) sameSubject() {
	list := t.isSign("(")
	compound := list || t.isSign("[")
	before := len(t.block.patterns)
	subject := t.node()
	t.isList = list
	if compound && len(t.block.patterns) > before && !t.startsVerb() {
		return
	}
	t.propertyList(subject)
}

func (t *triplesParser) startsVerb() bool {
	switch t.token.kind {
	case variableToken, iriToken, nameToken:
		return true
	case wordToken:
		return t.token.text == "a"
	default:
		return !t.plain && (t.isSign("^") || t.isSign("!") || t.isSign("("))
	}
}

func (t *triplesParser) propertyList(subject varOrTerm) {
	for {
		t.objects(subject)
		more := false
		for t.acceptSign(";") {
			more = true
		}
		if !more || !t.startsVerb() {
			return
		}
	}
}

// objects reads a verb and what stands behind it, with commas between.
func (t *triplesParser) objects(subject varOrTerm) {
	var verb varOrTerm
	var way *path
	at := t.token.start
	switch {
	case t.token.kind == variableToken:
		verb.variable = t.variable()
	case !t.startsVerb():
		t.expected("a predicate")
	default:
		if way = t.path(); way.op == pathLink {
			verb.term, way = way.iri, nil
		} else if t.plain {
			t.expected("a predicate, without a path,")
		}
	}
	for {
		switch {
		case verb.term == textQuery && !t.plain && t.isList:
			t.fail(at, "text:query finds a subject, and neither scores nor literals: a variable or an IRI is expected before it")
		case verb.term == textQuery && !t.plain:
			t.textQuery(subject)
		case way != nil:
			t.add(&pathPattern{subject, way, t.node()})
		default:
			t.add(&triplePattern{subject, verb, t.node()})
		}
		if !t.acceptSign(",") {
			return
		}
	}
}

// node reads a subject or an object, with the triples that are written in it.
func (t *triplesParser) node() varOrTerm {
	switch {
	case t.token.kind == variableToken:
		return varOrTerm{variable: t.variable()}
	case t.isIRI():
		return varOrTerm{term: t.iri()}
	case t.token.kind == blankToken:
		return varOrTerm{variable: t.labelled()}
	case t.isSign("["):
		t.enter()
		defer t.leave()
		t.advance()
		outer := t.isList
		defer func() { t.isList = outer }()
		t.isList = false
		blank := varOrTerm{variable: t.fresh()}
		if !t.isSign("]") {
			t.propertyList(blank)
		}
		t.expectSign("]")
		return blank
	case t.isSign("("):
		return t.list()
	default:
		term, ok := t.literal()
		if !ok {
			t.expected("a variable, an IRI, a blank node or a literal")
		}
		return varOrTerm{term: term}
	}
}

func (t *triplesParser) list() varOrTerm {
	t.enter()
	defer t.leave()
	t.expectSign("(")
	nothing := varOrTerm{term: rdf.NewIRI(rdf.Nil)}
	if t.acceptSign(")") {
		return nothing
	}
	head := varOrTerm{variable: t.fresh()}
	for at := head; ; {
		t.triple(at, rdf.NewIRI(rdf.First), t.node())
		if t.acceptSign(")") {
			t.triple(at, rdf.NewIRI(rdf.Rest), nothing)
			return head
		}
		next := varOrTerm{variable: t.fresh()}
		t.triple(at, rdf.NewIRI(rdf.Rest), next)
		at = next
	}
}

// labelled reads the label of a blank node, which stands for a variable within one basic graph pattern.
func (p *parser) labelled() variable {
	label := p.token.text
	blank, ok := p.blanks[label]
	if !ok {
		blank = blankNode{p.fresh(), p.block}
		p.blanks[label] = blank
	}
	if blank.block != p.block {
		p.fail(p.token.start, "the blank node _:"+label+" stands in two patterns: its label holds within one of them")
	}
	p.advance()
	return blank.variable
}

// textQuery is the predicate that asks for words, as in Jena.
const textQuery = webrace.Term("<http://jena.apache.org/text#query>")

// textQuery reads what stands behind that predicate: "words", or (property "words" limit).
func (t *triplesParser) textQuery(subject varOrTerm) {
	found := &textPattern{subject: subject}
	list := t.acceptSign("(")
	if list && t.isIRI() {
		found.property = t.iri()
	}
	if t.token.kind != stringToken {
		t.expected("a string with words, or (property \"words\" limit),")
	}
	words, _ := t.literal()
	found.words = rdf.Value(words)
	if list {
		if t.token.kind == integerToken {
			at := t.token.start
			if found.limit = int(t.integer()); found.limit == 0 {
				t.fail(at, "a limit of results from 1 is expected")
			}
		}
		t.expectSign(")")
	}
	t.add(found)
}
