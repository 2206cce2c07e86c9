package recordjson

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline/number"
)

// deepestWritten is how many values within values are written here: encoding/json finds those that have no end.
const deepestWritten = 100

// Encoder writes one value after the other, as records are that are alike. The zero value is ready; it is for one
// goroutine.
type Encoder struct {
	names []string // of the fields of the last object, outermost, in their order
}

// Append adds the JSON of a value to a buffer, as [json.Marshal] writes it. Where it fails, the buffer is as it was.
func (e *Encoder) Append(b []byte, v any) ([]byte, error) {
	if m, isObject := v.(map[string]any); isObject && m != nil {
		if len(m) != len(e.names) || !e.haveAll(m) {
			e.names = slices.AppendSeq(e.names[:0], maps.Keys(m))
			slices.Sort(e.names)
		}
		if longer, ok := appendFields(b, m, e.names, 0); ok {
			return longer, nil
		}
	} else if longer, ok := appendValue(b, v, 0); ok {
		return longer, nil
	}
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func (e *Encoder) haveAll(m map[string]any) bool {
	for _, name := range e.names {
		if _, has := m[name]; !has {
			return false
		}
	}
	return true
}

// appendValue reports false of what encoding/json may refuse.
func appendValue(b []byte, v any, depth int) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), true
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v), true
	case float64:
		return appendFloat(b, v)
	case json.Number:
		return appendNumber(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10), true
	case map[string]any:
		if v == nil {
			return append(b, "null"...), true
		}
		return appendObject(b, v, depth)
	case []any:
		if v == nil {
			return append(b, "null"...), true
		}
		return appendList(b, v, depth)
	}
	return appendOther(b, v)
}

func appendOther(b []byte, v any) ([]byte, bool) {
	text, err := json.Marshal(v)
	return append(b, text...), err == nil
}

// appendObject writes the fields in the order of their names.
func appendObject(b []byte, m map[string]any, depth int) ([]byte, bool) {
	var few [24]string
	names := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(names)
	return appendFields(b, m, names, depth)
}

func appendFields(b []byte, m map[string]any, names []string, depth int) (_ []byte, ok bool) {
	if depth == deepestWritten {
		return b, false
	}
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = appendString(b, name); !ok {
			return b, false
		}
		b = append(b, ':')
		if b, ok = appendValue(b, m[name], depth+1); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

func appendList(b []byte, list []any, depth int) (_ []byte, ok bool) {
	if depth == deepestWritten {
		return b, false
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = appendValue(b, v, depth+1); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}

// appendString writes a string that needs no escapes; the others are left to encoding/json.
func appendString(b []byte, s string) ([]byte, bool) {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
				return appendOther(b, s)
			}
			i += size
			continue
		}
		if escapes[c] {
			return appendOther(b, s)
		}
		i++
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"'), true
}

// escapes are the characters that encoding/json escapes, also for HTML.
var escapes = func() (all [utf8.RuneSelf]bool) {
	for c := range all {
		all[c] = c < ' ' || strings.ContainsRune("\"\\<>&", rune(c))
	}
	return all
}()

// appendFloat leaves to encoding/json what is not finite.
func appendFloat(b []byte, f float64) ([]byte, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return appendOther(b, f)
	}
	return number.Append(b, f), true
}

// appendNumber writes a number as it was read.
func appendNumber(b []byte, n json.Number) ([]byte, bool) {
	if !number.Valid(string(n)) {
		return appendOther(b, n)
	}
	return append(b, n...), true
}
