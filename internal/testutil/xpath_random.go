package testutil

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// XPathGenerator writes random expressions about documents with these names and values.
type XPathGenerator struct {
	*rand.Rand
	Elements, Attributes, Values []string // as XPath writes names, and literals between quotes
}

func (g *XPathGenerator) one(of ...string) string { return of[g.IntN(len(of))] }

// Expression returns one of any type.
func (g *XPathGenerator) Expression() string {
	switch g.IntN(10) {
	case 0:
		return g.boolean(3)
	case 1:
		return g.number(3)
	case 2:
		return g.string(3)
	}
	return g.Nodes(3)
}

// Nodes returns an expression that gives nodes.
func (g *XPathGenerator) Nodes(depth int) string {
	switch g.IntN(12) {
	case 0:
		return g.path(depth) + " | " + g.path(depth)
	case 1:
		return "(" + g.Nodes(depth-1) + ")" + g.predicate(depth-1)
	case 2:
		return "(" + g.path(depth) + g.one(" | ", " | /") + g.steps(depth-1) + ")/" + g.steps(depth-1)
	}
	return g.path(depth)
}

func (g *XPathGenerator) path(depth int) string {
	begin := g.one("//", "//", "//", "/", "", ".//", "/descendant::*/")
	return strings.ReplaceAll(begin+g.steps(depth), "//.", "/.")
}

func (g *XPathGenerator) steps(depth int) string {
	s := g.step(depth)
	for depth > 0 && g.IntN(2) == 0 {
		depth--
		s += g.one("/", "/", "//") + g.step(depth)
	}
	return strings.ReplaceAll(s, "//.", "/.") // of which libxml2 leaves out where it begins
}

func (g *XPathGenerator) step(depth int) (s string) {
	switch g.IntN(12) {
	case 0:
		return g.one(".", "..")
	case 1, 2:
		s = "@" + g.one(append(g.Attributes, "*")...)
	case 3, 4, 5:
		s = g.one("child", "descendant", "parent", "ancestor", "following-sibling", "preceding-sibling", "self",
			"descendant-or-self", "ancestor-or-self") + "::" + g.test()
		if g.IntN(4) == 0 { // not from an attribute, from which libxml2 goes elsewhere than the standard
			s = "self::*/" + g.one("following", "preceding") + "::" + g.test()
		}
	default:
		s = g.test()
	}
	for depth > 0 && g.IntN(3) == 0 {
		s += g.predicate(depth - 1)
	}
	return s
}

func (g *XPathGenerator) test() string {
	if g.IntN(3) == 0 {
		return g.one("*", "*", "node()", "text()", "comment()")
	}
	return g.one(g.Elements...)
}

func (g *XPathGenerator) predicate(depth int) string {
	switch g.IntN(6) {
	case 0:
		return "[" + strconv.Itoa(1+g.IntN(3)) + "]"
	case 1:
		return "[" + g.one("last()", "last() - 1", "position() = last()", "position() > 1", "position() mod 2 = 1", "position() != 2") + "]"
	case 2:
		return "[" + g.number(depth) + "]"
	case 3:
		return "[" + g.relative(depth) + "]"
	}
	return "[" + g.boolean(depth) + "]"
}

// Predicates returns conditions such as people write, joined by "and" and "or".
func (g *XPathGenerator) Predicates() string {
	attribute := "@" + g.one(g.Attributes...)
	path := g.one(attribute, g.one(g.Elements...), g.one(g.Elements...)+"/"+attribute, g.one(g.Elements...)+"/"+g.one(g.Elements...))
	all := g.one(
		path,
		path+g.comparison()+g.one(append(g.Values, "1", "2", "3")...),
		"contains("+path+", "+g.one(g.Values...)+")",
		"starts-with("+path+", "+g.one(g.Values...)+")",
		"count("+path+")"+g.comparison()+g.one("0", "1", "2"),
		"number("+path+")"+g.comparison()+g.one("0", "1", "3"),
	)
	if g.IntN(3) == 0 {
		return all + g.one(" and ", " or ") + g.Predicates()
	}
	return all
}

// relative returns a path such as predicates have.
func (g *XPathGenerator) relative(depth int) string {
	if g.IntN(3) == 0 {
		return "@" + g.one(g.Attributes...)
	}
	return strings.ReplaceAll(g.one("", "", ".//", "../", "//")+g.steps(depth-1), "//.", "/.")
}

func (g *XPathGenerator) boolean(depth int) string {
	if depth <= 0 {
		return g.relative(0) + g.one(" = ", " != ") + g.one(g.Values...)
	}
	depth--
	switch g.IntN(9) {
	case 0:
		return g.boolean(depth) + g.one(" and ", " or ") + g.boolean(depth)
	case 1:
		return "not(" + g.any(depth) + ")"
	case 2:
		return g.one("contains", "starts-with") + "(" + g.string(depth) + ", " + g.one(g.Values...) + ")"
	case 3:
		return "(" + g.boolean(depth) + ")" + g.one(" = ", " != ", " < ") + g.any(depth)
	case 4:
		return g.relative(depth) + g.comparison() + g.relative(depth)
	case 5:
		return g.any(depth) + g.comparison() + g.any(depth)
	case 6:
		return g.relative(depth) + " = " + g.one("true()", "false()", "boolean(.)")
	}
	return g.relative(depth) + g.comparison() + g.one(append(g.Values, "1", "2", "3", "0.5")...)
}

func (g *XPathGenerator) comparison() string {
	return g.one(" = ", " = ", " != ", " < ", " <= ", " > ", " >= ")
}

func (g *XPathGenerator) any(depth int) string {
	switch g.IntN(4) {
	case 0:
		return g.number(depth)
	case 1:
		return g.string(depth)
	}
	return g.relative(depth)
}

func (g *XPathGenerator) number(depth int) string {
	if depth <= 0 {
		return g.one("1", "2", "0", "-1", "0.5")
	}
	depth--
	switch g.IntN(8) {
	case 0:
		return "(" + g.number(depth) + g.one(" + ", " - ", " * ") + g.number(depth) + ")"
	case 1:
		return g.one("floor", "ceiling", "round") + "(" + g.number(depth) + g.one("", " div 2", " div 0") + ")"
	case 2:
		return "string-length(" + g.string(depth) + ")"
	case 3:
		return "(" + g.relative(depth) + g.one(" mod 2", " mod -2", " + 1", " * 2", " - 1") + ")"
	case 4:
		return "number(" + g.any(depth) + ")"
	case 5:
		return "sum(" + g.relative(depth) + ")"
	}
	return "count(" + g.relative(depth) + ")"
}

func (g *XPathGenerator) string(depth int) string {
	if depth <= 0 {
		return g.one(append(g.Values, ".", "name()")...)
	}
	depth--
	switch g.IntN(10) {
	case 0:
		return fmt.Sprintf("concat(%s, %s)", g.string(depth), g.any(depth))
	case 1:
		return fmt.Sprintf("substring(%s, %s)", g.relative(depth), g.number(depth)) // of no number: a lone "-" is one to libxml2
	case 2:
		return fmt.Sprintf("substring(%s, %s, %s)", g.relative(depth), g.number(depth), g.number(depth))
	case 3:
		return fmt.Sprintf("%s(%s, %s)", g.one("substring-before", "substring-after"), g.relative(depth), g.one(g.Values...))
	case 4:
		return "normalize-space(" + g.one("", g.string(depth)) + ")"
	case 5:
		return fmt.Sprintf("translate(%s, 'abc1', 'BA')", g.string(depth))
	case 6:
		return g.one("name", "local-name") + "(" + g.one("", g.relative(depth)) + ")"
	}
	return "string(" + g.any(depth) + ")"
}
