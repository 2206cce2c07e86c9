// Package recordjson reads and writes the JSON of records: it does what encoding/json does with a value of the type
// any, in a third of the time. What is rare, it leaves to encoding/json.
package recordjson

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	deepest    = 100     // values within values that are read and written here
	mostShared = 4 << 10 // bytes of a text whose strings share its memory: who keeps one of them keeps it all
)

// Decoder reads one text after the other, as records are that are alike. The zero value is ready; it is for one
// goroutine.
type Decoder struct {
	fields int // of the last object, outermost
}

// Decode returns the value that a text is the JSON of: nil, a bool, a float64, a string, a []any or a map[string]any.
func (d *Decoder) Decode(text string) (any, error) {
	if utf8.ValidString(text) {
		p := parser{text: text, own: len(text) > mostShared, fields: d.fields}
		if v, ok := p.whole(); ok {
			if m, isObject := v.(map[string]any); isObject {
				d.fields = min(len(m), 1000)
			}
			return v, nil
		}
	}
	var v any
	err := json.Unmarshal([]byte(text), &v)
	return v, err
}

// parser reads a text of which it knows that it is UTF-8. It gives up where something is wrong or unusual.
type parser struct {
	text   string
	at     int
	own    bool // strings get memory of their own
	fields int  // that the outermost object may have
}

func (p *parser) whole() (any, bool) {
	v, ok := p.value(0)
	if !ok {
		return nil, false
	}
	p.space()
	return v, p.at == len(p.text)
}

// next returns the character that the parser stands at, behind space; 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) space() {
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (any, bool) {
	switch c := p.next(); c {
	case '{':
		return p.object(depth)
	case '[':
		return p.list(depth)
	case '"':
		s, ok := p.string()
		return s, ok
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	case 'n':
		return nil, p.word("null")
	default:
		return p.number()
	}
}

func (p *parser) word(word string) bool {
	if !strings.HasPrefix(p.text[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *parser) object(depth int) (any, bool) {
	if depth == deepest {
		return nil, false
	}
	fields := 0
	if depth == 0 {
		fields = p.fields
	}
	m := make(map[string]any, fields)
	p.at++
	if p.next() == '}' {
		p.at++
		return m, true
	}
	for {
		if p.next() != '"' {
			return nil, false
		}
		name, ok := p.string()
		if !ok || p.next() != ':' {
			return nil, false
		}
		p.at++
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		m[name] = v
		switch p.next() {
		case ',':
			p.at++
		case '}':
			p.at++
			return m, true
		default:
			return nil, false
		}
	}
}

func (p *parser) list(depth int) (any, bool) {
	if depth == deepest {
		return nil, false
	}
	p.at++
	if p.next() == ']' {
		p.at++
		return []any{}, true
	}
	list := make([]any, 0, 4)
	for {
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		switch p.next() {
		case ',':
			p.at++
		case ']':
			p.at++
			return list, true
		default:
			return nil, false
		}
	}
}

// string reads a string, whose quote the parser stands at. One with escapes is left to encoding/json.
func (p *parser) string() (string, bool) {
	start := p.at
	escaped := false
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.unquoted(p.text[start:p.at], escaped)
		case c == '\\':
			escaped = true
			p.at++
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

func (p *parser) unquoted(quoted string, escaped bool) (string, bool) {
	switch s := quoted[1 : len(quoted)-1]; {
	case escaped:
		return unescaped(quoted)
	case p.own:
		return strings.Clone(s), true
	default:
		return s, true
	}
}

func unescaped(quoted string) (s string, ok bool) {
	err := json.Unmarshal([]byte(quoted), &s)
	return s, err == nil
}

// exact is how many digits a number has that every float64 can tell from its neighbours.
const exact = 15

// boxed are the numbers that need no memory of their own.
var boxed = func() (all [1000]any) {
	for i := range all {
		all[i] = float64(i)
	}
	return all
}()

func (p *parser) number() (any, bool) {
	start := p.at
	negative := p.skip('-')
	first := p.at
	n := p.digits()
	digits := p.at - first
	if digits == 0 || digits > 1 && p.text[first] == '0' {
		return nil, false
	}
	whole := true
	if p.skip('.') {
		whole = false
		if !p.someDigits() {
			return nil, false
		}
	}
	if p.skip('e') || p.skip('E') {
		whole = false
		if !p.skip('+') {
			p.skip('-')
		}
		if !p.someDigits() {
			return nil, false
		}
	}
	switch {
	case whole && digits <= exact && !negative && n < uint64(len(boxed)):
		return boxed[n], true
	case whole && digits <= exact && !negative:
		return float64(n), true
	case whole && digits <= exact && n > 0:
		return -float64(n), true
	}
	f, err := strconv.ParseFloat(p.text[start:p.at], 64)
	return f, err == nil
}

func (p *parser) someDigits() bool {
	from := p.at
	p.digits()
	return p.at > from
}

func (p *parser) skip(c byte) bool {
	found := p.at < len(p.text) && p.text[p.at] == c
	if found {
		p.at++
	}
	return found
}

// digits reads digits, and returns their value, if it is no more than 15 of them.
func (p *parser) digits() (n uint64) {
	for ; p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9'; p.at++ {
		n = 10*n + uint64(p.text[p.at]-'0')
	}
	return n
}
