package value

import (
	"math/big"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// casts are the constructor functions of section 17.5, and those of XPath for dates, times of day and durations. A text
// may have white space around it, as in XPath.
var casts = map[string]func(*parsed) (webrace.Term, error){
	rdf.XSDBoolean: castBoolean,
	rdf.XSDInteger: castInteger,
	rdf.XSDDecimal: castDecimal,
	xsdFloat:       func(p *parsed) (webrace.Term, error) { return castFloat(p, float) },
	rdf.XSDDouble:  func(p *parsed) (webrace.Term, error) { return castFloat(p, double) },
	rdf.XSDString:  castString,
	xsdDateTime:    func(p *parsed) (webrace.Term, error) { return castMoment(p, dateTime, parseDateTime) },

	rdf.XSD + "date":              func(p *parsed) (webrace.Term, error) { return castMoment(p, date, parseDate) },
	rdf.XSD + "time":              func(p *parsed) (webrace.Term, error) { return castMoment(p, timeOfDay, parseTimeOfDay) },
	rdf.XSD + "duration":          func(p *parsed) (webrace.Term, error) { return castDuration(p, "duration") },
	rdf.XSD + "yearMonthDuration": func(p *parsed) (webrace.Term, error) { return castDuration(p, "yearMonthDuration") },
	rdf.XSD + "dayTimeDuration":   func(p *parsed) (webrace.Term, error) { return castDuration(p, "dayTimeDuration") },
}

// trimmed is a text as the lexical form of another type.
func (p *parsed) trimmed() string { return strings.Trim(p.text, " \t\n\r") }

func castBoolean(p *parsed) (webrace.Term, error) {
	set, ok := p.set, true
	switch p.kind {
	case boolean:
	case text:
		set, ok = parseBoolean(p.trimmed())
	case integer, decimal:
		set = p.num.sign() != 0
	case float, double:
		set = p.real != 0 && p.real == p.real
	default:
		ok = false
	}
	if !ok {
		return "", ErrType
	}
	return Of(set), nil
}

func castInteger(p *parsed) (webrace.Term, error) {
	n, ok := p.num, true
	switch p.kind {
	case integer:
	case decimal:
		n = n.round(toZero)
	case float, double:
		whole := new(big.Int)
		if ok = p.real-p.real == 0; ok { // neither infinite nor NaN
			new(big.Float).SetFloat64(p.real).Int(whole)
		}
		n = number{big: whole}.normal()
	case text:
		n, ok = parseInteger(p.trimmed())
	case boolean:
		n = one(p.set)
	default:
		ok = false
	}
	if !ok {
		return "", ErrType
	}
	return n.integer(), nil
}

func one(set bool) number {
	if set {
		return number{n: 1}
	}
	return number{}
}

// castDecimal gives, of a number of floating point, the decimal with the fewest digits that is cast back to it: 0.1 for
// 1.0E-1, where the exact one has 55 digits.
func castDecimal(p *parsed) (webrace.Term, error) {
	n, ok := p.num, true
	switch p.kind {
	case integer, decimal:
	case float:
		n, ok = decimalOf(p.real, 32)
	case double:
		n, ok = decimalOf(p.real, 64)
	case text:
		n, ok = parseDecimal(p.trimmed())
	case boolean:
		n = one(p.set)
	default:
		ok = false
	}
	if !ok {
		return "", ErrType
	}
	return n.decimal(), nil
}

func castFloat(p *parsed, to kind) (webrace.Term, error) {
	f, ok, bitSize, datatype := p.real, true, 64, rdf.XSDDouble
	if to == float {
		bitSize, datatype = 32, xsdFloat
	}
	switch p.kind {
	case float, double:
	case integer, decimal:
		f = p.promoted(to)
	case text:
		f, ok = parseFloat(p.trimmed(), bitSize)
	case boolean:
		f = one(p.set).float(bitSize)
	default:
		ok = false
	}
	if !ok {
		return "", ErrType
	}
	if to == float {
		f = float64(float32(f))
	}
	return realTerm(f, bitSize, datatype), nil
}

// castString gives the canonical text of a value; STR gives what is written.
func castString(p *parsed) (webrace.Term, error) {
	b := append(make([]byte, 0, 64), '"')
	switch p.kind {
	case iri:
		return rdf.NewString(rdf.Value(webrace.Term(p.text))), nil
	case text:
		return rdf.NewString(p.text), nil
	case integer, decimal:
		b = p.num.append(b, false)
	case float:
		b = appendFloatText(b, p.real, 32)
	case double:
		b = appendFloatText(b, p.real, 64)
	case boolean:
		b = append(b, Of(p.set)[1:]...)
		b = b[:strings.IndexByte(string(b[1:]), '"')+1]
	case dateTime:
		b = p.at.appendDateTime(b)
	default:
		if p.kind < dateTime || p.kind >= illTyped {
			return "", ErrType
		}
		b = append(b, p.text...) // dates, times and durations are as they are written
	}
	return webrace.Term(append(b, '"')), nil
}

// castMoment gives a date, a time of day, or both: of a dateTime the part that is asked for, of a date its midnight.
func castMoment(p *parsed, to kind, parse func(string) (moment, bool)) (webrace.Term, error) {
	at, ok := p.at, p.kind == to || p.kind == dateTime || p.kind == date && to == dateTime
	switch {
	case p.kind == text:
		at, ok = parse(p.trimmed())
	case to == date:
		at.local, at.nanos = at.local-at.clock(), 0
	}
	if !ok {
		return "", ErrType
	}
	return at.term(to), nil
}

// castDuration gives a duration: of another one the months or the seconds, if the type has only them.
func castDuration(p *parsed, name string) (webrace.Term, error) {
	to, d, ok := parseDuration(name, p.trimmed())
	if p.lasting() {
		d, ok = p.span, true
	} else if p.kind != text {
		ok = false
	}
	if !ok {
		return "", ErrType
	}
	switch to {
	case yearMonthDuration:
		d.seconds, d.nanos = 0, 0
	case dayTimeDuration:
		d.months = 0
	}
	return d.term(to)
}
