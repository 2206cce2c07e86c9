package sql

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// What a column is, as far as its values alone do not tell.
type kind uint8

const (
	plain    kind = iota
	exact         // a decimal number, which the driver gives as text
	embedded      // JSON
	single        // a number of 32 bits, which the driver may give as one of 64
	date          // a time without its hours
	local         // a time without a zone
	zoned         // a time
	dated         // a date, unless it has hours
)

// The layouts of times (RFC 3339). One whose zone is not known has none.
const (
	layoutDate  = "2006-01-02"
	layoutLocal = "2006-01-02T15:04:05.999999999"
)

// appendValue appends a value as it came from a driver, as JSON.
func appendValue(b []byte, value any, k kind) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case float64:
		return appendFloat(b, v, k)
	case float32:
		return appendFloat(b, float64(v), single)
	case bool:
		return strconv.AppendBool(b, v)
	case time.Time:
		b = append(b, '"')
		return append(appendTime(b, v, k), '"')
	case string:
		return appendText(b, v, k)
	case []byte:
		return appendText(b, v, k)
	}
	return appendString(b, "a value of a type that is not known")
}

// appendFloat appends a number. What is none in JSON is a text.
func appendFloat(b []byte, v float64, k kind) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		b = append(b, '"')
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
		return append(b, '"')
	}
	bits := 64
	if k == single {
		bits = 32
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

func appendTime(b []byte, v time.Time, k kind) []byte {
	switch {
	case k == date, k == dated && v.Equal(v.Truncate(24*time.Hour)):
		return v.AppendFormat(b, layoutDate)
	case k == local:
		return v.AppendFormat(b, layoutLocal)
	}
	return v.UTC().AppendFormat(b, time.RFC3339Nano)
}

// appendText appends what a driver gives as text or bytes: a number or JSON as it is written, else a text.
func appendText[T string | []byte](b []byte, v T, k kind) []byte {
	if k == exact && isNumber(v) || k == embedded && isJSON(v) {
		return append(b, v...)
	}
	return appendString(b, v)
}

// appendString appends a text; bytes that are none (UTF-8) are written in base64.
func appendString[T string | []byte](b []byte, v T) []byte {
	b = append(b, '"')
	from, begin := 0, len(b)
	for i := 0; i < len(v); {
		c := v[i]
		if c >= utf8.RuneSelf {
			var r rune
			var size int
			switch text := any(v).(type) {
			case string:
				r, size = utf8.DecodeRuneInString(text[i:])
			case []byte:
				r, size = utf8.DecodeRune(text[i:])
			}
			if r == utf8.RuneError && size == 1 {
				b = base64.StdEncoding.AppendEncode(b[:begin], []byte(v))
				return append(b, '"')
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, v[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	b = append(b, v[from:]...)
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// isNumber reports whether a text is a number of JSON, which may be of any length.
func isNumber[T string | []byte](v T) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(v) && '0' <= v[i] && v[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(v) && v[i] == '-' {
		i++
	}
	whole := i
	if !digits() || v[whole] == '0' && i > whole+1 {
		return false
	}
	if i < len(v) && v[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(v) && (v[i] == 'e' || v[i] == 'E') {
		if i++; i < len(v) && (v[i] == '+' || v[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(v)
}

func isJSON[T string | []byte](v T) bool { return json.Valid([]byte(v)) }
