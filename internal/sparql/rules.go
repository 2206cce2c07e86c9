package sparql

import (
	"maps"
	"slices"

	"github.com/webrace/webrace/internal/rdf"
)

// Rules reads what selects from the graph of one document, as people who watch it write it: a query of the form SELECT,
// or a pattern alone, { … }, which selects all of its variables. What has no meaning there is refused with its place:
// other forms, other graphs, and functions that give another answer each time.
type Rules struct {
	Prefixes map[string]string       // known without a declaration
	Means    func(iri string) string // if set, returns which IRI stands for one that is written
}

// Parse reads a rule. What is wrong with it is a *SyntaxError.
func (r *Rules) Parse(text string) (*Query, error) {
	p := newParser(text)
	p.rules, p.stands = r, r.Means
	maps.Copy(p.prefixes, r.Prefixes)
	q, err := p.read((*parser).parseRule)
	if err == nil && len(q.Vars()) == 0 {
		return nil, &SyntaxError{Line: 1, Column: 1, Says: "it has no variable, so there is nothing to be read of its solutions"}
	}
	return q, err
}

// IsOrdered reports whether the solutions of a query have an order that it asks for.
func (q *Query) IsOrdered() bool { return len(q.query.orderBy) > 0 }

// Topic returns a query, of the form ASK, whether a document states what the query is about, whatever the values: its
// triples, with any objects but classes, and without filters, values and what is optional or excluded.
func (q *Query) Topic() *Query {
	t := &Query{form: Ask, base: q.base, names: slices.Clone(q.names)}
	t.query = &selectQuery{star: true, limit: 1, where: t.topicOf(q.query.where)}
	t.root = t.translateQuery()
	return t
}

func (q *Query) topicOf(g *group) *group {
	if g.sub != nil {
		return q.topicOf(g.sub.where)
	}
	topic := &group{}
	for _, e := range g.elements {
		switch e := e.(type) {
		case *triplesElement:
			any := &triplesElement{}
			for _, p := range e.patterns {
				p = q.withAnyObject(p)
				any.patterns = append(any.patterns, p)
				topic.scope.addAll(patternVariables(p))
			}
			topic.elements = append(topic.elements, any)
		case *unionElement:
			any := &unionElement{}
			for _, part := range e.groups {
				part = q.topicOf(part)
				any.groups = append(any.groups, part)
				topic.scope.addAll(part.scope)
			}
			topic.elements = append(topic.elements, any)
		}
	}
	return topic
}

func (q *Query) withAnyObject(p pattern) pattern {
	switch p := p.(type) {
	case *triplePattern:
		if p.object.variable == 0 && p.predicate.term != rdf.NewIRI(rdf.Type) {
			return &triplePattern{p.subject, p.predicate, varOrTerm{variable: q.fresh("")}}
		}
	case *pathPattern:
		if p.object.variable == 0 {
			return &pathPattern{p.subject, p.path, varOrTerm{variable: q.fresh("")}}
		}
	}
	return p
}

const oneGraph = "a document has one graph, which is what it says"

// refuse ends the reading of a rule if a word is next.
func (p *parser) refuse(word, why string) {
	if p.rules != nil && p.is(word) {
		p.fail(p.token.start, word+" is refused: "+why)
	}
}

func (p *parser) parseRule() {
	p.prologue()
	for _, form := range []string{"ASK", "CONSTRUCT", "DESCRIBE"} {
		p.refuse(form, "a rule selects solutions, by SELECT or by a pattern alone, { … }")
	}
	start := p.token.start
	p.query.form = Select
	switch {
	case p.is("SELECT"):
		p.query.query = p.selectQuery(true)
	case p.isSign("{"):
		q := &selectQuery{star: true, limit: -1}
		if p.body(q); q.grouped {
			p.fail(start, "a pattern alone has no groups: SELECT says what is looked at of them")
		}
		p.query.query = q
	default:
		p.expected("a pattern, { … }, or SELECT")
	}
	if p.token.kind != endToken {
		p.expected("the end of the rule")
	}
}
