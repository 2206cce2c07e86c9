package xpath

import (
	"math"
	"strconv"
	"strings"
)

// ParseNumber is the function number of a string.
func ParseNumber(s string) float64 {
	s = strings.Trim(s, space)
	digits := strings.TrimPrefix(s, "-")
	if strings.Trim(digits, "0123456789.") != "" || strings.Count(digits, ".") > 1 {
		return math.NaN()
	}
	number, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(number, 0) { // it is nothing but a sign or a point
		return math.NaN()
	}
	return number
}

// space is what XML takes for white space.
const space = " \t\r\n"

// FormatNumber is the function string of a number.
func FormatNumber(n float64) string {
	switch {
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case n == 0: // of either sign
		return "0"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

func numberOf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// mirrored are the operators that mean the same once their operands have changed places.
var mirrored = map[op]op{
	opEqual: opEqual, opUnequal: opUnequal, opLess: opGreater, opLessEqual: opGreaterEqual, opGreater: opLess, opGreaterEqual: opLessEqual,
}

// holds compares two numbers.
func (o op) holds(a, b float64) bool {
	switch o {
	case opEqual:
		return a == b
	case opUnequal:
		return a != b
	case opLess:
		return a < b
	case opLessEqual:
		return a <= b
	case opGreater:
		return a > b
	}
	return a >= b
}

// compare compares as XPath 1.0 requires in section 3.4: sets of nodes by any of them.
func (e *evaluation) compare(x *expr, f focus) bool {
	o, a, b := x.op, x.args[0], x.args[1]
	if a.typ != NodeSet && b.typ == NodeSet {
		o, a, b = mirrored[o], b, a
	}
	equality := o == opEqual || o == opUnequal
	switch {
	case a.typ == NodeSet && b.typ == NodeSet:
		return e.compareSets(o, a, b, f)
	case a.typ == NodeSet && b.typ != Boolean:
		if text := e.string(b, f); b.typ == String && equality {
			return e.some(a, f, func(n Node) bool { return (e.value(n) == text) == (o == opEqual) })
		}
		number := e.numeric(b, f)
		return e.some(a, f, func(n Node) bool { return o.holds(ParseNumber(e.value(n)), number) })
	case a.typ == NodeSet, equality && (a.typ == Boolean || b.typ == Boolean):
		return o.holds(numberOf(e.boolean(a, f)), numberOf(e.boolean(b, f)))
	case equality && a.typ == String && b.typ == String:
		return (e.string(a, f) == e.string(b, f)) == (o == opEqual)
	}
	return o.holds(e.numeric(a, f), e.numeric(b, f))
}

// compareSets reports whether two sets have nodes that compare so. It looks at each node once.
func (e *evaluation) compareSets(o op, a, b *expr, f focus) bool {
	switch o {
	case opEqual:
		values := e.values(b, f)
		return e.some(a, f, func(n Node) bool { return values[e.value(n)] })
	case opUnequal:
		values := e.values(b, f)
		return len(values) > 0 && e.some(a, f, func(n Node) bool { return len(values) > 1 || !values[e.value(n)] })
	}
	least, most := e.extremes(a, f)
	lower, upper := e.extremes(b, f)
	if o == opLess || o == opLessEqual {
		return o.holds(least, upper)
	}
	return o.holds(most, lower)
}

// values returns the texts of the nodes that an expression gives.
func (e *evaluation) values(x *expr, f focus) map[string]bool {
	all := make(map[string]bool)
	e.some(x, f, func(n Node) bool {
		value := e.value(n)
		e.budget.Spend(len(value) / keptBytes)
		all[value] = true
		return false
	})
	return all
}

// extremes returns the least and the greatest of the numbers that an expression gives; of none, what nothing is less or
// greater than.
func (e *evaluation) extremes(x *expr, f focus) (least, most float64) {
	least, most = math.NaN(), math.NaN()
	e.some(x, f, func(n Node) bool {
		number := ParseNumber(e.value(n))
		if !(least <= number) && !math.IsNaN(number) {
			least = number
		}
		if !(most >= number) && !math.IsNaN(number) {
			most = number
		}
		return false
	})
	return least, most
}
