// Package number has the numbers of records as they were written. A number of a record stands for the decimal that is
// its text. It is a float64 where encoding/json writes that float64 as the same text, and no whole number beyond 2^53;
// every other one is a [json.Number]: 2882429806056571124, 1.10, and what has more digits than a float64 tells apart.
// So most numbers cost what they always did, and all leave as they came.
//
// Numbers are compared by what they stand for: 1, 1.0 and 1e0 are one, 9007199254740993 and …992 are two.
package number

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

const (
	exactDigits = 15      // that a decimal has of which every float64 can tell its neighbours
	exactWhole  = 1 << 53 // up to which every whole number is a float64
)

// Errors of what is no number of a record.
var (
	ErrSyntax = errors.New("not a number of JSON")
	ErrRange  = errors.New("beyond the range of numbers, which end at 1.8e308 and begin at 5e-324")
)

// boxed are the numbers that need no memory of their own.
var boxed = func() (all [1000]any) {
	for i := range all {
		all[i] = float64(i)
	}
	return all
}()

// Of returns the number that is written as a text of JSON. One that a float64 would make infinite or zero, though it is
// neither, is [ErrRange]: nothing can compute with it, and most programs read something else.
func Of(text string) (any, error) {
	v, length, err := Read(text)
	if err == nil && length < len(text) {
		err = ErrSyntax
	}
	if err != nil {
		return nil, fmt.Errorf("%.40s: %w", text, err)
	}
	return v, nil
}

// Valid reports whether a text is a number of JSON.
func Valid(text string) bool {
	s := scan(text)
	return s.length > 0 && s.length == len(text)
}

// Read returns the number that a text begins with, and how many bytes it has; a [json.Number] shares its memory.
func Read(text string) (v any, length int, err error) {
	s := scan(text)
	switch {
	case s.length == 0:
		return nil, 0, ErrSyntax
	case s.whole && s.digits <= exactDigits && (s.n > 0 || !s.negative):
		return s.ofWhole(), s.length, nil
	case s.isPlain():
		return s.signed(float64(s.n) / powers[s.fraction]), s.length, nil
	}
	text = text[:s.length]
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f == 0 && s.some {
		return nil, s.length, ErrRange
	}
	if f == math.Trunc(f) && math.Abs(f) > exactWhole {
		return json.Number(text), s.length, nil
	}
	var room [32]byte
	if string(Append(room[:0], f)) == text {
		return f, s.length, nil
	}
	return json.Number(text), s.length, nil
}

// scanned is the form of a number.
type scanned struct {
	length   int // 0: it is none
	negative bool
	whole    bool
	scaled   bool   // it has an exponent
	some     bool   // it has a digit that is not 0
	digits   int    // of the mantissa
	fraction int    // of these, behind the point
	n        uint64 // the digits, if they are no more than 19
	last     byte   // of them
}

func scan(text string) (s scanned) {
	at := 0
	if s.negative = len(text) > 0 && text[0] == '-'; s.negative {
		at++
	}
	first := at
	at = s.mantissa(text, at)
	if s.digits = at - first; s.digits == 0 || s.digits > 1 && text[first] == '0' {
		return scanned{}
	}
	s.whole = true
	if at < len(text) && text[at] == '.' {
		point := at
		at = s.mantissa(text, at+1)
		if s.fraction = at - point - 1; s.fraction == 0 {
			return scanned{}
		}
		s.digits += s.fraction
		s.whole = false
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		s.whole, s.scaled = false, true
		if at++; at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		exponent := at
		for at < len(text) && isDigit(text[at]) {
			at++
		}
		if at == exponent {
			return scanned{}
		}
	}
	s.length = at
	return s
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// mantissa reads digits, and returns where they end.
func (s *scanned) mantissa(text string, at int) int {
	n, some, last := s.n, s.some, s.last
	for ; at < len(text) && isDigit(text[at]); at++ {
		last = text[at]
		n = 10*n + uint64(last-'0')
		some = some || last != '0'
	}
	s.n, s.some, s.last = n, some, last
	return at
}

func (s *scanned) ofWhole() any {
	if !s.negative && s.n < uint64(len(boxed)) {
		return boxed[s.n]
	}
	return s.signed(float64(s.n))
}

func (s *scanned) signed(f float64) float64 {
	if s.negative {
		return -f
	}
	return f
}

// isPlain reports whether a decimal is written as encoding/json writes the float64 that is nearest to it.
func (s *scanned) isPlain() bool {
	return !s.whole && !s.scaled && s.digits <= exactDigits && s.last != '0' && float64(s.n) >= powers[max(s.fraction-6, 0)]
}

// powers of ten, which are exact.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// Append adds a number as encoding/json writes it, which is as ES6 does. It is not infinite.
func Append(b []byte, f float64) []byte {
	size := math.Abs(f)
	switch {
	case f == math.Trunc(f) && size < 1e15 && (f != 0 || !math.Signbit(f)):
		return strconv.AppendInt(b, int64(f), 10)
	case f == 0 || size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 is e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}
