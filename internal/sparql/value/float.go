package value

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
)

// parseFloat reads an xsd:float or xsd:double. What is too large is infinite.
func parseFloat(s string, bitSize int) (float64, bool) {
	switch s {
	case "INF", "+INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return 0, false // strconv reads hexadecimal, underscores and names
		}
	}
	f, err := strconv.ParseFloat(s, bitSize)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// appendFloat appends the canonical form of XML Schema: 1.5E3, INF.
func appendFloat(b []byte, f float64, bitSize int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "INF"...)
	case math.IsInf(f, -1):
		return append(b, "-INF"...)
	}
	var buffer [32]byte
	digits := strconv.AppendFloat(buffer[:0], f, 'E', -1, bitSize) // 1.5E+03
	e := bytes.IndexByte(digits, 'E')
	mantissa, exponent := digits[:e], digits[e+1:]
	b = append(b, mantissa...)
	if bytes.IndexByte(mantissa, '.') < 0 {
		b = append(b, ".0"...)
	}
	b = append(b, 'E')
	if exponent[0] == '-' {
		b = append(b, '-')
	}
	exponent = exponent[1:]
	if exponent[0] == '0' {
		exponent = exponent[1:]
	}
	return append(b, exponent...)
}

// appendFloatText appends what a cast to xsd:string gives (XPath Functions, section 17.1.2): 1500, but 1.5E6.
func appendFloatText(b []byte, f float64, bitSize int) []byte {
	if a := math.Abs(f); a >= 1e-6 && a < 1e6 || f == 0 {
		return strconv.AppendFloat(b, f, 'f', -1, bitSize)
	}
	return appendFloat(b, f, bitSize)
}

// decimalOf returns the decimal with the fewest digits that is read as this number again.
func decimalOf(f float64, bitSize int) (number, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}, false
	}
	return parseDecimal(strconv.FormatFloat(f, 'f', -1, bitSize))
}

// compareExactly compares a number with one of floating point, which is not NaN, without rounding.
func compareExactly(a number, f float64) int {
	if rounded := a.float(64); rounded < f {
		return -1
	} else if rounded > f {
		return 1
	} else if math.IsInf(f, 0) || a.big == nil && a.scale == 0 && magnitude(a.n) <= 1<<53 {
		return 0
	}
	exact := new(big.Rat).SetFrac(a.unscaled(a.scale), power(a.scale))
	return exact.Cmp(new(big.Rat).SetFloat64(f))
}

// roundFloat rounds a number of floating point as the functions of XPath do.
func roundFloat(f float64, to rounding) float64 {
	switch to {
	case down:
		return math.Floor(f)
	case up:
		return math.Ceil(f)
	case nearest:
		if whole := math.Floor(f); f-whole < 0.5 {
			return math.Copysign(whole, f)
		}
		return math.Copysign(math.Ceil(f), f)
	default:
		return math.Trunc(f)
	}
}
