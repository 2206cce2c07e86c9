package value

import (
	"math/big"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// casts are the constructor functions of section 17.5. What a text says may have white space around it, as in XPath.
var casts = map[string]func(*parsed) (webrace.Term, error){
	rdf.XSDBoolean: castBoolean,
	rdf.XSDInteger: castInteger,
	rdf.XSDDecimal: castDecimal,
	xsdFloat:       func(p *parsed) (webrace.Term, error) { return castFloat(p, float) },
	rdf.XSDDouble:  func(p *parsed) (webrace.Term, error) { return castFloat(p, double) },
	rdf.XSDString:  castString,
	xsdDateTime:    castDateTime,
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
		b = append(b, p.text...) // dates, times and durations, which SPARQL does not cast
	}
	return webrace.Term(append(b, '"')), nil
}

func castDateTime(p *parsed) (webrace.Term, error) {
	at, ok := p.at, p.kind == dateTime
	if p.kind == text {
		at, ok = parseDateTime(p.trimmed())
	}
	if !ok {
		return "", ErrType
	}
	return at.term(), nil
}

func (m moment) term() webrace.Term {
	var buffer [96]byte
	return webrace.Term(typed(m.appendDateTime(append(buffer[:0], '"')), xsdDateTime))
}
