package value

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Numbers of more digits than this are not computed with: a literal that long is as one that is ill-typed, and a result
// is an error. XML Schema asks for 18.
const maxDigits = 1000

// longestNumber is how many bytes a number has that is computed with, besides its sign: some digits more, since they
// are counted in bits, and a point and a zero that a decimal is written with.
const longestNumber = maxDigits + 6

// fractionDigits is how many digits behind the point a quotient has that does not end.
const fractionDigits = 24

var (
	errDivision = errors.New("division by zero")
	errDigits   = errors.New("a number has more than " + strconv.Itoa(maxDigits) + " digits")
)

// number is an integer or decimal: n, or big where that is not nil, divided by the scale-th power of ten.
type number struct {
	n     int64
	big   *big.Int
	scale int
}

// powers of ten, which are all exact as a float64, too.
var powers = func() (p [19]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

func parseInteger(s string) (number, bool) {
	if strings.IndexByte(s, '.') >= 0 {
		return number{}, false
	}
	return parseDecimal(s)
}

// parseDecimal reads an xsd:decimal: a sign, digits, a point, digits.
func parseDecimal(s string) (number, bool) {
	digits := s
	negative := false
	if digits != "" && (digits[0] == '+' || digits[0] == '-') {
		negative = digits[0] == '-'
		digits = digits[1:]
	}
	if len(digits) > longestNumber {
		return number{}, false
	}
	point, n, significant := -1, int64(0), 0
	for i := range len(digits) {
		c := digits[i]
		switch {
		case c == '.' && point < 0:
			point = i
		case c < '0' || c > '9':
			return number{}, false
		default:
			if c != '0' || significant > 0 {
				significant++
			}
			if significant <= 18 {
				n = n*10 + int64(c-'0')
			}
		}
	}
	if digits == "" || digits == "." {
		return number{}, false
	}
	scale := 0
	if point >= 0 {
		scale = len(digits) - point - 1
	}
	if significant <= 18 {
		if negative {
			n = -n
		}
		a, err := number{n: n, scale: scale}.checked()
		return a, err == nil
	}
	whole, _ := new(big.Int).SetString(strings.Replace(digits, ".", "", 1), 10)
	if negative {
		whole.Neg(whole)
	}
	a, err := number{big: whole, scale: scale}.checked()
	return a, err == nil
}

// normal returns the same number with the least scale, and without big where n can hold it.
func (a number) normal() number {
	if a.big != nil {
		var q, r big.Int
		for ten := big.NewInt(10); a.scale > 0; a.scale-- {
			if q.QuoRem(a.big, ten, &r); r.Sign() != 0 {
				break
			}
			a.big = new(big.Int).Set(&q)
		}
		if !a.big.IsInt64() {
			return a
		}
		a.n, a.big = a.big.Int64(), nil
	}
	for a.scale > 0 && a.n%10 == 0 {
		a.n /= 10
		a.scale--
	}
	return a
}

// checked returns a number, unless it has too many digits.
func (a number) checked() (number, error) {
	a = a.normal()
	if a.scale > maxDigits || a.big != nil && a.big.BitLen() > maxDigits*10/3 {
		return number{}, errDigits
	}
	return a, nil
}

func (a number) sign() int {
	if a.big != nil {
		return a.big.Sign()
	}
	return cmp.Compare(a.n, 0)
}

// unscaled returns the number times the scale-th power of ten; the scale is not below the number's own.
func (a number) unscaled(scale int) *big.Int {
	n := a.big
	if n == nil {
		n = big.NewInt(a.n)
	}
	if scale == a.scale {
		return n
	}
	return new(big.Int).Mul(n, power(scale-a.scale))
}

func power(n int) *big.Int {
	if n < len(powers) {
		return big.NewInt(powers[n])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// small returns two numbers at one scale, if both can be held there by an int64.
func small(a, b number) (x, y int64, scale int, ok bool) {
	if a.big != nil || b.big != nil {
		return 0, 0, 0, false
	}
	if a.scale == b.scale {
		return a.n, b.n, a.scale, true
	}
	if a.scale < b.scale {
		x, ok = product(a.n, b.scale-a.scale)
		return x, b.n, b.scale, ok
	}
	y, ok = product(b.n, a.scale-b.scale)
	return a.n, y, a.scale, ok
}

// product returns n times a power of ten, unless that overflows.
func product(n int64, power int) (int64, bool) {
	if power >= len(powers) {
		return 0, n == 0
	}
	return multiply(n, powers[power])
}

func multiply(a, b int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(low), true
	}
	return int64(low), true
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func (a number) compare(b number) int {
	if x, y, _, ok := small(a, b); ok {
		return cmp.Compare(x, y)
	}
	if x, y := a.sign(), b.sign(); x != y {
		return cmp.Compare(x, y)
	}
	scale := max(a.scale, b.scale)
	return a.unscaled(scale).Cmp(b.unscaled(scale))
}

func (a number) negative() number {
	if a.big != nil {
		return number{big: new(big.Int).Neg(a.big), scale: a.scale}.normal()
	}
	if a.n == math.MinInt64 {
		return number{big: new(big.Int).Neg(big.NewInt(a.n)), scale: a.scale}
	}
	a.n = -a.n
	return a
}

func (a number) add(b number) (number, error) {
	if x, y, scale, ok := small(a, b); ok {
		if sum := x + y; (sum > x) == (y > 0) {
			return number{n: sum, scale: scale}.normal(), nil
		}
	}
	scale := max(a.scale, b.scale)
	return number{big: new(big.Int).Add(a.unscaled(scale), b.unscaled(scale)), scale: scale}.checked()
}

func (a number) multiply(b number) (number, error) {
	if a.big == nil && b.big == nil {
		if n, ok := multiply(a.n, b.n); ok {
			return number{n: n, scale: a.scale + b.scale}.checked()
		}
	}
	return number{big: new(big.Int).Mul(a.unscaled(a.scale), b.unscaled(b.scale)), scale: a.scale + b.scale}.checked()
}

// divide returns a decimal: exact if it ends within fractionDigits, or as many digits as the operands have, else
// rounded half to even.
func (a number) divide(b number) (number, error) {
	if b.sign() == 0 {
		return number{}, errDivision
	}
	if q, ok := divideSmall(a, b); ok {
		return q, nil
	}
	scale := max(fractionDigits, a.scale, b.scale)
	dividend := a.unscaled(scale + b.scale)
	divisor := b.unscaled(b.scale)
	var rest big.Int
	q, _ := new(big.Int).QuoRem(dividend, divisor, &rest)
	half := new(big.Int).Lsh(&rest, 1)
	if c := half.CmpAbs(divisor); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(rest.Sign()*divisor.Sign())))
	}
	return number{big: q, scale: scale}.checked()
}

// divideSmall divides in int64s, digit by digit, and gives up where that does not come to an end.
func divideSmall(a, b number) (number, bool) {
	x, y, _, ok := small(a, b)
	if !ok || x == math.MinInt64 || y == math.MinInt64 {
		return number{}, false
	}
	q, rest := x/y, x%y
	scale := 0
	for ; rest != 0; scale++ {
		if scale == 12 || magnitude(rest) > math.MaxInt64/10 || magnitude(q) > math.MaxInt64/10-10 {
			return number{}, false
		}
		rest *= 10
		q = q*10 + rest/y
		rest %= y
	}
	return number{n: q, scale: scale}.normal(), true
}

// rounding determines which integer is taken for a number between two.
type rounding uint8

const (
	toZero rounding = iota
	down
	up
	nearest // half up, as fn:round
)

func (a number) round(to rounding) number {
	if a.scale == 0 {
		return a
	}
	x, unit := a.unscaled(a.scale), power(a.scale)
	switch to {
	case toZero:
		x = new(big.Int).Quo(x, unit)
	case down:
		x = floor(x, unit)
	case up:
		x = floor(new(big.Int).Neg(x), unit)
		x.Neg(x)
	case nearest: // floor(x + 1/2)
		twice := new(big.Int).Lsh(x, 1)
		x = floor(twice.Add(twice, unit), new(big.Int).Lsh(unit, 1))
	}
	return number{big: x}.normal()
}

func floor(x, unit *big.Int) *big.Int {
	q, _ := new(big.Int).DivMod(x, unit, new(big.Int)) // Euclidean: for a positive unit, the floor
	return q
}

// float returns the nearest number of floating point.
func (a number) float(bitSize int) float64 {
	if a.big == nil && a.scale == 0 {
		if bitSize == 32 {
			return float64(float32(a.n))
		}
		return float64(a.n)
	}
	if a.big == nil && bitSize == 64 && magnitude(a.n) <= 1<<53 && a.scale < len(powers) {
		return float64(a.n) / float64(powers[a.scale]) // both are exact, so this is rounded once
	}
	f, _ := strconv.ParseFloat(string(a.append(make([]byte, 0, 48), false)), bitSize)
	return f
}

// append appends the canonical text: with a point, if point is set or there is a fraction.
func (a number) append(b []byte, point bool) []byte {
	start := len(b)
	if a.big != nil {
		b = a.big.Append(b, 10)
	} else {
		b = strconv.AppendInt(b, a.n, 10)
	}
	if a.scale == 0 {
		if point {
			b = append(b, ".0"...)
		}
		return b
	}
	if b[start] == '-' {
		start++
	}
	if missing := a.scale + 1 - (len(b) - start); missing > 0 {
		digits := string(b[start:])
		b = append(append(b[:start], strings.Repeat("0", missing)...), digits...)
	}
	at := len(b) - a.scale
	b = append(b, 0)
	copy(b[at+1:], b[at:])
	b[at] = '.'
	return b
}
