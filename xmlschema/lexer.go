package xmlschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexeme is a token of an XPath expression (XPath 1.0, section 3.7).
type lexeme struct {
	kind lexKind
	text string // as written
}

type lexKind uint8

const (
	lexSymbol lexKind = iota
	lexName           // also of operators, axes, functions and node types
	lexString
	lexNumber
)

func (l lexeme) is(symbol string) bool { return l.kind == lexSymbol && l.text == symbol }

func (l lexeme) named(name string) bool { return l.kind == lexName && l.text == name }

// literal returns the value of a string.
func (l lexeme) literal() string { return l.text[1 : len(l.text)-1] }

// symbols are the tokens of punctuation, the longer ones first.
var symbols = []string{
	"::", "//", "..", "!=", "<=", ">=",
	"(", ")", "[", "]", "@", ",", "/", "|", "+", "-", "=", "<", ">", "*", ".",
}

func lex(s string) ([]lexeme, error) {
	all := make([]lexeme, 0, 16)
	for i := 0; i < len(s); {
		rest := s[i:]
		r, width := utf8.DecodeRuneInString(rest)
		var l lexeme
		switch {
		case r == utf8.RuneError && width == 1:
			return nil, errors.New("it is not valid UTF-8")
		case strings.ContainsRune(" \t\r\n", r):
			i += width
			continue
		case r == '"' || r == '\'':
			end := strings.IndexByte(rest[1:], rest[0])
			if end < 0 {
				return nil, errors.New("a string is not closed")
			}
			l = lexeme{lexString, rest[:end+2]}
		case isDigit(r) || r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
			l = lexeme{lexNumber, lexPrefix(rest, func(r rune) bool { return isDigit(r) || r == '.' })}
			if strings.Count(l.text, ".") > 1 {
				return nil, fmt.Errorf("%s is not a number", l.text)
			}
		case isNameStart(r):
			l = lexeme{lexName, lexQName(rest)}
		default:
			k := slices.IndexFunc(symbols, func(symbol string) bool { return strings.HasPrefix(rest, symbol) })
			if k < 0 {
				return nil, fmt.Errorf("%q is not part of XPath here", r)
			}
			l = lexeme{lexSymbol, symbols[k]}
		}
		all = append(all, l)
		i += len(l.text)
	}
	return all, nil
}

func lexPrefix(s string, in func(rune) bool) string {
	if end := strings.IndexFunc(s, func(r rune) bool { return !in(r) }); end >= 0 {
		return s[:end]
	}
	return s
}

// lexQName reads a name with its prefix, but not the axis before a ::.
func lexQName(s string) string {
	name := lexPrefix(s, isNamePart)
	rest := s[len(name):]
	if len(rest) < 2 || rest[0] != ':' || rest[1] == ':' {
		return name
	}
	if rest[1] == '*' {
		return s[:len(name)+2]
	}
	if r, _ := utf8.DecodeRuneInString(rest[1:]); isNameStart(r) {
		return s[:len(name)+1+len(lexPrefix(rest[1:], isNamePart))]
	}
	return name
}

func isDigit(r rune) bool     { return r >= '0' && r <= '9' }
func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }
func isNamePart(r rune) bool {
	if r < utf8.RuneSelf { // nearly all of them are
		return isNameStart(r) || isDigit(r) || r == '-' || r == '.'
	}
	return isNameStart(r) || isDigit(r) || r == '-' || r == '.' || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc)
}

// functions are those whose cost the steps of a match bound, and node types, which look like them. What
// is left out of the xpath package's own are matches, replace, string-join and reverse.
var functions = []string{
	"position", "last", "count", "name", "local-name", "namespace-uri",
	"string", "concat", "starts-with", "contains", "substring-before", "substring-after", "substring",
	"string-length", "normalize-space", "translate", "boolean", "not", "true", "false",
	"number", "sum", "floor", "ceiling", "round", "ends-with", "lower-case",
	"node", "text", "comment",
}

var axes = []string{
	"ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self", "following",
	"following-sibling", "parent", "preceding", "preceding-sibling", "self",
}

// check refuses what the xpath package would accept and then panic on, ignore, or not bound: brackets that
// do not match, and unknown functions and axes.
func check(tokens []lexeme) error {
	if len(tokens) == 0 {
		return errors.New("it is empty")
	}
	var open []string
	for i, l := range tokens {
		next := lexeme{}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch {
		case l.is("("), l.is("["):
			open = append(open, l.text)
		case l.is(")"), l.is("]"):
			opening := map[string]string{")": "(", "]": "["}[l.text]
			if len(open) == 0 || open[len(open)-1] != opening {
				return fmt.Errorf("a %s has no %s", l.text, opening)
			}
			open = open[:len(open)-1]
		case l.kind == lexName && next.is("::") && !slices.Contains(axes, l.text):
			return unknown("axis", l.text, axes)
		case l.kind == lexName && next.is("(") && !isOperator(tokens, i) && !slices.Contains(functions, l.text):
			return unknown("function", l.text, functions)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("a %s is not closed", open[len(open)-1])
	}
	return nil
}

func unknown(kind, name string, names []string) error {
	if hint := suggest(name, names); hint != "" {
		return fmt.Errorf("there is no %s %s (did you mean %q?)", kind, name, hint)
	}
	return fmt.Errorf("there is no %s %s", kind, name)
}

// isOperator reports whether the name at i is an operator, which it is behind an operand (XPath 1.0,
// section 3.7).
func isOperator(tokens []lexeme, i int) bool {
	switch tokens[i].text {
	case "and", "or", "div", "mod":
		return i > 0 && endsOperand(tokens, i-1)
	}
	return false
}

func endsOperand(tokens []lexeme, i int) bool {
	switch l := tokens[i]; l.kind {
	case lexString, lexNumber:
		return true
	case lexName:
		return !isOperator(tokens, i)
	default:
		switch l.text {
		case ")", "]", ".", "..":
			return true
		case "*": // of a name test, not of a product
			return i == 0 || !endsOperand(tokens, i-1)
		}
	}
	return false
}

// standAlone rewrites paths that begin at the list of all documents to begin at the one.
func standAlone(tokens []lexeme) ([]lexeme, error) {
	var out []lexeme
	for i := 0; i < len(tokens); i++ {
		out = append(out, tokens[i])
		absolute := tokens[i].is("/") && (i == 0 || !endsOperand(tokens, i-1))
		if !absolute || i+1 == len(tokens) || !tokens[i+1].named("urds") && !tokens[i+1].named("acis") {
			continue
		}
		list := tokens[i+1].text
		if i+2 == len(tokens) || !tokens[i+2].is("/") && !tokens[i+2].is("//") {
			return nil, fmt.Errorf("every document is matched alone: write /%s", strings.TrimSuffix(list, "s"))
		}
		out = out[:len(out)-1]
		i++ // the next round takes the slash behind the list
	}
	return out, nil
}

// render writes tokens as an expression again, apart from each other so that none run together.
func render(tokens []lexeme) string {
	texts := make([]string, len(tokens))
	for i, l := range tokens {
		texts[i] = l.text
	}
	return strings.Join(texts, " ")
}
