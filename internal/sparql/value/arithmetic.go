package value

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Arithmetic computes a + b, a - b, a * b or a / b. Derived types of integers are promoted to xsd:integer; a quotient
// of integers is a decimal (section 17.3). Dates, times and durations are added and subtracted as in
// XPath, and durations multiplied and divided.
func Arithmetic(op byte, a, b webrace.Term) (webrace.Term, error) {
	if n, ok := computeSmall(op, a, b); ok {
		return Integer(n), nil
	}
	var p, q parsed
	parse(a, &p)
	parse(b, &q)
	if !p.numeric() || !q.numeric() {
		return computeTime(op, &p, &q)
	}
	if err := p.compute(op, &q); err != nil {
		return "", err
	}
	return p.number(), nil
}

// Negate computes -a.
func Negate(a webrace.Term) (webrace.Term, error) {
	var p parsed
	parse(a, &p)
	if !p.numeric() {
		return "", ErrType
	}
	p.num, p.real = p.num.negative(), -p.real
	return p.number(), nil
}

// compute sets a number to what an operation with another one gives.
func (p *parsed) compute(op byte, q *parsed) (err error) {
	if !p.numeric() || !q.numeric() {
		return ErrType
	}
	k := max(p.kind, q.kind)
	if k >= float {
		p.real = computeFloat(op, p.promoted(k), q.promoted(k))
		if p.kind = k; k == float {
			p.real = float64(float32(p.real))
		}
		return nil
	}
	p.kind = k
	switch op {
	case '+':
		p.num, err = p.num.add(q.num)
	case '-':
		p.num, err = p.num.add(q.num.negative())
	case '*':
		p.num, err = p.num.multiply(q.num)
	case '/':
		p.kind = decimal
		p.num, err = p.num.divide(q.num)
	default:
		panic("value: no operator " + string(op))
	}
	return err
}

func computeFloat(op byte, a, b float64) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		return a / b
	}
	panic("value: no operator " + string(op))
}

// number returns the term of a number: of integers always xsd:integer, in its canonical form.
func (p *parsed) number() webrace.Term {
	switch p.kind {
	case integer:
		return p.num.integer()
	case decimal:
		return p.num.decimal()
	case float:
		return realTerm(p.real, 32, xsdFloat)
	default:
		return realTerm(p.real, 64, rdf.XSDDouble)
	}
}

func (a number) integer() webrace.Term {
	var buffer [80]byte
	return webrace.Term(typed(a.append(append(buffer[:0], '"'), false), rdf.XSDInteger))
}

func (a number) decimal() webrace.Term {
	var buffer [112]byte
	return webrace.Term(typed(a.append(append(buffer[:0], '"'), true), rdf.XSDDecimal))
}

func realTerm(f float64, bitSize int, datatype string) webrace.Term {
	var buffer [80]byte
	return webrace.Term(typed(appendFloat(append(buffer[:0], '"'), f, bitSize), datatype))
}

// typed ends a literal.
func typed(b []byte, datatype string) []byte {
	b = append(b, `"^^<`...)
	b = append(b, datatype...)
	return append(b, '>')
}
