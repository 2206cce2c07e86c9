package expression

import (
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// errTooLong is the error of an expression that builds a string without end.
var errTooLong = fmt.Errorf("it builds a text of more than %d bytes", mostText)

// function is one that expressions may call, besides those of the language.
type function struct {
	name string
	call func(...any) (any, error)
	typ  any
}

// own are those of this package. Some take the place of functions of the language that know no limit.
var own = []function{
	{"host", ofURL((*url.URL).Hostname), new(func(string) string)},
	{"path", ofURL((*url.URL).EscapedPath), new(func(string) string)},
	{"query", ofURL(func(u *url.URL) string { return u.RawQuery }), new(func(string) string)},
	{"param", param, new(func(string, string) string)},
	{"words", func(args ...any) (any, error) { return len(strings.Fields(args[0].(string))), nil }, new(func(string) int)},
	{"repeat", repeat, new(func(string, int) string)},
	{"replace", replace, new(func(string, string, string) string)},
	{"join", join, new(func([]any, string) string)},
}

var functionNames = namesOfFunctions()

func namesOfFunctions() []string {
	names := slices.Clone(builtin.Names)
	for _, f := range slices.Concat(own, replacing) {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func isFunction(name string) bool {
	_, found := slices.BinarySearch(functionNames, name)
	return found || name == boundedAdd
}

func functions() []expr.Option {
	options := numberFunctions()
	for _, f := range own {
		options = append(options, expr.Function(f.name, f.call, f.typ))
	}
	return options
}

// ofURL makes a function of one that takes a URL apart; what is no URL has no parts.
func ofURL(part func(*url.URL) string) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		u, err := url.Parse(args[0].(string))
		if err != nil {
			return "", nil
		}
		return part(u), nil
	}
}

// param returns a parameter of a URL's query.
func param(args ...any) (any, error) {
	u, err := url.Parse(args[0].(string))
	if err != nil {
		return "", nil
	}
	return u.Query().Get(args[1].(string)), nil
}

func repeat(args ...any) (any, error) {
	s, n := args[0].(string), args[1].(int)
	switch {
	case n < 0:
		return nil, fmt.Errorf("repeat cannot repeat %d times", n)
	case len(s) > 0 && n > mostText/len(s):
		return nil, errTooLong
	}
	return strings.Repeat(s, n), nil
}

func replace(args ...any) (any, error) {
	s, before, after := args[0].(string), args[1].(string), args[2].(string)
	if grown := len(after) - len(before); grown > 0 && strings.Count(s, before) > (mostText-min(len(s), mostText))/grown {
		return nil, errTooLong
	}
	return strings.ReplaceAll(s, before, after), nil
}

func join(args ...any) (any, error) {
	list, between := args[0].([]any), args[1].(string)
	var b strings.Builder
	for i, element := range list {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(Text(element))
		if b.Len() > mostText {
			return nil, errTooLong
		}
	}
	return b.String(), nil
}

// boundedAdd is what + becomes where its operands may be texts.
const boundedAdd = "_add"

func add(args ...any) (any, error) {
	a, ok := args[0].(string)
	b, too := args[1].(string)
	if !ok || !too {
		return sum(args...)
	}
	if len(a) > math.MaxInt-len(b) || len(a)+len(b) > mostText {
		return nil, errTooLong
	}
	return a + b, nil
}

// bounded puts the limited addition in the place of the one of the language.
type bounded struct{}

func (bounded) Visit(node *ast.Node) {
	sum, ok := (*node).(*ast.BinaryNode)
	if !ok || sum.Operator != "+" || !mayBeText(sum.Left) || !mayBeText(sum.Right) {
		return
	}
	t := sum.Type()
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: boundedAdd}, Arguments: []ast.Node{sum.Left, sum.Right}})
	(*node).SetType(t)
}

func mayBeText(node ast.Node) bool {
	t := node.Type()
	return t == nil || t.Kind() == reflect.String || t.Kind() == reflect.Interface
}
