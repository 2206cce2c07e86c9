package number

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// decimal is what a number stands for: ±0.DIGITS × 10^exponent. Its digits neither begin nor end with 0; 0 has none.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// decimalOf returns what a number stands for; false if the value is none, or not finite.
func decimalOf(v any) (decimal, bool) {
	switch n := v.(type) {
	case json.Number:
		if !Valid(string(n)) {
			return decimal{}, false
		}
		return parse(string(n)), true
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return decimal{}, false
		}
		return parse(strconv.FormatFloat(n, 'e', -1, 64)), true
	case uint64:
		return parse(strconv.FormatUint(n, 10)), true
	}
	if n, ok := small(v); ok {
		return parse(strconv.FormatInt(n, 10)), true
	}
	return decimal{}, false
}

// small returns the value of the other integers of Go.
func small(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case int32:
		return int64(n), true
	case int16:
		return int64(n), true
	case int8:
		return int64(n), true
	case uint32:
		return int64(n), true
	case uint16:
		return int64(n), true
	case uint8:
		return int64(n), true
	}
	return 0, false
}

// parse reads a text that is a number.
func parse(text string) (d decimal) {
	text, d.negative = strings.CutPrefix(text, "-")
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, err := strconv.ParseInt(text[at+1:], 10, 32)
		if err != nil { // of a number that no record has: ErrRange
			exponent = min(max(exponent, math.MinInt32), math.MaxInt32)
		}
		text, d.exponent = text[:at], int(exponent)
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.exponent += len(whole)
	d.digits = whole + fraction
	leading := len(d.digits) - len(strings.TrimLeft(d.digits, "0"))
	d.exponent -= leading
	d.digits = strings.TrimRight(d.digits[leading:], "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

// Compare orders two numbers, as cmp.Compare does; ok is false if one is no number, or not finite.
func Compare(a, b any) (order int, ok bool) {
	if x, isFloat := a.(float64); isFloat && !math.IsNaN(x) {
		if y, isFloat := b.(float64); isFloat && !math.IsNaN(y) {
			return cmp.Compare(x, y), true
		}
	}
	if order, ok := compareSmall(a, b); ok {
		return order, true
	}
	x, xIsNumber := decimalOf(a)
	y, yIsNumber := decimalOf(b)
	return x.compare(y), xIsNumber && yIsNumber
}

// compareSmall compares integers, and integers with floats where no float lies between them.
func compareSmall(a, b any) (order int, ok bool) {
	x, xIsSmall := small(a)
	y, yIsSmall := small(b)
	switch {
	case xIsSmall && yIsSmall:
		return cmp.Compare(x, y), true
	case xIsSmall && -exactWhole <= x && x <= exactWhole:
		f, isFloat := b.(float64)
		return cmp.Compare(float64(x), f), isFloat && !math.IsNaN(f) && !math.IsInf(f, 0)
	case yIsSmall && -exactWhole <= y && y <= exactWhole:
		f, isFloat := a.(float64)
		return cmp.Compare(f, float64(y)), isFloat && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return 0, false
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) compare(other decimal) int {
	if order := cmp.Compare(d.sign(), other.sign()); order != 0 {
		return order
	}
	order := cmp.Or(cmp.Compare(d.exponent, other.exponent), strings.Compare(d.digits, other.digits))
	if d.negative {
		return -order
	}
	return order
}

// mostZeros is how many zeros a key has that stand for an exponent: those of any float64.
const mostZeros = 400

// Key writes a number in the one way that all have that stand for the same, in decimals: 1, 1.0 and 1e0 are "1". It is
// false for what is no number.
func Key(v any) (string, bool) {
	if n, ok := small(v); ok {
		return strconv.FormatInt(n, 10), true
	}
	d, ok := decimalOf(v)
	if !ok {
		return "", false
	}
	return d.String(), true
}

func (d decimal) String() string {
	var b strings.Builder
	if d.negative {
		b.WriteByte('-')
	}
	switch behind := d.exponent - len(d.digits); {
	case d.digits == "":
		return "0"
	case behind > mostZeros || d.exponent < -mostZeros:
		b.WriteString(d.digits + "e" + strconv.Itoa(behind))
	case behind >= 0:
		b.WriteString(d.digits + strings.Repeat("0", behind))
	case d.exponent <= 0:
		b.WriteString("0." + strings.Repeat("0", -d.exponent) + d.digits)
	default:
		b.WriteString(d.digits[:d.exponent] + "." + d.digits[d.exponent:])
	}
	return b.String()
}

// Whole returns the value of a whole number, if it is one and an int64 holds it.
func Whole(v any) (int64, bool) {
	if n, ok := small(v); ok {
		return n, true
	}
	if f, ok := v.(float64); ok && math.Abs(f) <= exactWhole {
		return int64(f), f == math.Trunc(f)
	}
	d, ok := decimalOf(v)
	if !ok || d.exponent < len(d.digits) || d.exponent > 19 {
		return 0, ok && d.digits == ""
	}
	n, err := strconv.ParseInt(d.String(), 10, 64)
	return n, err == nil
}

// Float returns the float64 that is nearest to a number; false if the value is none.
func Float(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case uint64:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	n, ok := small(v)
	return float64(n), ok
}
