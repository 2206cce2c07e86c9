// Package value computes with RDF terms as SPARQL 1.1 does (section 17): operators, the built-in functions, casts,
// aggregates, the effective boolean value and the order of ORDER BY.
//
// A literal of a datatype that is known here has a value: strings, language-tagged strings, booleans, all numbers of
// XML Schema, dates and times, durations. Two such values are equal or not, even of different types ("1" is not 1);
// with a literal of an unknown datatype, or one whose text its datatype does not have ("x"^^xsd:integer), only the same
// term is known to be equal, a text with a language is known not to be, and all else is [ErrType] (RDFterm-equal,
// section 17.4.1.7). Numbers, strings, booleans,
// dates and times of one type have an order; dates and times without a timezone are taken as of UTC (the implicit
// timezone).
//
// Terms are canonical, as the package internal/rdf makes them; the empty term is an unbound variable.
package value

import (
	"errors"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// ErrType is that an operator or function is not defined for its arguments. All errors of this package are those
// of an expression (section 17.2), but for [ErrTooLong] and what Env.Interrupted returns: these end a query.
var ErrType = errors.New("type error: the operator or function is not defined for these arguments")

// Datatypes that the functions return, besides those of the package rdf.
const (
	xsdFloat    = rdf.XSD + "float"
	xsdDateTime = rdf.XSD + "dateTime"
)

// Terms of the two booleans.
const (
	True  webrace.Term = `"true"^^<` + rdf.XSDBoolean + `>`
	False webrace.Term = `"false"^^<` + rdf.XSDBoolean + `>`
)

// Of returns the term of a boolean.
func Of(b bool) webrace.Term {
	if b {
		return True
	}
	return False
}

// kind is what a value is.
type kind uint8

// In the order in which ORDER BY has them. Numbers and texts are one class each: see class.
const (
	unbound kind = iota
	blank
	iri
	integer
	decimal
	float
	double
	text
	langText
	boolean
	dateTime
	date
	timeOfDay
	gYear
	gYearMonth
	gMonth
	gMonthDay
	gDay
	duration
	yearMonthDuration
	dayTimeDuration
	illTyped // its datatype does not have this text
	unknown  // a literal of an unknown datatype
)

// parsed is a term that has been taken apart.
type parsed struct {
	kind kind
	text string  // of an IRI or blank node: the term; of a text: itself; of other literals: the lexical form, as quoted
	tag  string  // the language of langText, the datatype's IRI of other literals but text
	num  number  // of integer and decimal
	real float64 // of float and double
	at   moment  // of dates and times
	span span    // of durations
	set  bool    // of boolean
}

func (p *parsed) numeric() bool { return p.kind >= integer && p.kind <= double }

// parse takes a term apart. It does not allocate but for texts with escapes and for numbers of more than 18 digits.
func parse(t webrace.Term, p *parsed) {
	*p = parsed{text: string(t)}
	switch rdf.KindOf(t) {
	case 0:
	case rdf.IRI:
		p.kind = iri
	case rdf.Blank:
		p.kind = blank
	case rdf.Literal:
		p.parseLiteral(string(t))
	}
}

func (p *parsed) parseLiteral(t string) {
	if lexical, name, ok := cutXSD(t); ok {
		p.text, p.tag = lexical, t[len(t)-1-len(name)-len(rdf.XSD):len(t)-1]
		p.parseTyped(name)
		if p.kind == text { // a string whose datatype is written, which is not canonical
			p.tag = ""
			p.unquote(t)
		}
		return
	}
	end := strings.LastIndexByte(t, '"')
	p.text = t[1:end]
	switch rest := t[end+1:]; {
	case rest == "":
		p.kind = text
		p.unquote(t)
	case rest[0] == '@':
		p.kind, p.tag = langText, rest[1:]
		p.unquote(t)
	default:
		p.kind, p.tag = unknown, rest[len("^^<"):len(rest)-1] // of XML Schema there is no name as long as this one
	}
}

func (p *parsed) unquote(t string) {
	if strings.IndexByte(p.text, '\\') >= 0 {
		p.text = rdf.Value(webrace.Term(t))
	}
}

// parseTyped reads the lexical form of a datatype of XML Schema.
func (p *parsed) parseTyped(name string) {
	ok := false
	switch name {
	case "integer":
		p.kind = integer
		p.num, ok = parseInteger(p.text)
	case "decimal":
		p.kind = decimal
		p.num, ok = parseDecimal(p.text)
	case "double":
		p.kind = double
		p.real, ok = parseFloat(p.text, 64)
	case "float":
		p.kind = float
		p.real, ok = parseFloat(p.text, 32)
	case "boolean":
		p.kind = boolean
		p.set, ok = parseBoolean(p.text)
	case "string":
		p.kind, ok = text, true
	default:
		if limits, derived := integers[name]; derived {
			p.kind = integer
			p.num, ok = parseInteger(p.text)
			ok = ok && limits.hold(p.num)
			break
		}
		if p.kind, ok = p.parseTime(name); p.kind == unknown {
			return
		}
	}
	if !ok {
		p.kind = illTyped
	}
}

func (p *parsed) parseTime(name string) (kind, bool) {
	ok := false
	k := unknown
	switch name {
	case "dateTime":
		k = dateTime
		p.at, ok = parseDateTime(p.text)
	case "dateTimeStamp":
		k = dateTime
		p.at, ok = parseDateTime(p.text)
		ok = ok && p.at.zoned
	case "date":
		k = date
		p.at, ok = parseDate(p.text)
	case "time":
		k = timeOfDay
		p.at, ok = parseTimeOfDay(p.text)
	case "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay":
		k, p.at, ok = parseGregorian(name, p.text)
	case "duration", "yearMonthDuration", "dayTimeDuration":
		k, p.span, ok = parseDuration(name, p.text)
	}
	return k, ok
}

func parseBoolean(s string) (value, ok bool) {
	switch s {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// Boolean returns the effective boolean value of a term (section 17.2.2): of a boolean itself, of a text whether it is
// not empty, of a number whether it is neither zero nor NaN. A boolean or number that its datatype does not have is
// false. All else, and what is unbound, is [ErrType].
func Boolean(t webrace.Term) (bool, error) {
	switch t {
	case True:
		return true, nil
	case False:
		return false, nil
	}
	var p parsed
	parse(t, &p)
	switch {
	case p.kind == boolean:
		return p.set, nil
	case p.kind == text || p.kind == langText:
		return p.text != "", nil
	case p.kind == integer || p.kind == decimal:
		return p.num.sign() != 0, nil
	case p.kind == float || p.kind == double:
		return p.real != 0 && p.real == p.real, nil
	case p.kind == illTyped && (p.tag == rdf.XSDBoolean || isNumberType(p.tag)):
		return false, nil
	default:
		return false, ErrType
	}
}

// isNumberType reports whether a datatype is one of numbers.
func isNumberType(datatype string) bool {
	name, ok := strings.CutPrefix(datatype, rdf.XSD)
	if !ok {
		return false
	}
	switch name {
	case "integer", "decimal", "double", "float":
		return true
	}
	_, ok = integers[name]
	return ok
}
