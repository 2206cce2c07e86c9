package selection

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/suggest"
)

// A selector of CSS (Selectors Level 4, without what depends on a browser's state). It is not evaluated by a
// library because none can be stopped: "a b c d e f" tries all ways to place its parts in a deep page.
//
// It is held against what a browser finds (TestSelectorsFindWhatABrowserFinds). Where browsers still follow an
// earlier level, Level 4 decides: :empty overlooks white space, :lang() takes several ranges, in quotes and with
// wildcards, and an attribute may be compared with the flag s. Selectors that a browser mends or that match
// nothing in it are refused with the place of what is wrong: an unknown selector in :is(), a bracket left open.

// complex is a compound selector, and what must stand before it.
type complex struct {
	compound
	combinator byte // ' ', '>', '+' or '~' to the left; 0 at the leftmost
	left       *complex
}

// compound is the conditions on one element.
type compound struct {
	key       key        // found by index; the zero key if there is no such condition
	tests     []test     // on the element alone, also for what the key tells
	relations []relation // to others
}

// test is a condition on an element, which has a number.
type test func(m *matcher, element int32) bool

// relation is :is(), :where(), :not(), :has(), or :nth-child() with "of".
type relation struct {
	list []*complex
	not  bool
	has  bool     // the list is of what there must be, seen from the element: combinators point away from it
	nth  *formula // of the place among those siblings that the list matches
	last bool     // the place is counted from the last
}

// cssParser reads selectors. It panics with a cssFault, which parseCSS recovers.
type cssParser struct {
	s      string
	i      int
	depth  int  // of parentheses
	scoped bool // :scope was read
}

type cssFault struct{ error }

const mostParentheses = 16

// parseCSS reads a list of selectors between commas, and reports whether what it matches depends on where it is
// looked for.
func parseCSS(s string) (list []*complex, scoped bool, err error) {
	p := &cssParser{s: s}
	defer func() {
		if fault, ok := recover().(cssFault); ok {
			err = fault.error
		}
	}()
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return nil, false, errors.New("it is not valid UTF-8")
	}
	list = p.list(p.complex)
	if p.i < len(p.s) {
		p.fail("%q is not part of CSS here", p.rest())
	}
	return list, p.scoped, nil
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

// space is white space in CSS and HTML.
const space = " \t\n\r\f"

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
	return p.chain(&complex{compound: p.compound()})
}

// chain reads the combinators and compound selectors that follow one.
func (p *cssParser) chain(c *complex) *complex {
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

// relative reads what may stand in :has(): a selector, perhaps with a combinator before it.
func (p *cssParser) relative() *complex {
	combinator := p.peek()
	switch combinator {
	case '>', '+', '~':
		p.i++
		p.space()
	default:
		combinator = ' '
	}
	return p.chain(&complex{compound: p.compound(), combinator: combinator})
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
			if c.key.kind != scopeKey {
				c.key = key{idKey, id}
			}
			c.tests = append(c.tests, hasMark("id", id, equals))
		case '.':
			p.i++
			class := p.name("a class")
			if c.key.kind != idKey && c.key.kind != scopeKey {
				c.key = key{classKey, class}
			}
			c.tests = append(c.tests, hasMark("class", class, hasWord))
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
		case c == '\\' && strings.HasPrefix(p.s[p.i+1:], "\n"):
			p.i++ // the string goes on in the next line
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
	p.space()
	flag := p.peek() | 0x20
	if flag == 'i' || flag == 's' {
		p.i++
		p.space()
	}
	p.expect(']', "[")
	fold := func(m *matcher, i int32) bool { return flag == 'i' }
	if flag != 'i' && flag != 's' && caselessValues.Has(lowerASCII(key)) {
		fold = (*matcher).isHTMLElement
	}
	return attributeIs(key, wanted, operators[operator], fold)
}

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
	name := lowerASCII(p.name("a pseudo-class"))
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
	case "nth-child", "nth-last-child":
		var f formula
		p.argument(name, func() {
			if f = p.formula(); p.of() {
				list = p.list(p.complex)
			}
		})
		if list != nil {
			c.relations = append(c.relations, relation{list: list, nth: &f, last: name == "nth-last-child"})
			return
		}
		c.tests = append(c.tests, nth(name, f))
		return
	case "nth-of-type", "nth-last-of-type":
		var f formula
		p.argument(name, func() { f = p.formula() })
		c.tests = append(c.tests, nth(name, f))
		return
	case "lang":
		var ranges []string
		p.argument(name, func() { ranges = p.ranges() })
		c.tests = append(c.tests, speaks(ranges))
		return
	case "scope":
		p.scoped = true
		c.key = key{kind: scopeKey}
	}
	if simple := simplePseudos[name]; simple != nil {
		c.tests = append(c.tests, simple)
		return
	}
	p.i = at
	if hint := suggest.Nearest(name, slices.Concat(functionNames, simpleNames)); hint != "" {
		p.fail("there is no pseudo-class :%s (did you mean %q?)", name, ":"+hint)
	}
	if name == "contains" {
		p.fail("there is no pseudo-class :contains; xpath has contains()")
	}
	p.fail("there is no pseudo-class :%s", name)
}

var functionNames = []string{"not", "is", "where", "has", "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "lang"}

// formula is an+b: the places that are a multiple of the step behind the offset.
type formula struct{ step, offset int }

func (f formula) has(place int) bool {
	if f.step == 0 {
		return place == f.offset
	}
	return (place-f.offset)%f.step == 0 && (place-f.offset)/f.step >= 0
}

// anPlusB is the formula as CSS Syntax Level 3 writes it, section 6.
var anPlusB = regexp.MustCompile(`^(?i)(?:(odd)|(even)|([+-]?\d*)n(?:[ \t\n\r\f]*([+-])[ \t\n\r\f]*(\d+))?|([+-]?\d+))(?:[ \t\n\r\f)]|$)`)

// formula reads an+b, odd or even.
func (p *cssParser) formula() (f formula) {
	found := anPlusB.FindStringSubmatch(p.s[p.i:])
	if found == nil {
		end := strings.IndexByte(p.s[p.i:]+")", ')')
		p.fail("%q is not of the form 2n+1, odd, even or a number", p.s[p.i:p.i+end])
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil || n <= -1e6 || n >= 1e6 {
			p.fail("%s is too large a number", s)
		}
		return n
	}
	step, sign, offset, alone := found[3], found[4], found[5], found[6]
	switch {
	case found[1] != "":
		f = formula{2, 1}
	case found[2] != "":
		f = formula{2, 0}
	case alone != "":
		f.offset = number(alone)
	default:
		if step == "" || step == "+" || step == "-" {
			step += "1"
		}
		if f.step = number(step); offset != "" {
			f.offset = number(sign + offset)
		}
	}
	p.i += len(strings.TrimRight(found[0], space+")"))
	return f
}

// of reads the word before a list of selectors, and reports whether it is there.
func (p *cssParser) of() bool {
	if !p.space() || len(p.s)-p.i < 2 || !strings.EqualFold(p.s[p.i:p.i+2], "of") {
		return false
	}
	if p.i += 2; p.i < len(p.s) && (inName(p.s[p.i]) || p.s[p.i] == '\\') {
		p.i -= 2
		return false
	}
	return true
}

// ranges reads language ranges between commas.
func (p *cssParser) ranges() (all []string) {
	for {
		p.space()
		if p.peek() == '*' {
			p.fail(`a range of languages with * stands in quotes: :lang("*-CH")`)
		}
		all = append(all, lowerASCII(p.text()))
		p.space()
		if !p.take(',') {
			return all
		}
	}
}
