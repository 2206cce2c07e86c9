package selection

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/suggest"
)

// A selector of CSS (Selectors Level 4, without what depends on a browser's state). It is not evaluated by a
// library because none can be stopped: "a b c d e f" tries all ways to place its parts in a deep page.

// complex is a compound selector, and what must stand before it.
type complex struct {
	compound
	combinator byte // ' ', '>', '+' or '~' to the left; 0 at the leftmost
	left       *complex
}

// compound is the conditions on one element.
type compound struct {
	key       key        // found by index; the zero key if there is no such condition
	tests     []test     // on the element alone, also for what the key says
	relations []relation // to others
}

// test is a condition on an element, which has a number.
type test func(m *matcher, element int32) bool

// relation is :is(), :where(), :not() or :has().
type relation struct {
	list []*complex
	not  bool
	has  bool // the list is of what there must be, seen from the element: combinators point away from it
}

// cssParser reads selectors. It panics with a cssFault, which parseCSS recovers.
type cssParser struct {
	s     string
	i     int
	depth int // of parentheses
}

type cssFault struct{ error }

const mostParentheses = 16

// parseCSS reads a list of selectors between commas.
func parseCSS(s string) (list []*complex, err error) {
	p := &cssParser{s: s}
	defer func() {
		if fault, ok := recover().(cssFault); ok {
			err = fault.error
		}
	}()
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return nil, errors.New("it is not valid UTF-8")
	}
	list = p.list(p.complex)
	if p.i < len(p.s) {
		p.fail("%q is not part of CSS here", p.rest())
	}
	return list, nil
}

// fail ends the parsing, at the character where it is.
func (p *cssParser) fail(format string, args ...any) {
	at := utf8.RuneCountInString(p.s[:p.i]) + 1
	panic(cssFault{fmt.Errorf("at character %d: %s", at, fmt.Sprintf(format, args...))})
}

func (p *cssParser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// rest returns the next character.
func (p *cssParser) rest() string {
	_, size := utf8.DecodeRuneInString(p.s[p.i:])
	return p.s[p.i : p.i+size]
}

func (p *cssParser) space() bool {
	start := p.i
	for p.i < len(p.s) && strings.IndexByte(" \t\n\r\f", p.s[p.i]) >= 0 {
		p.i++
	}
	return p.i > start
}

func (p *cssParser) take(c byte) bool {
	if p.peek() != c || p.i == len(p.s) {
		return false
	}
	p.i++
	return true
}

func (p *cssParser) expect(c byte, after string) {
	if !p.take(c) {
		p.fail("a %q is missing after %s", c, after)
	}
}

// list reads selectors between commas.
func (p *cssParser) list(one func() *complex) (all []*complex) {
	for {
		p.space()
		all = append(all, one())
		p.space()
		if !p.take(',') {
			return all
		}
	}
}

// complex reads compound selectors with combinators between them.
func (p *cssParser) complex() *complex {
	c := &complex{compound: p.compound()}
	for {
		spaced := p.space()
		combinator := p.peek()
		switch {
		case combinator == '>' || combinator == '+' || combinator == '~':
			p.i++
			p.space()
		case combinator == 0 || combinator == ',' || combinator == ')' || !spaced:
			return c
		default:
			combinator = ' '
		}
		c = &complex{compound: p.compound(), combinator: combinator, left: c}
	}
}

// relative reads what may stand in :has(): a compound selector, perhaps with a combinator before it.
func (p *cssParser) relative() *complex {
	combinator := p.peek()
	switch combinator {
	case '>', '+', '~':
		p.i++
		p.space()
	default:
		combinator = ' '
	}
	c := &complex{compound: p.compound(), combinator: combinator}
	if p.space(); p.peek() != ',' && p.peek() != ')' {
		p.fail(":has() takes one compound selector, such as :has(> h2.title)")
	}
	return c
}

// compound reads the conditions on one element.
func (p *cssParser) compound() (c compound) {
	start := p.i
	switch {
	case p.take('*'):
	case p.startsName():
		name := p.name("an element")
		c.key = key{elementKey, name}
		c.tests = append(c.tests, hasName(name))
	}
	for {
		switch p.peek() {
		case '#':
			p.i++
			id := p.name("an id")
			c.key = key{idKey, id}
			c.tests = append(c.tests, attributeIs("id", id, equals))
		case '.':
			p.i++
			class := p.name("a class")
			if c.key.kind != idKey {
				c.key = key{classKey, class}
			}
			c.tests = append(c.tests, attributeIs("class", class, hasWord))
		case '[':
			p.i++
			c.tests = append(c.tests, p.attribute())
		case ':':
			p.i++
			p.pseudo(&c)
		case '|':
			p.fail("namespaces are not known: write the name alone")
		default:
			if p.i > start {
				return c
			}
			if p.i == len(p.s) {
				p.fail("a selector is missing at the end")
			}
			p.fail("a selector cannot begin with %q", p.rest())
		}
	}
}

func (p *cssParser) startsName() bool {
	c := p.peek()
	return c == '_' || c == '\\' || c == '-' || c >= utf8.RuneSelf || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func inName(c byte) bool {
	return c == '_' || c == '-' || c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// name reads an identifier.
func (p *cssParser) name(what string) string {
	var b strings.Builder
	start := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '\\':
			p.i++
			b.WriteString(p.escape())
			continue
		case !inName(c), '0' <= c && c <= '9' && (p.i == start || p.i == start+1 && p.s[start] == '-'):
		default:
			b.WriteByte(c)
			p.i++
			continue
		}
		break
	}
	if b.Len() == 0 || b.String() == "-" {
		if p.i < len(p.s) && '0' <= p.s[p.i] && p.s[p.i] <= '9' {
			p.fail(`the name of %s cannot begin with a digit: write \3%c and a blank for it`, what, p.s[p.i])
		}
		p.fail("the name of %s is missing", what)
	}
	return b.String()
}

// escape reads what follows a backslash: up to six hexadecimal digits and a blank, or any character.
func (p *cssParser) escape() string {
	start := p.i
	for p.i < len(p.s) && p.i-start < 6 && strings.IndexByte("0123456789abcdefABCDEF", p.s[p.i]) >= 0 {
		p.i++
	}
	if p.i == start {
		if p.i == len(p.s) || p.s[p.i] == '\n' {
			p.fail(`a \ stands before nothing`)
		}
		c := p.rest()
		p.i += len(c)
		return c
	}
	code, _ := strconv.ParseUint(p.s[start:p.i], 16, 32) // six digits
	if p.i < len(p.s) && strings.IndexByte(" \t\n\r\f", p.s[p.i]) >= 0 {
		p.i++
	}
	if code == 0 || code > utf8.MaxRune {
		code = utf8.RuneError
	}
	return string(rune(code))
}

// text reads a string in quotes, or a name.
func (p *cssParser) text() string {
	quote := p.peek()
	if quote != '"' && quote != '\'' {
		return p.name("a value; if it is no name, put it in quotes, which")
	}
	var b strings.Builder
	for p.i++; ; p.i++ {
		switch c := p.peek(); {
		case p.i >= len(p.s):
			p.fail("a string is not closed")
		case c == quote:
			p.i++
			return b.String()
		case c == '\\':
			p.i++
			b.WriteString(p.escape())
			p.i--
		default:
			b.WriteByte(c)
		}
	}
}

// attribute reads what is in brackets.
func (p *cssParser) attribute() test {
	p.space()
	key := p.name("an attribute")
	if p.space(); p.take(']') {
		return func(m *matcher, at int32) bool { return m.attribute(at, key) != nil }
	}
	operator := p.peek()
	if operator != '=' {
		p.i++
		if !slices.Contains([]byte("~|^$*"), operator) || p.peek() != '=' {
			p.i--
			p.fail("a ] or one of = ~= |= ^= $= *= is missing after [%s", key)
		}
	}
	p.i++
	p.space()
	wanted := p.text()
	if p.space(); p.peek()|0x20 == 'i' {
		p.i++
		p.space()
		p.expect(']', "[")
		wanted = strings.ToLower(wanted)
		return func(m *matcher, i int32) bool {
			v := m.attribute(i, key)
			if v == nil {
				return false
			}
			m.budget.Spend(len(*v) / foldedBytes)
			return operators[operator](strings.ToLower(*v), wanted)
		}
	}
	p.expect(']', "[")
	return attributeIs(key, wanted, operators[operator])
}

// foldedBytes of an attribute are copied in lower case at the cost of a step.
const foldedBytes = 8

// argument reads what is in parentheses.
func (p *cssParser) argument(name string, read func()) {
	if p.expect('(', ":"+name); p.depth == mostParentheses {
		p.fail("parentheses are nested more than %d deep", mostParentheses)
	}
	p.depth++
	p.space()
	read()
	p.space()
	p.depth--
	p.expect(')', ":"+name+"(")
}

// pseudo reads a pseudo-class of an element.
func (p *cssParser) pseudo(c *compound) {
	at := p.i - 1
	if p.peek() == ':' {
		p.fail("a pseudo-element is no part of a page")
	}
	name := strings.ToLower(p.name("a pseudo-class"))
	var list []*complex
	switch name {
	case "not", "is", "where":
		p.argument(name, func() { list = p.list(p.complex) })
		c.relations = append(c.relations, relation{list: list, not: name == "not"})
		return
	case "has":
		p.argument(name, func() { list = p.list(p.relative) })
		c.relations = append(c.relations, relation{list: list, has: true})
		return
	case "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type":
		var step, offset int
		p.argument(name, func() { step, offset = p.nth() })
		c.tests = append(c.tests, nth(name, step, offset))
		return
	}
	if simple := simplePseudos[name]; simple != nil {
		c.tests = append(c.tests, simple)
		return
	}
	p.i = at
	known := slices.Concat([]string{"not", "is", "where", "has", "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"}, simpleNames)
	if hint := suggest.Nearest(name, known); hint != "" {
		p.fail("there is no pseudo-class :%s (did you mean %q?)", name, ":"+hint)
	}
	if name == "contains" {
		p.fail("there is no pseudo-class :contains; xpath has contains()")
	}
	p.fail("there is no pseudo-class :%s", name)
}

// nth reads an+b, odd or even.
func (p *cssParser) nth() (step, offset int) {
	end := strings.IndexByte(p.s[p.i:], ')')
	if end < 0 {
		p.fail("a ) is missing")
	}
	formula := strings.ToLower(strings.Join(strings.Fields(p.s[p.i:p.i+end]), ""))
	ok := true
	number := func(s string, bare int) (n int) {
		switch s {
		case "", "+":
			return bare
		case "-":
			return -bare
		}
		n, err := strconv.Atoi(s)
		ok = ok && err == nil && n > -1e6 && n < 1e6
		return n
	}
	switch before, after, found := strings.Cut(formula, "n"); {
	case formula == "odd":
		step, offset = 2, 1
	case formula == "even":
		step, offset = 2, 0
	case found:
		step, offset = number(before, 1), number(after, 0)
		ok = ok && (after == "" || after[0] == '+' || after[0] == '-')
	default:
		offset = number(formula, 0)
		ok = ok && formula != ""
	}
	if !ok {
		p.fail("%q is not of the form 2n+1, odd, even or a number", p.s[p.i:p.i+end])
	}
	p.i += end
	return step, offset
}
