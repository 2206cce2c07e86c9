package xpath

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/suggest"
)

// Token is a token of an XPath expression (XPath 1.0, section 3.7).
type Token struct {
	Kind TokenKind
	Text string // as written
	At   int    // its first character, from 1
}

// TokenKind is the kind of a token.
type TokenKind uint8

// The kinds of tokens.
const (
	SymbolToken TokenKind = iota
	NameToken             // also of operators, axes, functions and node types
	StringToken
	NumberToken
)

// Is reports whether the token is this punctuation.
func (l Token) Is(symbol string) bool { return l.Kind == SymbolToken && l.Text == symbol }

// Named reports whether the token is this name.
func (l Token) Named(name string) bool { return l.Kind == NameToken && l.Text == name }

// Literal returns the value of a string.
func (l Token) Literal() string { return l.Text[1 : len(l.Text)-1] }

// symbols are the tokens of punctuation, the longer ones first.
var symbols = []string{
	"::", "//", "..", "!=", "<=", ">=",
	"(", ")", "[", "]", "@", ",", "/", "|", "+", "-", "=", "<", ">", "*", ".",
}

// Lex cuts an expression into tokens. It refuses brackets that do not match, and unknown functions and axes, of which
// it tells what may be meant.
func Lex(s string) ([]Token, error) {
	tokens, err := cut(s)
	if err == nil {
		err = check(tokens)
	}
	if err != nil {
		return nil, err
	}
	return tokens, nil
}

func cut(s string) ([]Token, error) {
	all := make([]Token, 0, 16)
	at := 1
	for i := 0; i < len(s); {
		rest := s[i:]
		r, width := utf8.DecodeRuneInString(rest)
		var l Token
		switch {
		case r == utf8.RuneError && width == 1:
			return nil, errors.New("it is not valid UTF-8")
		case strings.ContainsRune(" \t\r\n", r):
			i += width
			at++
			continue
		case r == '"' || r == '\'':
			end := strings.IndexByte(rest[1:], rest[0])
			if end < 0 {
				return nil, errors.New("a string is not closed")
			}
			l = Token{Kind: StringToken, Text: rest[:end+2]}
		case isDigit(r) || r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
			l = Token{Kind: NumberToken, Text: prefixOf(rest, func(r rune) bool { return isDigit(r) || r == '.' })}
			if strings.Count(l.Text, ".") > 1 {
				return nil, fmt.Errorf("%s is not a number", l.Text)
			}
		case isNameStart(r):
			l = Token{Kind: NameToken, Text: qualifiedName(rest)}
		default:
			k := slices.IndexFunc(symbols, func(symbol string) bool { return strings.HasPrefix(rest, symbol) })
			if k < 0 {
				return nil, fmt.Errorf("%q is not part of XPath here", r)
			}
			l = Token{Kind: SymbolToken, Text: symbols[k]}
		}
		l.At = at
		all = append(all, l)
		i += len(l.Text)
		at += utf8.RuneCountInString(l.Text)
	}
	return all, nil
}

func prefixOf(s string, in func(rune) bool) string {
	if end := strings.IndexFunc(s, func(r rune) bool { return !in(r) }); end >= 0 {
		return s[:end]
	}
	return s
}

// qualifiedName reads a name with its prefix, but not the axis before a ::.
func qualifiedName(s string) string {
	name := prefixOf(s, isNamePart)
	rest := s[len(name):]
	if len(rest) < 2 || rest[0] != ':' || rest[1] == ':' {
		return name
	}
	if rest[1] == '*' {
		return s[:len(name)+2]
	}
	if r, _ := utf8.DecodeRuneInString(rest[1:]); isNameStart(r) {
		return s[:len(name)+1+len(prefixOf(rest[1:], isNamePart))]
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

// callable are the functions of XPath 1.0 without id and lang, two that were there before, and node types, which look
// like them.
var callable = []string{
	"position", "last", "count", "name", "local-name", "namespace-uri",
	"string", "concat", "starts-with", "contains", "substring-before", "substring-after", "substring",
	"string-length", "normalize-space", "translate", "boolean", "not", "true", "false",
	"number", "sum", "floor", "ceiling", "round", "ends-with", "lower-case",
	"node", "text", "comment",
}

var axisNames = slices.Sorted(maps.Keys(axes))

func check(tokens []Token) error {
	if len(tokens) == 0 {
		return errors.New("it is empty")
	}
	var open []string
	for i, l := range tokens {
		next := Token{}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch {
		case l.Is("("), l.Is("["):
			open = append(open, l.Text)
		case l.Is(")"), l.Is("]"):
			opening := "["
			if l.Is(")") {
				opening = "("
			}
			if len(open) == 0 || open[len(open)-1] != opening {
				return fmt.Errorf("a %s has no %s", l.Text, opening)
			}
			open = open[:len(open)-1]
		case l.Kind == NameToken && next.Is("::") && !slices.Contains(axisNames, l.Text):
			return unknown("axis", l.Text, axisNames)
		case l.Kind == NameToken && next.Is("(") && !IsOperator(tokens, i) && !slices.Contains(callable, l.Text):
			return unknown("function", l.Text, callable)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("a %s is not closed", open[len(open)-1])
	}
	return nil
}

func unknown(kind, name string, names []string) error {
	if hint := suggest.Nearest(name, names); hint != "" {
		return fmt.Errorf("there is no %s %s (did you mean %q?)", kind, name, hint)
	}
	return fmt.Errorf("there is no %s %s", kind, name)
}

// IsOperator reports whether the name at i is an operator, which it is behind an operand (XPath 1.0,
// section 3.7).
func IsOperator(tokens []Token, i int) bool {
	switch tokens[i].Text {
	case "and", "or", "div", "mod":
		return i > 0 && EndsOperand(tokens, i-1)
	}
	return false
}

// EndsOperand reports whether the token at i may end an operand.
func EndsOperand(tokens []Token, i int) bool {
	switch l := tokens[i]; l.Kind {
	case StringToken, NumberToken:
		return true
	case NameToken:
		return !IsOperator(tokens, i)
	default:
		switch l.Text {
		case ")", "]", ".", "..":
			return true
		case "*": // of a name test, not of a product
			return i == 0 || !EndsOperand(tokens, i-1)
		}
	}
	return false
}
