package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/webrace/webrace/pipeline/number"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// The language knows the numbers of Go, and a field of a record may hold a json.Number, which keeps what was written.
// An expression passes it on as it is. Where it computes, compares or calls a function, the operator is one of these;
// the others stay those of the language, where it is known that no such number comes.

// arithmetic are the operators that compute, each with what does so.
var arithmetic = map[string]function{
	"+":  {boundedAdd, add, new(func(any, any) any)},
	"-":  {"_subtract", calculation(subtracted, runtime.Subtract), new(func(any, any) any)},
	"*":  {"_multiply", calculation(multiplied, runtime.Multiply), new(func(any, any) any)},
	"%":  {"_modulo", modulo, new(func(any, any) int)},
	"/":  {"_divide", divide, new(func(any, any) float64)},
	"**": {"_power", power, new(func(any, any) float64)},
	"^":  {"_power", power, new(func(any, any) float64)},
}

// comparisons are the operators that compare.
var comparisons = map[string]function{
	"==": {"_equal", func(args ...any) (any, error) { return equal(args[0], args[1]), nil }, new(func(any, any) bool)},
	"!=": {"_unequal", func(args ...any) (any, error) { return !equal(args[0], args[1]), nil }, new(func(any, any) bool)},
	"<":  {"_less", ordering(func(order int) bool { return order < 0 }, runtime.Less), new(func(any, any) bool)},
	"<=": {"_lessOrEqual", ordering(func(order int) bool { return order <= 0 }, runtime.LessOrEqual), new(func(any, any) bool)},
	">":  {"_more", ordering(func(order int) bool { return order > 0 }, runtime.More), new(func(any, any) bool)},
	">=": {"_moreOrEqual", ordering(func(order int) bool { return order >= 0 }, runtime.MoreOrEqual), new(func(any, any) bool)},
	"in": {"_in", in, new(func(any, any) bool)},
}

// converted makes numbers of Go of what functions of the language are given; grouped one key of those that are equal.
var (
	converted = function{"_number", func(args ...any) (any, error) { return native(args[0]), nil }, new(func(any) any)}
	grouped   = function{"_group", func(args ...any) (any, error) { return canonical(args[0]), nil }, new(func(any) any)}
)

// replacing are functions that take the place of some of the language which lose what was written.
var replacing = []function{
	{"string", toString, new(func(any) string)},
	{"fromJSON", fromJSON, new(func(string) any)},
	{"uniq", unique, new(func(any) []any)},
}

// passing are functions of the language that compute nothing with a number: they are of texts, or pass on what lists
// and maps hold.
var passing = []string{
	"all", "none", "any", "one", "filter", "map", "find", "findIndex", "findLast", "findLastIndex", "count", "reduce",
	"trim", "trimPrefix", "trimSuffix", "upper", "lower", "split", "splitAfter", "hasPrefix", "hasSuffix", "toBase64", "fromBase64",
	"first", "last", "keys", "values", "toPairs", "fromPairs", "reverse", "concat", "flatten", "toJSON",
}

func numberFunctions() (options []expr.Option) {
	all := append(slices.Clone(replacing), converted, grouped)
	for _, operators := range []map[string]function{arithmetic, comparisons} {
		for operator, f := range operators {
			if operator != "^" { // which is **
				all = append(all, f)
			}
		}
	}
	for _, f := range all {
		options = append(options, expr.Function(f.name, f.call, f.typ))
	}
	return options
}

// exact puts operators that know json.Number in the place of those of the language.
type exact struct{}

func (exact) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		exactOperator(node, n)
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			convert(&n.Node, converted)
		}
	case *ast.MemberNode:
		convert(&n.Property, converted)
	case *ast.SliceNode:
		for _, bound := range []*ast.Node{&n.From, &n.To} {
			if *bound != nil {
				convert(bound, converted)
			}
		}
	case *ast.BuiltinNode:
		exactFunction(n)
	}
}

func exactOperator(node *ast.Node, n *ast.BinaryNode) {
	f, computes := arithmetic[n.Operator]
	if !computes {
		f, computes = comparisons[n.Operator]
	}
	switch {
	case n.Operator == "..":
		convert(&n.Left, converted)
		convert(&n.Right, converted)
	case computes && mayBeNumber(n.Left) && (mayBeNumber(n.Right) || n.Operator == "in" && !isTexts(n.Right)) && (mayHoldAny(n.Left) || mayHoldAny(n.Right)):
		replaceBy(node, f, n.Left, n.Right)
	}
}

func exactFunction(n *ast.BuiltinNode) {
	for i := range n.Arguments {
		argument := &n.Arguments[i]
		predicate, isPredicate := (*argument).(*ast.PredicateNode)
		switch {
		case n.Name == "groupBy" && isPredicate:
			convert(&predicate.Node, grouped)
		case slices.Contains(passing, n.Name), (n.Name == "get" || n.Name == "take") && i == 0:
		case isPredicate:
			convert(&predicate.Node, converted)
		default:
			convert(argument, converted)
		}
	}
}

// convert has an operand converted that may be a json.Number, or a list of them.
func convert(node *ast.Node, by function) {
	if mayHoldAny(*node) {
		replaceBy(node, by, *node)
	}
}

func replaceBy(node *ast.Node, f function, arguments ...ast.Node) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: f.name}, Arguments: arguments})
	(*node).SetType(reflect.TypeOf(f.typ).Elem().Out(0))
}

// isUnknown reports whether values of any type may come.
func isUnknown(node ast.Node) bool {
	t := node.Type()
	return t == nil || t.Kind() == reflect.Interface
}

// mayHoldAny is isUnknown, but of lists and maps for what is in them.
func mayHoldAny(node ast.Node) bool {
	if isUnknown(node) {
		return true
	}
	kind := node.Type().Kind()
	return (kind == reflect.Slice || kind == reflect.Map) && node.Type().Elem().Kind() == reflect.Interface
}

func mayBeNumber(node ast.Node) bool {
	if isUnknown(node) {
		return true
	}
	switch node.Type().Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}

// isTexts reports whether a list is written out, and of texts alone.
func isTexts(list ast.Node) bool {
	array, ok := list.(*ast.ArrayNode)
	return ok && !slices.ContainsFunc(array.Nodes, func(n ast.Node) bool { _, isText := n.(*ast.StringNode); return !isText })
}

// native returns a number as one of Go: an int if it is whole and fits, otherwise the float64 that is nearest. Those
// of a list are converted in a copy.
func native(v any) any {
	switch n := v.(type) {
	case json.Number:
		if whole, ok := number.Whole(n); ok {
			return int(whole)
		}
		if f, ok := number.Float(n); ok {
			return f
		}
	case []any:
		if slices.ContainsFunc(n, isText) {
			return mapped(n, native)
		}
	}
	return v
}

func isText(v any) bool {
	_, is := v.(json.Number)
	return is
}

func mapped(list []any, f func(any) any) []any {
	all := make([]any, len(list))
	for i := range list {
		all[i] = f(list[i])
	}
	return all
}

// canonical returns a value in which numbers that are equal are the same.
func canonical(v any) any {
	switch v := v.(type) {
	case float64, bool, string:
		return v
	case json.Number:
		key, ok := number.Key(v)
		if n, err := number.Of(key); ok && err == nil {
			return n
		}
	case []any:
		return mapped(v, canonical)
	case map[string]any:
		all := make(map[string]any, len(v))
		for name := range v {
			all[name] = canonical(v[name])
		}
		return all
	}
	return v
}

// calculation computes with whole numbers as long as the result is one that fits, and otherwise as the language does.
func calculation(whole func(a, b int64) (int64, bool), real func(a, b any) any) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		a, aIsWhole := number.Whole(args[0])
		b, bIsWhole := number.Whole(args[1])
		if aIsWhole && bIsWhole {
			if result, fits := whole(a, b); fits {
				return wholeResult(result, args[0], args[1]), nil
			}
			return real(float64(a), float64(b)), nil
		}
		return real(native(args[0]), native(args[1])), nil
	}
}

// wholeResult is a float64, as the numbers of records are, if it was made of one and is exact.
func wholeResult(n int64, a, b any) any {
	_, aIsFloat := a.(float64)
	_, bIsFloat := b.(float64)
	if f := float64(n); (aIsFloat || bIsFloat) && math.Abs(f) < 1<<53 {
		return f
	}
	return int(n)
}

func added(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum > a) == (b > 0)
}

func subtracted(a, b int64) (int64, bool) {
	difference := a - b
	return difference, (difference < a) == (b > 0)
}

func multiplied(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(low), true
	}
	return int64(low), true
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

var sum = calculation(added, runtime.Add)

func modulo(args ...any) (any, error) {
	a, aIsWhole := number.Whole(args[0])
	b, bIsWhole := number.Whole(args[1])
	switch {
	case aIsWhole && bIsWhole && b == 0:
		return nil, errors.New("integer divide by zero")
	case aIsWhole && bIsWhole:
		return int(a % b), nil
	}
	return runtime.Modulo(native(args[0]), native(args[1])), nil
}

func divide(args ...any) (any, error) { return runtime.Divide(native(args[0]), native(args[1])), nil }
func power(args ...any) (any, error)  { return runtime.Exponent(native(args[0]), native(args[1])), nil }

// equal compares numbers by what they stand for, in lists and maps as well.
func equal(a, b any) bool {
	if order, areNumbers := number.Compare(a, b); areNumbers {
		return order == 0
	}
	switch x := a.(type) {
	case []any:
		if y, ok := b.([]any); ok {
			return slices.EqualFunc(x, y, equal)
		}
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return equalMaps(x, y)
		}
	}
	return runtime.Equal(native(a), native(b))
}

func equalMaps(a, b map[string]any) bool {
	for name := range a {
		if other, ok := b[name]; !ok || !equal(a[name], other) {
			return false
		}
	}
	return len(a) == len(b)
}

// ordering compares numbers by what they stand for, and anything else as the language does.
func ordering(holds func(order int) bool, others func(a, b any) bool) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		if order, areNumbers := number.Compare(args[0], args[1]); areNumbers {
			return holds(order), nil
		}
		return others(native(args[0]), native(args[1])), nil
	}
}

func in(args ...any) (any, error) {
	if list, ok := args[1].([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool { return equal(v, args[0]) }), nil
	}
	return runtime.In(native(args[0]), args[1]), nil
}

func fromJSON(args ...any) (any, error) {
	var v any
	err := recordjson.Unmarshal([]byte(args[0].(string)), &v)
	return v, err
}

// unique leaves out what is equal to an element before.
func unique(args ...any) (any, error) {
	list, ok := args[0].([]any)
	if !ok {
		var err error
		if list, err = listOf(args[0]); err != nil {
			return nil, err
		}
	}
	all := []any{}
	for _, v := range list {
		if !slices.ContainsFunc(all, func(before any) bool { return equal(before, v) }) {
			all = append(all, v)
		}
	}
	return all, nil
}

// listOf makes a list of any values of one of a type.
func listOf(v any) ([]any, error) {
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return nil, fmt.Errorf("a %T is no list", v)
	}
	all := make([]any, list.Len())
	for i := range all {
		all[i] = list.Index(i).Interface()
	}
	return all, nil
}

// written writes a number as JSON has it.
func written(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	return string(number.Append(nil, f))
}

// toString is the function string: numbers are written as in JSON, and anything else as in the language.
func toString(args ...any) (any, error) {
	if f, ok := args[0].(float64); ok {
		return written(f), nil
	}
	return fmt.Sprint(args[0]), nil
}
