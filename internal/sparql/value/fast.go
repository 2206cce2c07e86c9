package value

import (
	"cmp"
	"strings"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Integers are most of what queries compute with. Where both operands are such, of at most 18 digits, they are not
// taken apart like other terms.

const integerEnd = `"^^<` + rdf.XSDInteger + `>`

// smallInteger reads an xsd:integer of at most 18 digits.
func smallInteger(t webrace.Term) (n int64, ok bool) {
	if !strings.HasSuffix(string(t), integerEnd) {
		return 0, false
	}
	digits := t[1 : len(t)-len(integerEnd)]
	negative := digits != "" && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > 18 {
		return 0, false
	}
	for i := range len(digits) {
		c := digits[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if negative {
		n = -n
	}
	return n, true
}

// compareSmall compares two small integers.
func compareSmall(a, b webrace.Term) (c int, ok bool) {
	x, ok := smallInteger(a)
	if !ok {
		return 0, false
	}
	y, ok := smallInteger(b)
	return cmp.Compare(x, y), ok
}

// computeSmall adds, subtracts and multiplies small integers.
func computeSmall(op byte, a, b webrace.Term) (n int64, ok bool) {
	x, ok := smallInteger(a)
	if !ok {
		return 0, false
	}
	y, ok := smallInteger(b)
	if !ok {
		return 0, false
	}
	switch op {
	case '+':
		return x + y, true
	case '-':
		return x - y, true
	case '*':
		return multiply(x, y)
	}
	return 0, false
}

// firstIntegers are the terms of the integers from zero, years among them.
var firstIntegers = sync.OnceValue(func() *[2100]webrace.Term {
	terms := new([2100]webrace.Term)
	for i := range terms {
		terms[i] = number{n: int64(i)}.integer()
	}
	return terms
})

// Integer returns the term of an integer. Small ones are not allocated.
func Integer(n int64) webrace.Term {
	if n >= 0 && n < int64(len(firstIntegers())) {
		return firstIntegers()[n]
	}
	return number{n: n}.integer()
}

// cutXSD takes a literal of a datatype of XML Schema apart, without a search through the text.
func cutXSD(t string) (text, name string, ok bool) {
	const before = `"^^<` + rdf.XSD
	if t[len(t)-1] != '>' {
		return "", "", false
	}
	hash := strings.LastIndexByte(t[max(0, len(t)-longestName):], '#')
	if hash < 0 {
		return "", "", false
	}
	hash += max(0, len(t)-longestName)
	if !strings.HasSuffix(t[:hash+1], before) {
		return "", "", false
	}
	return t[1 : hash+1-len(before)], t[hash+1 : len(t)-1], true
}

// longestName is that of nonNegativeInteger, with the signs around it.
const longestName = len("#nonNegativeInteger>")
