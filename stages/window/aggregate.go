package window

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/number"
)

// aggregate is one field of the record of a window: what is computed, and of what.
type aggregate struct {
	name     string
	function string
	of       *expression.Program // nil: of count, which then counts all
}

var functions = []string{"count", "sum", "mean", "min", "max", "first", "last", "collect"}

// computing are those of them that need numbers, or what has an order.
var computing = []string{"sum", "mean", "min", "max"}

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

// errNothing is the error of an item that has nothing of what is to be summed.
var errNothing = errors.New("the item has no such field, or it is null")

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
	_, isNumber := float(value)
	_, isText := value.(string)
	_, isBool := value.(bool)
	switch {
	case value == nil && slices.Contains(computing, a.function):
		return nil, errNothing
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
	whole int64   // the sum of the whole numbers, as long as it fits
	real  float64 // the sum of the others
	reals bool    // there are others
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
		acc.sum(value)
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

// sum adds a number, exactly if it is whole.
func (acc *accumulator) sum(value any) {
	if n, whole := number.Whole(value); whole {
		if sum := acc.whole + n; (sum > acc.whole) == (n > 0) {
			acc.whole = sum
			return
		}
	}
	f, _ := float(value)
	acc.real += f
	acc.reals = true
}

func (acc *accumulator) result(function string) any {
	switch function {
	case "count":
		return acc.n
	case "sum":
		if acc.reals {
			return acc.real + float64(acc.whole)
		}
		return int(acc.whole)
	case "mean":
		return (acc.real + float64(acc.whole)) / float64(acc.n)
	case "collect":
		return acc.list
	}
	return acc.value
}

// float returns the value of a number, or a duration in seconds.
func float(v any) (float64, bool) {
	if d, ok := v.(time.Duration); ok {
		return d.Seconds(), true
	}
	return number.Float(v)
}

// compare orders numbers, and behind them texts.
func compare(a, b any) int {
	if order, ok := number.Compare(a, b); ok {
		return order
	}
	x, xIsNumber := float(a)
	y, yIsNumber := float(b)
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
