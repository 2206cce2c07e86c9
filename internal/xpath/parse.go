package xpath

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Type is that of what an expression gives.
type Type uint8

// The types of XPath 1.0.
const (
	NodeSet Type = iota
	Boolean
	Number
	String
)

func (t Type) String() string {
	return [...]string{"nodes", "a truth value", "a number", "a string"}[t]
}

// Expression is a compiled expression. It may be used by many goroutines at once.
type Expression struct{ root *expr }

// Type returns that of what the expression gives.
func (x *Expression) Type() Type { return x.root.typ }

// expr is a part of an expression.
type expr struct {
	typ  Type
	op   op
	args []*expr // of operators and functions

	text     string // of a literal
	number   float64
	function *function

	// A path begins at the root, at what another expression gives once its predicates have chosen among that, or where
	// it stands.
	absolute   bool
	start      *expr
	predicates []predicate
	steps      []step
}

// op is what an expression does.
type op uint8

const (
	opLiteral op = iota
	opCall
	opPath
	opUnion
	opOr
	opAnd
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opAdd
	opSubtract
	opMultiply
	opDivide
	opModulo
	opNegate
)

// step is one of a path.
type step struct {
	axis       axis
	test       test
	prefix     string
	local      string
	predicates []predicate
	positional bool // some predicate asks for positions
	nth        int  // the first predicate is this number; 0 if it is none
}

// test is what a step asks of nodes.
type test uint8

const (
	anyNode test = iota
	anyText
	anyComment
	anyName // of the axis: of attributes, or of elements
	anyLocal
	oneName
)

type predicate struct {
	*expr
	positional bool // it depends on where a node stands among others
}

// mostNested is how deep the parts of an expression nest.
const mostNested = 100

type parser struct {
	tokens  []Token
	at      int
	depth   int
	focused bool // position() or last() was called since the last [
}

type fault struct{ error }

// Compile compiles an expression.
func Compile(s string) (*Expression, error) {
	if len(s) > MaxExpression {
		return nil, fmt.Errorf("it is longer than %d bytes", MaxExpression)
	}
	tokens, err := Lex(s)
	if err != nil {
		return nil, err
	}
	return Parse(tokens)
}

// Parse compiles the tokens of [Lex].
func Parse(tokens []Token) (x *Expression, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fault:
			x, err = nil, r.error
		default:
			panic(r)
		}
	}()
	p := &parser{tokens: tokens}
	root := p.binary(0)
	if p.at < len(tokens) {
		p.fail("there is more than an expression")
	}
	return &Expression{root}, nil
}

// fail ends the parsing, at the token where it is.
func (p *parser) fail(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if p.at < len(p.tokens) {
		l := p.tokens[p.at]
		panic(fault{fmt.Errorf("%w: at character %d, before %.40s, %s", ErrExpression, l.At, l.Text, message)})
	}
	panic(fault{fmt.Errorf("%w: at its end %s", ErrExpression, message)})
}

func (p *parser) peek(ahead int) Token {
	if p.at+ahead < len(p.tokens) {
		return p.tokens[p.at+ahead]
	}
	return Token{}
}

// take steps over a symbol if it is the next token.
func (p *parser) take(symbol string) bool {
	if !p.peek(0).Is(symbol) {
		return false
	}
	p.at++
	return true
}

func (p *parser) need(symbol string) {
	if !p.take(symbol) {
		p.fail("a %s is missing", symbol)
	}
}

// operators are those between two operands, those that bind least first.
var operators = []map[string]op{
	{"or": opOr},
	{"and": opAnd},
	{"=": opEqual, "!=": opUnequal},
	{"<": opLess, "<=": opLessEqual, ">": opGreater, ">=": opGreaterEqual},
	{"+": opAdd, "-": opSubtract},
	{"*": opMultiply, "div": opDivide, "mod": opModulo},
}

// binary reads operands between operators that bind as much, or more.
func (p *parser) binary(level int) *expr {
	if level == len(operators) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for {
		operator, ok := operators[level][p.peek(0).Text]
		if !ok || p.peek(0).Kind == StringToken {
			return left
		}
		p.at++
		x := &expr{typ: Number, op: operator, args: []*expr{left, p.binary(level + 1)}}
		if operator < opAdd {
			x.typ = Boolean
		}
		left = x
	}
}

func (p *parser) unary() *expr {
	negative, minus := false, false
	for p.take("-") {
		negative, minus = !negative, true
	}
	x := p.union()
	if !minus {
		return x
	}
	if x = (&expr{typ: Number, op: opNegate, args: []*expr{x}}); !negative {
		x = &expr{typ: Number, op: opNegate, args: []*expr{x}}
	}
	return x
}

func (p *parser) union() *expr {
	left := p.path()
	for p.peek(0).Is("|") {
		if left.typ != NodeSet {
			p.fail("%s cannot be joined with |", left.typ)
		}
		p.at++
		right := p.path()
		if right.typ != NodeSet {
			p.fail("%s cannot be joined with |", right.typ)
		}
		left = &expr{op: opUnion, args: []*expr{left, right}}
	}
	return left
}

func (p *parser) path() *expr {
	if p.depth++; p.depth > mostNested {
		p.fail("it is nested more than %d deep", mostNested)
	}
	defer func() { p.depth-- }()
	x := &expr{op: opPath}
	switch l := p.peek(0); {
	case l.Is("/"):
		p.at++
		if x.absolute = true; p.beginsStep() {
			p.steps(x)
		}
		return x
	case l.Is("//"):
		x.absolute = true
		p.deeper(x)
		p.steps(x)
		return x
	case p.beginsStep() && !(p.peek(1).Is("(") && nodeTypes[l.Text] == 0):
		p.steps(x)
		return x
	}
	start := p.primary()
	if next := p.peek(0); !next.Is("[") && !next.Is("/") && !next.Is("//") {
		return start
	}
	if start.typ != NodeSet {
		p.fail("%s has no parts", start.typ)
	}
	x.start = start
	x.predicates = p.predicates()
	switch {
	case p.take("/"):
		p.steps(x)
	case p.peek(0).Is("//"):
		p.deeper(x)
		p.steps(x)
	}
	return x
}

// deeper reads the // before a step.
func (p *parser) deeper(x *expr) {
	p.at++
	x.steps = append(x.steps, step{axis: descendantOrSelf})
}

// primary reads a literal, what is in parentheses, or the call of a function.
func (p *parser) primary() *expr {
	l := p.peek(0)
	switch {
	case l.Kind == StringToken:
		p.at++
		return &expr{typ: String, text: l.Literal()}
	case l.Kind == NumberToken:
		p.at++
		number, err := strconv.ParseFloat(l.Text, 64)
		if err != nil { // too large
			number = math.Inf(1)
		}
		return &expr{typ: Number, number: number}
	case l.Is("("):
		p.at++
		x := p.binary(0)
		p.need(")")
		return x
	case l.Kind == NameToken && p.peek(1).Is("("):
		return p.call()
	}
	p.fail("an operand is missing")
	return nil
}

// call reads the call of a function.
func (p *parser) call() *expr {
	name := p.peek(0).Text
	f := functions[name]
	if f == nil {
		p.fail("there is no function %s", name)
	}
	p.focused = p.focused || name == "position" || name == "last"
	p.at += 2 // and its parenthesis
	x := &expr{typ: f.typ(), op: opCall, function: f}
	for !p.peek(0).Is(")") {
		if len(x.args) > 0 {
			p.need(",")
		}
		x.args = append(x.args, p.binary(0))
	}
	if len(x.args) < f.least || len(x.args) > f.most {
		p.fail("%s() has %d arguments", name, len(x.args))
	}
	if f.ofNodes && len(x.args) > 0 && x.args[0].typ != NodeSet {
		p.fail("%s() is given %s, and wants nodes", name, x.args[0].typ)
	}
	p.need(")")
	return x
}

// beginsStep reports whether a step is next.
func (p *parser) beginsStep() bool {
	l := p.peek(0)
	return l.Kind == NameToken || l.Is("*") || l.Is("@") || l.Is(".") || l.Is("..")
}

// steps reads those of a relative path.
func (p *parser) steps(x *expr) {
	for {
		x.addStep(p.step())
		switch {
		case p.take("/"):
		case p.peek(0).Is("//"):
			p.deeper(x)
		default:
			return
		}
	}
}

// addStep adds a step to a path; // and a child are a descendant, unless the child is asked where it stands. So is a
// "." without conditions no step.
func (x *expr) addStep(s step) {
	if n := len(x.steps); n > 0 && s.axis == child && !s.positional && x.steps[n-1].isAny(descendantOrSelf) {
		s.axis = descendant
		x.steps = x.steps[:n-1]
	}
	if n := len(x.steps); n > 0 && x.steps[n-1].isAny(self) {
		x.steps = x.steps[:n-1]
	}
	x.steps = append(x.steps, s)
}

// isAny reports whether a step takes all nodes of an axis.
func (s *step) isAny(a axis) bool { return s.axis == a && s.test == anyNode && len(s.predicates) == 0 }

// nodeTypes are what the tests of types ask for.
var nodeTypes = map[string]test{"node": anyNode + 1, "text": anyText + 1, "comment": anyComment + 1}

func (p *parser) step() (s step) {
	l := p.peek(0)
	switch {
	case p.take("."):
		s.axis = self
	case p.take(".."):
		s.axis = parent
	default:
		s.axis = child
		if p.take("@") {
			s.axis = attribute
		} else if a, ok := axes[l.Text]; ok && p.peek(1).Is("::") {
			s.axis = a
			p.at += 2
		}
		p.test(&s)
	}
	s.predicates = p.predicates()
	for i, one := range s.predicates {
		s.positional = s.positional || one.positional
		if whole := int(one.number); i == 0 && one.op == opLiteral && one.typ == Number && one.number == float64(whole) && whole > 0 {
			s.nth = whole
		}
	}
	return s
}

func (p *parser) test(s *step) {
	l := p.peek(0)
	switch {
	case l.Is("*"):
		s.test = anyName
	case l.Kind != NameToken:
		p.fail("a step is missing")
	case p.peek(1).Is("("):
		if nodeTypes[l.Text] == 0 {
			p.fail("a function is no step")
		}
		s.test = nodeTypes[l.Text] - 1
		p.at += 2 // and its parenthesis
		p.need(")")
		return
	default:
		s.test, s.local = oneName, l.Text
		if prefix, local, ok := strings.Cut(l.Text, ":"); ok {
			s.prefix, s.local = prefix, local
		}
		if s.local == "*" {
			s.test = anyLocal
		}
	}
	p.at++
}

func (p *parser) predicates() (all []predicate) {
	for p.take("[") {
		before := p.focused
		p.focused = false
		x := p.binary(0)
		p.need("]")
		all = append(all, predicate{x, p.focused || x.typ == Number})
		p.focused = before
	}
	return all
}
