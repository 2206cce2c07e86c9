package value

import (
	"strconv"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Arithmetic on dates, times and durations, as XPath has it (XPath and XQuery Functions and Operators 3.1, sections 8.4
// and 9.7), which SPARQL 1.1 leaves to whoever extends its operators. What has no timezone is in UTC.

func (p *parsed) instant() bool { return p.kind >= dateTime && p.kind <= timeOfDay }

func (p *parsed) lasting() bool { return p.kind >= duration && p.kind <= dayTimeDuration }

// ordered reports whether it is a duration of one of the types whose values can be counted: months, or seconds.
func (p *parsed) ordered() bool { return p.kind == yearMonthDuration || p.kind == dayTimeDuration }

// computeTime computes with two operands of which one at least is no number.
func computeTime(op byte, p, q *parsed) (webrace.Term, error) {
	switch {
	case op == '+' && p.lasting() && q.instant():
		return q.later(&p.span)
	case op == '+' && p.instant() && q.lasting():
		return p.later(&q.span)
	case op == '-' && p.instant() && q.lasting():
		back := q.span.negative()
		return p.later(&back)
	case op == '-' && p.instant() && p.kind == q.kind:
		return (&span{seconds: p.at.utc() - q.at.utc(), nanos: p.at.nanos - q.at.nanos}).normal().term(dayTimeDuration)
	case p.ordered() && p.kind == q.kind:
		return p.computeDuration(op, q)
	case op == '*' && p.numeric() && q.ordered():
		p, q = q, p
		fallthrough
	case (op == '*' || op == '/') && p.ordered() && q.numeric():
		return p.scaled(op, q)
	}
	return "", ErrType
}

func (p *parsed) computeDuration(op byte, q *parsed) (webrace.Term, error) {
	switch op {
	case '+':
		return p.span.add(q.span).term(p.kind)
	case '-':
		return p.span.add(q.span.negative()).term(p.kind)
	case '/':
		n, err := p.span.count(p.kind).divide(q.span.count(q.kind))
		if err != nil {
			return "", err
		}
		return n.decimal(), nil
	}
	return "", ErrType
}

// scaled multiplies or divides a duration by a number. Months are rounded to whole ones, half up, and seconds to
// billionths.
func (p *parsed) scaled(op byte, by *parsed) (webrace.Term, error) {
	n, ok := by.num, true
	switch by.kind {
	case float:
		n, ok = decimalOf(by.real, 32)
	case double:
		n, ok = decimalOf(by.real, 64)
	}
	if !ok {
		return "", ErrType
	}
	compute := number.multiply
	if op == '/' {
		compute = number.divide
	}
	count, err := compute(p.span.count(p.kind), n)
	if err != nil {
		return "", err
	}
	result, ok := spanOf(count, p.kind)
	if !ok {
		return "", ErrType
	}
	return result.term(p.kind)
}

// later returns the moment that is a duration after another, by its own clock: months are added first, and a day that
// a month does not have becomes its last (XML Schema 1.1 Datatypes, appendix E.3.3). Of a time of day only seconds are
// added, which go around the clock.
func (p *parsed) later(d *span) (webrace.Term, error) {
	m := p.at
	if p.kind == timeOfDay && d.months != 0 {
		return "", ErrType
	}
	if d.months != 0 {
		year, month, day := m.date()
		months := year*12 + month - 1 + d.months
		year, month = floorDiv(months, 12), months-floorDiv(months, 12)*12+1
		m.local = daysSince1970(year, month, min(day, daysOf(year, month)))*secondsOfDay + m.clock()
	}
	sum := span{seconds: m.local, nanos: m.nanos}.add(span{seconds: d.seconds, nanos: d.nanos})
	if sum.nanos < 0 {
		sum.seconds, sum.nanos = sum.seconds-1, sum.nanos+billion
	}
	m.local, m.nanos = sum.seconds, sum.nanos
	if year, _, _ := m.date(); year <= -powers[maxYearDigits] || year >= powers[maxYearDigits] {
		return "", ErrType
	}
	return m.term(p.kind), nil
}

// term returns the canonical literal of a date or a time.
func (m moment) term(k kind) webrace.Term {
	var buffer [96]byte
	b := append(buffer[:0], '"')
	switch k {
	case date:
		return webrace.Term(typed(m.appendZone(m.appendDate(b)), rdf.XSD+"date"))
	case timeOfDay:
		return webrace.Term(typed(m.appendZone(m.appendClock(b)), rdf.XSD+"time"))
	}
	return webrace.Term(typed(m.appendDateTime(b), xsdDateTime))
}

const billion = 1e9

// maxSeconds and maxMonths keep sums within an int64, and what is written what can be read.
const (
	maxSeconds = 1e11 * secondsOfDay
	maxMonths  = 1e11 * 12
)

func (d span) negative() span { return span{-d.months, -d.seconds, -d.nanos} }

func (d span) add(o span) span {
	return span{d.months + o.months, d.seconds + o.seconds, d.nanos + o.nanos}.normal()
}

// normal returns a duration whose billionths are less than a second, with the sign of the seconds.
func (d span) normal() span {
	total := d.seconds + int64(d.nanos)/billion
	rest := d.nanos % billion
	switch {
	case total > 0 && rest < 0:
		total, rest = total-1, rest+billion
	case total < 0 && rest > 0:
		total, rest = total+1, rest-billion
	}
	d.seconds, d.nanos = total, rest
	return d
}

// count returns the months of a duration, or its seconds.
func (d span) count(k kind) number {
	if k == yearMonthDuration {
		return number{n: d.months}
	}
	n, _ := number{n: d.seconds}.add(number{n: int64(d.nanos), scale: 9})
	return n
}

// spanOf is the inverse of count; ok is false for one that is too long.
func spanOf(n number, k kind) (d span, ok bool) {
	if k == yearMonthDuration {
		n = n.round(nearest)
		return span{months: n.n}, n.big == nil
	}
	whole := n.round(toZero)
	rest, err := n.add(whole.negative())
	if err == nil {
		rest, err = rest.multiply(number{n: billion})
	}
	nanos := rest.round(nearest)
	d = span{seconds: whole.n, nanos: int32(nanos.n % billion)}
	if magnitude(nanos.n) == billion {
		d.seconds += nanos.n / billion
	}
	return d.normal(), err == nil && whole.big == nil
}

// term returns the canonical literal of a duration, unless it is too long.
func (d span) term(k kind) (webrace.Term, error) {
	if magnitude(d.months) >= maxMonths || magnitude(d.seconds) >= maxSeconds {
		return "", ErrType
	}
	var buffer [128]byte
	name := "duration"
	switch k {
	case yearMonthDuration:
		name = "yearMonthDuration"
	case dayTimeDuration:
		name = "dayTimeDuration"
	}
	return webrace.Term(typed(d.append(append(buffer[:0], '"'), k), rdf.XSD+name)), nil
}

// append appends the canonical form: P1Y2M, -P3DT4H5M6.7S; P0M, and PT0S for what has no months.
func (d span) append(b []byte, k kind) []byte {
	if d.months < 0 || d.seconds < 0 || d.nanos < 0 {
		b = append(b, '-')
		d = d.negative()
	}
	b = append(b, 'P')
	b = appendPart(b, d.months/12, 'Y')
	b = appendPart(b, d.months%12, 'M')
	b = appendPart(b, d.seconds/secondsOfDay, 'D')
	if clock := d.seconds % secondsOfDay; clock != 0 || d.nanos != 0 {
		b = append(b, 'T')
		b = appendPart(b, clock/3600, 'H')
		b = appendPart(b, clock/60%60, 'M')
		if d.nanos != 0 {
			b = append(strconv.AppendInt(b, clock%60, 10), '.')
			return append(appendFraction(b, d.nanos), 'S')
		}
		return appendPart(b, clock%60, 'S')
	}
	switch {
	case b[len(b)-1] != 'P':
		return b
	case k == yearMonthDuration:
		return append(b, "0M"...)
	}
	return append(b, "T0S"...)
}

func appendPart(b []byte, n int64, unit byte) []byte {
	if n == 0 {
		return b
	}
	return append(strconv.AppendInt(b, n, 10), unit)
}
