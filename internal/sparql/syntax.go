package sparql

import "github.com/webrace/webrace"

// The syntax tree, as the grammar has it (SPARQL 1.1, section 19.8), with IRIs resolved and prefixes gone. It holds no
// places, so that two texts that mean the same have equal trees.

// variable numbers the variables and blank nodes of a query, from 1. Zero is none.
type variable int

// varOrTerm is a variable, or a term.
type varOrTerm struct {
	variable variable
	term     webrace.Term
}

// Form is what a query asks for.
type Form uint8

// The forms of a query.
const (
	Select Form = iota + 1
	Ask
	Construct
	Describe
)

// selectQuery is a query or subquery: what is looked for, and what becomes of the solutions.
type selectQuery struct {
	star              bool
	distinct, reduced bool
	items             []selectItem
	where             *group

	grouped    bool // has GROUP BY or an aggregate
	groupBy    []selectItem
	aggregates []aggregate
	having     []expression
	orderBy    []orderItem
	limit      int64 // -1: none
	offset     int64
	values     *valuesElement
}

// selectItem is a variable, and the expression that it stands for, if it is not the pattern that binds it.
type selectItem struct {
	variable   variable
	expression expression
}

type orderItem struct {
	expression expression
	descending bool
}

// aggregate is computed for each group, and bound to a variable of its own.
type aggregate struct {
	variable  variable
	name      string // COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT
	distinct  bool
	argument  expression // nil: COUNT(*)
	separator string
}

// group is what stands between braces.
type group struct {
	elements []element
	sub      *selectQuery // what the braces hold instead, if it is a subquery
	scope    varSet       // the variables in scope (section 18.2.1)
}

// element is a part of a group.
type element interface{ isElement() }

type (
	triplesElement  struct{ patterns []pattern }
	filterElement   struct{ expression expression }
	optionalElement struct{ group *group }
	minusElement    struct{ group *group }
	unionElement    struct{ groups []*group } // one: a group in a group
	graphElement    struct {
		name  varOrTerm
		group *group
	}
	bindElement struct {
		expression expression
		variable   variable
	}
	valuesElement struct {
		variables []variable
		rows      [][]webrace.Term // empty terms are UNDEF
	}
)

func (*triplesElement) isElement()  {}
func (*filterElement) isElement()   {}
func (*optionalElement) isElement() {}
func (*minusElement) isElement()    {}
func (*unionElement) isElement()    {}
func (*graphElement) isElement()    {}
func (*bindElement) isElement()     {}
func (*valuesElement) isElement()   {}

// pattern is a line of a block of triples.
type pattern interface{ isPattern() }

type (
	triplePattern struct{ subject, predicate, object varOrTerm }
	pathPattern   struct {
		subject varOrTerm
		path    *path
		object  varOrTerm
	}
	// textPattern finds what has a text with words in it: ?s text:query (property "words" limit).
	textPattern struct {
		subject  varOrTerm
		property webrace.Term // empty: any
		words    string
		limit    int // 0: none
	}
)

func (*triplePattern) isPattern() {}
func (*pathPattern) isPattern()   {}
func (*textPattern) isPattern()   {}

type pathKind uint8

const (
	pathLink pathKind = iota
	pathInverse
	pathSequence
	pathAlternative
	pathZeroOrMore
	pathOneOrMore
	pathZeroOrOne
	pathNegated
)

// path is a property path (section 9).
type path struct {
	op       pathKind
	iri      webrace.Term   // of a link
	parts    []*path        // of all others but negated sets
	not      []webrace.Term // of a negated set, forwards
	notBack  []webrace.Term // and backwards
	backward bool           // whether a negated set looks backwards; forward alike
	forward  bool
}

// expression is a part of a FILTER, a BIND, or wherever a value is computed.
type expression interface{ isExpression() }

type (
	variableExpr struct{ variable variable }
	termExpr     struct{ term webrace.Term }
	// operatorExpr is what has its own rules for errors or its own syntax: || && ! = != < <= > >= + - * / IN NOT IN
	// BOUND IF COALESCE. Chains of || and && have two or more arguments.
	operatorExpr struct {
		operator  string
		arguments []expression
	}
	// chainExpr is a chain of + and -, or of * and /, from left to right.
	chainExpr struct {
		first     expression
		operators []byte
		rest      []expression
	}
	callExpr struct {
		name      string // upper case, or the IRI of a cast
		arguments []expression
	}
	existsExpr struct {
		not     bool
		group   *group
		pattern node // the group's algebra
	}
)

func (*variableExpr) isExpression() {}
func (*termExpr) isExpression()     {}
func (*operatorExpr) isExpression() {}
func (*chainExpr) isExpression()    {}
func (*callExpr) isExpression()     {}
func (*existsExpr) isExpression()   {}
