package jsonld

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is what a JSON value is.
type kind uint8

const (
	null kind = iota
	falseKind
	trueKind
	number
	text
	array
	object
)

func (k kind) String() string {
	return [...]string{"null", "false", "true", "a number", "a string", "an array", "an object"}[k]
}

// value is a JSON value. It does not change once it is read, so goroutines may share it.
type value struct {
	kind kind
	at   int32  // where it begins
	text string // a string, decoded; a number, as it is written
	*container
}

// container holds what an array or an object has; nil for an empty one.
type container struct {
	items  []value // of an array; of an object, the value of each key
	*names         // nil for an array
}

// names are the keys of an object.
type names struct {
	keys  []string
	index map[string]int32 // of many keys: where each is
}

// depthIs is what the limit of depth is about.
const depthIs = "values within each other"

// manyKeys is how many keys an object has at least for which there is an index.
const manyKeys = 9

func (v *value) isString() bool { return v.kind == text }
func (v *value) isObject() bool { return v.kind == object }

func (v *value) isScalar() bool { return v.kind != null && v.kind < array }

func (v *value) isBoolean() bool { return v.kind == trueKind || v.kind == falseKind }

// members returns the keys of an object and their values.
func (v *value) members() ([]string, []value) {
	if v.kind != object || v.container == nil {
		return nil, nil
	}
	return v.keys, v.items
}

// all returns the items of an array; any other value is an array of its own.
func (v *value) all() []value {
	switch {
	case v.kind != array:
		return []value{*v}
	case v.container == nil:
		return nil
	}
	return v.items
}

// get returns the value of a key of an object; nil if it has no such key.
func (v *value) get(key string) *value {
	if v.kind != object || v.container == nil {
		return nil
	}
	if i := v.find(key); i >= 0 {
		return &v.items[i]
	}
	return nil
}

// find returns where a key is; -1 if there is none.
func (n *names) find(key string) int {
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return int(i)
		}
		return -1
	}
	for i, k := range n.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// same reports whether two JSON values are equal, whatever the order of their keys.
func same(a, b *value) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	if a.kind != b.kind || a.text != b.text {
		return false
	}
	if a.container == b.container || a.container == nil || b.container == nil {
		return a.container == b.container
	}
	if len(a.items) != len(b.items) {
		return false
	}
	for i := range a.items {
		other := i
		if a.kind == object {
			other = b.find(a.keys[i])
		}
		if other < 0 || !same(&a.items[i], &b.items[other]) {
			return false
		}
	}
	return true
}

// reader reads JSON (RFC 8259). Bytes that are no UTF-8 become U+FFFD, and so do halves of surrogate pairs. Of a key
// that an object has twice, the last value counts, as in browsers. All of this is told.
type reader struct {
	*watch
	body   string
	at     int
	limits Limits
	depth  int     // how much deeper values may lie
	values int     // how many there are
	stack  []value // of the arrays and objects that are not complete, the values
	keys   []string
}

// valuesPerTriple is how many values of JSON a document can have for each triple that it may state: one that states a
// triple has no more, with all that is said of it.
const valuesPerTriple = 8

// read returns the value that a document is.
func read(w *watch, body string, limits Limits) (v value) {
	r := reader{watch: w, body: body, limits: limits, depth: limits.Depth}
	r.at = len(body) - len(strings.TrimPrefix(body, "\ufeff"))
	r.space()
	v = r.value()
	r.space()
	if r.at < len(body) {
		r.want("the end of the document")
	}
	return v
}

func (r *reader) space() {
	for r.at < len(r.body) {
		switch r.body[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			if !r.lenient || !r.passOver() {
				return
			}
		}
	}
}

// want ends reading with what was expected where the reader is.
func (r *reader) want(expected string) {
	found := "the document ends"
	if r.at < len(r.body) {
		c, _ := utf8.DecodeRuneInString(r.body[r.at:])
		found = fmt.Sprintf("there is %q", c)
	}
	r.failAt(int32(r.at), "loading document failed",
		fmt.Sprintf("this is no JSON: %s where %s is expected%s", found, expected, r.hint()))
}

func (r *reader) value() value {
	r.step(int32(r.at))
	if r.values++; r.values/valuesPerTriple > r.limits.Triples {
		r.exceed(fmt.Sprintf("values of JSON, %d for each triple that it may say", valuesPerTriple), valuesPerTriple*r.limits.Triples)
	}
	if r.at == len(r.body) {
		r.want("a value")
	}
	v := value{at: int32(r.at)}
	switch c := r.body[r.at]; {
	case c == '{':
		v.kind, v.container = object, r.object()
	case c == '[':
		v.kind, v.container = array, r.array()
	case c == '"':
		v.kind, v.text = text, r.string()
	case c == '-' || '0' <= c && c <= '9':
		v.kind, v.text = number, r.number()
	case r.word("null"):
	case r.word("true"):
		v.kind = trueKind
	case r.word("false"):
		v.kind = falseKind
	default:
		r.want("a value")
	}
	return v
}

func (r *reader) word(w string) bool {
	if !strings.HasPrefix(r.body[r.at:], w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *reader) enter() {
	if r.depth--; r.depth < 0 {
		r.watch.at = int32(r.at)
		r.exceed(depthIs, r.limits.Depth)
	}
	r.at++
	r.space()
}

func (r *reader) array() *container {
	r.enter()
	base := len(r.stack)
	if !r.end(']') {
		for {
			v := r.value()
			r.stack = append(r.stack, v)
			if r.space(); r.end(']') {
				break
			}
			if r.expect(',', `"," or "]"`); r.endAfterComma(']') {
				break
			}
		}
	}
	r.depth++
	if len(r.stack) == base {
		return nil
	}
	c := &container{items: append([]value(nil), r.stack[base:]...)}
	r.stack = r.stack[:base]
	return c
}

func (r *reader) object() *container {
	r.enter()
	base, first := len(r.stack), len(r.keys)
	if !r.end('}') {
		for {
			if r.at == len(r.body) || r.body[r.at] != '"' {
				r.want("a key")
			}
			key := r.string()
			r.space()
			r.expect(':', `":"`)
			v := r.value()
			r.keys, r.stack = append(r.keys, key), append(r.stack, v)
			if r.space(); r.end('}') {
				break
			}
			if r.expect(',', `"," or "}"`); r.endAfterComma('}') {
				break
			}
		}
	}
	r.depth++
	if len(r.stack) == base {
		return nil
	}
	c := r.newObject(r.keys[first:], r.stack[base:])
	r.keys, r.stack = r.keys[:first], r.stack[:base]
	return c
}

// newObject copies keys and values. Of a key that is there twice the last value is kept, where the first was.
func (r *reader) newObject(keys []string, items []value) *container {
	c := &container{items: make([]value, 0, len(items)), names: &names{keys: make([]string, 0, len(keys))}}
	if len(keys) >= manyKeys {
		c.index = make(map[string]int32, len(keys))
	}
	for i, key := range keys {
		if before := c.find(key); before >= 0 {
			r.note(items[i].at, leftOut, "of a key that an object has twice, the first value", key)
			c.items[before] = items[i]
			continue
		}
		if c.index != nil {
			c.index[key] = int32(len(c.keys))
		}
		c.keys, c.items = append(c.keys, key), append(c.items, items[i])
	}
	return c
}

func (r *reader) end(c byte) bool {
	if r.at < len(r.body) && r.body[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) expect(c byte, expected string) {
	if !r.end(c) {
		r.want(expected)
	}
	r.space()
}

// number passes over a number and returns it as it is written.
func (r *reader) number() string {
	start := r.at
	r.end('-')
	if !r.end('0') {
		r.digits()
	}
	if r.end('.') {
		r.digits()
	}
	if r.end('e') || r.end('E') {
		if !r.end('+') {
			r.end('-')
		}
		r.digits()
	}
	return r.body[start:r.at]
}

func (r *reader) digits() {
	start := r.at
	for r.at < len(r.body) && '0' <= r.body[r.at] && r.body[r.at] <= '9' {
		r.at++
	}
	if r.at == start {
		r.want("a digit")
	}
}

// string reads a string; one without escapes shares the memory of the document.
func (r *reader) string() string {
	r.at++
	start := r.at
	var decoded []byte
	for {
		if r.at == len(r.body) {
			r.want("the end of a string")
		}
		switch c := r.body[r.at]; {
		case c == '"':
			s := r.body[start:r.at]
			r.at++
			if decoded != nil {
				s = string(append(decoded, s...))
			}
			valid := strings.ToValidUTF8(s, "\ufffd")
			if len(valid) != len(s) || valid != s {
				r.note(int32(start), readAs, "bytes that are no UTF-8 are U+FFFD", "")
			}
			return valid
		case c == '\\':
			decoded = append(decoded, r.body[start:r.at]...)
			r.at++
			decoded = r.escape(decoded)
			start = r.at
		case c < ' ' && r.lenient:
			r.note(int32(r.at), readAs, "a control character in a string is not escaped", string(c))
			r.at++
		case c < ' ':
			r.want("a character of a string (control characters are escaped)")
		default:
			r.at++
		}
	}
}

func (r *reader) escape(decoded []byte) []byte {
	if r.at == len(r.body) {
		r.want("the rest of an escape")
	}
	const letters, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(letters, r.body[r.at]); i >= 0 {
		r.at++
		return append(decoded, meant[i])
	}
	if r.body[r.at] != 'u' {
		r.want(`one of "\/bfnrtu after a backslash`)
	}
	c := r.hex()
	if !utf16.IsSurrogate(c) {
		return utf8.AppendRune(decoded, c)
	}
	if strings.HasPrefix(r.body[r.at:], `\u`) {
		before := r.at
		r.at++
		if both := utf16.DecodeRune(c, r.hex()); both != utf8.RuneError {
			return utf8.AppendRune(decoded, both)
		}
		r.at = before // it is no second half, but a character of its own
	}
	r.note(int32(r.at), readAs, "half of a pair of surrogates is U+FFFD", "")
	return utf8.AppendRune(decoded, utf8.RuneError)
}

// hex reads the digits of an escape, after its u.
func (r *reader) hex() (c rune) {
	for range 4 {
		r.at++
		if r.at == len(r.body) {
			r.want("a hexadecimal digit")
		}
		digit := strings.IndexByte("0123456789abcdef", r.body[r.at]|' ')
		if digit < 0 || r.body[r.at] < '0' {
			r.want("a hexadecimal digit")
		}
		c = c<<4 | rune(digit)
	}
	r.at++
	return c
}
