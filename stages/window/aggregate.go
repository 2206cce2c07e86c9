package window

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
)

// aggregate is one field of the record of a window: what is computed, and of what.
type aggregate struct {
	name     string
	function string
	of       *expression.Program // nil: of count, which then counts all
}

var functions = []string{"count", "sum", "mean", "min", "max", "first", "last", "collect"}

// reserved are the fields that every record of a window has.
var reserved = []string{"key", "from", "to", "closed"}

// parseAggregates reads what the options ask for, sorted by name.
func parseAggregates(options map[string]string) ([]aggregate, error) {
	var all []aggregate
	for _, name := range slices.Sorted(maps.Keys(options)) {
		a, err := parseAggregate(name, options[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, a)
	}
	return all, nil
}

func parseAggregate(name, text string) (a aggregate, err error) {
	function, of, _ := strings.Cut(strings.TrimSpace(text), " ")
	a = aggregate{name: name, function: function}
	of = strings.TrimSpace(of)
	switch {
	case slices.Contains(reserved, name):
		return a, fmt.Errorf("every record of a window has a field of that name")
	case !slices.Contains(functions, function):
		err = fmt.Errorf("there is no function %q, only %s", function, strings.Join(functions, ", "))
		if near := suggest.Nearest(function, functions); near != "" {
			err = fmt.Errorf("there is no function %q (did you mean %s?)", function, near)
		}
		return a, err
	case of == "" && function != "count":
		return a, fmt.Errorf(`%s of what? Write an expression behind it: "%s len(body)"`, function, function)
	case of == "":
		return a, nil
	case function == "count":
		a.of, err = expression.CompileBool(of)
	default:
		a.of, err = expression.Compile(of)
	}
	return a, err
}

// argument evaluates what is to be added for an item. An item that has none is an error, before anything is
// added.
func (a aggregate) argument(it *pipeline.Item) (any, error) {
	if a.of == nil {
		return true, nil
	}
	value, err := a.of.Value(it.Value, it.Meta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	if t, ok := value.(time.Time); ok {
		value = t.UTC().Format(time.RFC3339Nano)
	}
	_, isNumber := number(value)
	_, isText := value.(string)
	_, isBool := value.(bool)
	switch {
	case a.function == "count" && !isBool:
		err = fmt.Errorf("count counts where a condition holds, not %T", value)
	case (a.function == "sum" || a.function == "mean") && !isNumber:
		err = fmt.Errorf("%s is of numbers, not of %T", a.function, value)
	case (a.function == "min" || a.function == "max") && !isNumber && !isText:
		err = fmt.Errorf("%s is of numbers and texts, not of %T", a.function, value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	return value, nil
}

// accumulator is what an aggregate has come to in one window.
type accumulator struct {
	n     int
	whole int     // the sum of the integers
	real  float64 // the sum of the other numbers
	reals bool
	value any
	list  []any
}

func (acc *accumulator) add(function string, value any) {
	acc.n++
	switch function {
	case "count":
		if value != true {
			acc.n--
		}
	case "sum", "mean":
		if whole, ok := value.(int); ok {
			acc.whole += whole
			return
		}
		f, _ := number(value)
		acc.real += f
		acc.reals = true
	case "min":
		if acc.n == 1 || compare(value, acc.value) < 0 {
			acc.value = value
		}
	case "max":
		if acc.n == 1 || compare(value, acc.value) > 0 {
			acc.value = value
		}
	case "first":
		if acc.n == 1 {
			acc.value = value
		}
	case "last":
		acc.value = value
	case "collect":
		acc.list = append(acc.list, value)
	}
}

func (acc *accumulator) result(function string) any {
	switch function {
	case "count":
		return acc.n
	case "sum":
		if acc.reals {
			return acc.real + float64(acc.whole)
		}
		return acc.whole
	case "mean":
		return (acc.real + float64(acc.whole)) / float64(acc.n)
	case "collect":
		return acc.list
	}
	return acc.value
}

// number returns the value of a number.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	case time.Duration:
		return n.Seconds(), true
	}
	return 0, false
}

// compare orders numbers, and behind them texts.
func compare(a, b any) int {
	x, xIsNumber := number(a)
	y, yIsNumber := number(b)
	switch {
	case xIsNumber && yIsNumber:
		return cmp.Compare(x, y)
	case xIsNumber:
		return -1
	case yIsNumber:
		return 1
	}
	return strings.Compare(a.(string), b.(string))
}
