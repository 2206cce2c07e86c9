package value

import (
	"cmp"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// unordered is what a comparison with NaN gives.
const unordered = 2

// Compare compares two terms by =, !=, <, <=, > or >= (section 17.3).
func Compare(op string, a, b webrace.Term) (bool, error) {
	c, ok := compareSmall(a, b)
	if !ok {
		var p, q parsed
		parse(a, &p)
		parse(b, &q)
		var err error
		if op == "=" || op == "!=" {
			c, err = equal(&p, &q, a == b)
		} else {
			c, err = less(&p, &q)
		}
		if err != nil {
			return false, err
		}
	}
	switch op {
	case "=":
		return c == 0, nil
	case "!=":
		return c != 0, nil
	case "<":
		return c == -1, nil
	case "<=":
		return c == -1 || c == 0, nil
	case ">":
		return c == 1, nil
	case ">=":
		return c == 1 || c == 0, nil
	}
	panic("value: no operator " + op)
}

// equal returns zero for equal values.
func equal(p, q *parsed, same bool) (int, error) {
	switch {
	case p.kind == unbound || q.kind == unbound:
		return 0, ErrType
	case p.numeric() && q.numeric():
		return compareNumbers(p, q), nil // NaN is not equal to itself
	case same:
		return 0, nil
	case p.kind < integer || q.kind < integer: // one of them is no literal
		return 1, nil
	case p.kind == langText || q.kind == langText:
		return 1, nil // a text with a language is no value of any other datatype, and this is not the same one
	case p.kind >= illTyped || q.kind >= illTyped:
		return 0, ErrType
	case p.kind >= duration && q.kind >= duration: // of any of the three types
		return p.span.compare(q.span), nil
	case p.kind != q.kind:
		return 1, nil
	default:
		return less(p, q)
	}
}

// less returns -1, 0, 1 or unordered for values of types that have an order.
func less(p, q *parsed) (int, error) {
	switch {
	case p.numeric() && q.numeric():
		return compareNumbers(p, q), nil
	case p.kind != q.kind:
		return 0, ErrType
	case p.kind == text:
		return strings.Compare(p.text, q.text), nil
	case p.kind == boolean:
		return compareBooleans(p.set, q.set), nil
	case p.kind >= dateTime && p.kind <= gDay:
		return p.at.compare(q.at), nil
	case p.kind == yearMonthDuration || p.kind == dayTimeDuration:
		return p.span.compare(q.span), nil
	default:
		return 0, ErrType
	}
}

func compareBooleans(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// compareNumbers compares numbers as the type that both can be promoted to.
func compareNumbers(p, q *parsed) int {
	k := max(p.kind, q.kind)
	if k <= decimal {
		return p.num.compare(q.num)
	}
	a, b := p.promoted(k), q.promoted(k)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	default:
		return unordered
	}
}

// promoted returns a number as a float or double.
func (p *parsed) promoted(to kind) float64 {
	if p.kind >= float {
		return p.real
	}
	if to == float {
		return p.num.float(32)
	}
	return p.num.float(64)
}

// Order compares two terms as ORDER BY does (section 15.1): the unbound, blank nodes, IRIs, literals. It is a total
// order of values: zero means that they are equal, or the same term. Where < holds, Order is -1. Numbers of different
// types are not rounded for it, as for <, since that is not transitive; NaN is before them. Literals come by type
// (numbers, texts, booleans, dateTimes, dates, times, then what else is known, and what is not by its datatype), texts
// with and without a language in one order.
func Order(a, b webrace.Term) int {
	if a == b {
		return 0
	}
	if c, ok := compareSmall(a, b); ok {
		return c
	}
	var p, q parsed
	parse(a, &p)
	parse(b, &q)
	if c := cmp.Compare(class(p.kind), class(q.kind)); c != 0 {
		return c
	}
	switch class(p.kind) {
	case iri: // as texts, and not as terms, in which the bracket behind one that is shorter would count
		return strings.Compare(rdf.Value(a), rdf.Value(b))
	case integer:
		return orderNumbers(&p, &q)
	case boolean:
		return compareBooleans(p.set, q.set)
	case dateTime, date, timeOfDay, gYear, gYearMonth, gMonth, gMonthDay, gDay:
		return p.at.compare(q.at)
	case duration:
		return p.span.compare(q.span)
	case text:
		return cmp.Or(strings.Compare(p.text, q.text), strings.Compare(p.tag, q.tag))
	default:
		return cmp.Or(strings.Compare(p.tag, q.tag), strings.Compare(p.text, q.text))
	}
}

// class returns the first of the kinds that are ordered among each other.
func class(k kind) kind {
	switch {
	case k >= integer && k <= double:
		return integer
	case k == langText:
		return text
	case k == yearMonthDuration || k == dayTimeDuration:
		return duration
	case k == unknown:
		return illTyped
	}
	return k
}

// orderNumbers compares numbers without rounding.
func orderNumbers(p, q *parsed) int {
	switch {
	case p.kind <= decimal && q.kind <= decimal:
		return p.num.compare(q.num)
	case p.kind >= float && q.kind >= float:
		return cmp.Compare(p.real, q.real)
	case p.kind <= decimal:
		if q.real != q.real {
			return 1
		}
		return compareExactly(p.num, q.real)
	default:
		return -orderNumbers(q, p)
	}
}
