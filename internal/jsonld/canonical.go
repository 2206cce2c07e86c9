package jsonld

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// appendCanonical writes a value as the JSON Canonicalization Scheme has it (RFC 8785): keys by their UTF-16, numbers
// as ECMAScript writes them, no space.
func appendCanonical(b []byte, v *value) []byte {
	switch v.kind {
	case number:
		f, err := strconv.ParseFloat(v.text, 64)
		if err != nil {
			return append(b, v.text...) // no double is as large
		}
		return appendNumber(b, f)
	case text:
		return appendString(b, v.text)
	case array:
		b = append(b, '[')
		for i := range v.all() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, &v.items[i])
		}
		return append(b, ']')
	case object:
		keys, items := v.members()
		order := make([]int, len(keys))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return compareUTF16(keys[i], keys[j]) })
		b = append(b, '{')
		for n, i := range order {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, keys[i]), ':')
			b = appendCanonical(b, &items[i])
		}
		return append(b, '}')
	default:
		return append(b, v.kind.String()...)
	}
}

// compareUTF16 compares strings by their UTF-16 code units, which differs from that of UTF-8 above U+FFFF.
func compareUTF16(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) || a[i] < 0xee || b[i] < 0xee {
		return cmp.Compare(a[i:], b[i:])
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func appendString(b []byte, s string) []byte {
	const escaped, letters, hex = "\b\t\n\f\r\"\\", `btnfr"\`, "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			b = append(b, c)
		} else if letter := strings.IndexByte(escaped, c); letter >= 0 {
			b = append(b, '\\', letters[letter])
		} else {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}

// appendNumber writes a number as ECMAScript does (Number::toString).
func appendNumber(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0') // also for -0
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	b = append(append(b, mantissa...), 'e', exponent[0])
	return append(b, strings.TrimLeft(exponent[1:], "0")...)
}

// lexical returns the lexical form of a number as an RDF literal, and whether that is an integer (JSON-LD 1.1 API,
// sections 8.2.2 and 8.6): digits alone for one without a fraction and below 10^21, unless a double is asked for, else
// the canonical form of xsd:double, rounded to 15 digits after the point. What is written as an integer keeps all of
// its digits.
func lexical(written string, double bool) (form string, integer bool) {
	f, _ := strconv.ParseFloat(written, 64)
	switch {
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToUpper(strconv.FormatFloat(f, 'f', -1, 64)), "+"), false
	case double || f != math.Trunc(f) || math.Abs(f) >= 1e21:
		return canonicalDouble(f), false
	case f == 0:
		return "0", true
	case !strings.ContainsAny(written, ".eE"):
		return written, true
	default:
		return strconv.FormatFloat(f, 'f', 0, 64), true
	}
}

func canonicalDouble(f float64) string {
	if f == 0 {
		return "0.0E0" // also for -0
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', 15, 64), "E")
	if mantissa = strings.TrimRight(mantissa, "0"); strings.HasSuffix(mantissa, ".") {
		mantissa += "0"
	}
	power, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(power)
}
