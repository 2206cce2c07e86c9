package sparql

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/suggest"
)

// What the text of a query may be. They bound what reading and planning one can cost.
const (
	MaxText      = 1 << 20 // bytes
	MaxNesting   = 100     // of groups, expressions, paths, lists
	maxPatterns  = 4096    // lines of blocks of triples, and elements of groups
	maxVariables = 4096    // with blank nodes, and what the query itself needs
)

// Query is a query in SPARQL 1.1 that has been read. It may be run any number of times, also at once.
type Query struct {
	form     Form
	base     rdf.Base       // of IRI
	from     []webrace.Term // FROM
	named    []webrace.Term // FROM NAMED
	query    *selectQuery
	template []*triplePattern // of CONSTRUCT
	describe []varOrTerm      // of DESCRIBE; none: *
	names    []string         // of variables; empty for blank nodes and what the query itself needs
	root     *selectNode
	varies   bool // calls a function that does not give the same each time

	elsewhere   []string // terms of schema.org that it names at https: or www: see settled
	text, given string   // if there are any, what was read, and its base
}

// Form returns what a query asks for.
func (q *Query) Form() Form { return q.form }

// Vars returns the variables that the solutions of a SELECT have, without question marks; nil of other forms.
func (q *Query) Vars() (names []string) {
	if q.form != Select {
		return nil
	}
	for _, v := range q.root.project {
		names = append(names, q.names[v])
	}
	return names
}

// Varies reports whether a query calls a function that does not give the same each time: NOW, RAND, UUID or STRUUID.
// All others have the same answer as long as the dataset is the same.
func (q *Query) Varies() bool { return q.varies }

// WithDataset returns the query asked of other graphs than it names itself, as the parameters of the SPARQL 1.1
// Protocol do (section 2.1.4): defaults are merged into the default graph, named are those of GRAPH. Without any, it is
// asked of what it names, or else of all.
func (q *Query) WithDataset(defaults, named []webrace.Term) *Query {
	if len(defaults) == 0 && len(named) == 0 {
		return q
	}
	other := *q
	other.from, other.named = slices.Clone(defaults), slices.Clone(named)
	return &other
}

// Parse reads a query; base is what its relative IRIs are resolved against, unless it has a BASE, and may be empty.
// What is wrong with the text is a *SyntaxError or a *LimitError.
func Parse(text, base string) (*Query, error) {
	return parse(text, base, nil)
}

func parse(text, base string, stands func(string) string) (*Query, error) {
	p := newParser(text)
	p.stands = stands
	if base != "" {
		var err error
		if p.base, err = rdf.ParseBase(base); err != nil {
			return nil, err
		}
	}
	q, err := p.read((*parser).parseQuery)
	if err == nil && len(q.elsewhere) > 0 {
		q.text, q.given = text, base
	}
	return q, err
}

func newParser(text string) *parser {
	return &parser{
		lexer: lexer{text: text}, prefixes: map[string]string{}, query: &Query{names: []string{""}},
		variables: map[string]variable{}, blanks: map[string]blankNode{},
	}
}

// read reads the whole text.
func (p *parser) read(parse func(*parser)) (query *Query, err error) {
	if len(p.text) > MaxText {
		return nil, &LimitError{Limit: fmt.Sprintf("its text has %d bytes, and may have %d", len(p.text), MaxText)}
	}
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case *SyntaxError:
			query, err = nil, reason
		case *LimitError:
			query, err = nil, reason
		default:
			panic(reason)
		}
	}()
	p.text = unescape(p.text)
	p.advance()
	parse(p)
	p.query.base = p.base
	p.query.root = p.query.translateQuery()
	return p.query, nil
}

// parser reads the grammar by recursive descent, one token ahead. What is wrong panics with a *SyntaxError.
type parser struct {
	lexer
	token     token
	base      rdf.Base
	prefixes  map[string]string
	query     *Query
	variables map[string]variable
	depth     int
	patterns  int

	blanks map[string]blankNode // by label
	block  int                  // which basic graph pattern is read: a label belongs to one

	aggregates  *[]aggregate // of the query that is read, where they may stand
	inAggregate bool

	rules *Rules // nil: any query

	stands func(iri string) string // if set, returns which IRI stands for one that is written
}

type blankNode struct {
	variable variable
	block    int
}

func (p *parser) advance() { p.token = p.next() }

// expected ends the reading: something else should be where it is.
func (p *parser) expected(what string) {
	there := "the end of the query"
	if p.token.kind != endToken {
		there = strconv.Quote(shorten(p.text[p.token.start:p.token.end]))
	}
	p.fail(p.token.start, what+" is expected, but there is "+there)
}

func shorten(text string) string {
	if r := []rune(text[:min(len(text), 200)]); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return text
}

// is reports whether a keyword is next.
func (p *parser) is(keyword string) bool {
	return p.token.kind == wordToken && strings.EqualFold(p.token.text, keyword)
}

func (p *parser) accept(keyword string) bool {
	if !p.is(keyword) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) isSign(sign string) bool { return p.token.kind == signToken && p.token.text == sign }

func (p *parser) acceptSign(sign string) bool {
	if !p.isSign(sign) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expectSign(sign string) {
	if !p.acceptSign(sign) {
		p.expected(strconv.Quote(sign))
	}
}

func (p *parser) expect(keyword string) {
	if !p.accept(keyword) {
		p.expected(keyword)
	}
}

// enter counts a level of nesting. The caller leaves it.
func (p *parser) enter() {
	if p.depth++; p.depth > MaxNesting {
		p.fail(p.token.start, fmt.Sprintf("nested deeper than %d levels, which is the limit", MaxNesting))
	}
}

func (p *parser) leave() { p.depth-- }

// count counts a pattern or an element of a group.
func (p *parser) count() {
	if p.patterns++; p.patterns > maxPatterns {
		p.fail(p.token.start, fmt.Sprintf("more than %d patterns, which is the limit", maxPatterns))
	}
}

// fresh returns a variable that has no name.
func (p *parser) fresh() variable {
	v := p.query.fresh("")
	if int(v) > maxVariables {
		p.fail(p.token.start, fmt.Sprintf("more than %d variables, which is the limit", maxVariables))
	}
	return v
}

func (q *Query) fresh(name string) variable {
	q.names = append(q.names, name)
	return variable(len(q.names) - 1)
}

func (p *parser) variable() variable {
	if p.token.kind != variableToken {
		p.expected("a variable")
	}
	v, ok := p.variables[p.token.text]
	if !ok {
		v = p.fresh()
		p.query.names[v] = p.token.text
		p.variables[p.token.text] = v
	}
	p.advance()
	return v
}

// iri reads an IRI or a prefixed name, and resolves it.
func (p *parser) iri() webrace.Term {
	switch p.token.kind {
	case iriToken:
		iri := p.resolve(p.token.text)
		p.advance()
		return iri
	case nameToken:
		ns, ok := p.prefixes[p.token.text]
		if !ok {
			p.fail(p.token.start, fmt.Sprintf("the prefix %q is not declared: PREFIX %[1]s: <…> is missing%s", p.token.text, p.prefixMeant()))
		}
		iri := p.means(ns + p.token.local)
		p.advance()
		return iri
	default:
		p.expected("an IRI or a prefixed name")
		return ""
	}
}

// prefixMeant names the prefix that is probably meant by the one that is next.
func (p *parser) prefixMeant() string {
	if meant := suggest.Nearest(p.token.text, slices.Sorted(maps.Keys(p.prefixes))); meant != "" {
		return fmt.Sprintf(" (did you mean %s:%s?)", meant, shorten(p.token.local))
	}
	return ""
}

func (p *parser) isIRI() bool { return p.token.kind == iriToken || p.token.kind == nameToken }

func (p *parser) resolve(iri string) webrace.Term {
	absolute, err := p.base.Resolve(iri)
	if err != nil {
		p.fail(p.token.start, fmt.Sprintf("<%s>: %v", shorten(iri), err))
	}
	return p.means(absolute)
}

// means returns the term that an absolute IRI stands for.
func (p *parser) means(iri string) webrace.Term {
	if p.stands != nil {
		iri = p.stands(iri)
	} else if rdf.SchemaOrg(iri) != iri {
		p.query.elsewhere = append(p.query.elsewhere, iri)
	}
	return rdf.NewIRI(iri)
}

// literal reads a string with its language or type, a number or a boolean; ok is false if none is next.
func (p *parser) literal() (term webrace.Term, ok bool) {
	text := p.token.text
	switch p.token.kind {
	case stringToken:
		p.advance()
		if p.token.kind == langToken {
			term = rdf.NewLangString(text, p.token.text)
			p.advance()
			return term, true
		}
		if p.acceptSign("^^") {
			return rdf.NewTyped(text, rdf.Value(p.iri())), true
		}
		return rdf.NewString(text), true
	case integerToken:
		term = rdf.NewTyped(text, rdf.XSDInteger)
	case decimalToken:
		term = rdf.NewTyped(text, rdf.XSDDecimal)
	case doubleToken:
		term = rdf.NewTyped(text, rdf.XSDDouble)
	default:
		if !p.is("true") && !p.is("false") {
			return "", false
		}
		term = rdf.NewTyped(strings.ToLower(text), rdf.XSDBoolean)
	}
	p.advance()
	return term, true
}
