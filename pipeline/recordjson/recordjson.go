// Package recordjson reads and writes the JSON of records: it does what encoding/json does with a value of the type
// any, in a third of the time, but that numbers stay as they are written (see package number) and that it tells of what
// a text can hold and a record cannot: bytes that are not UTF-8, halves of surrogate pairs, names given twice.
package recordjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline/number"
)

const (
	deepest    = 10_000  // values within values, as in encoding/json
	mostShared = 4 << 10 // bytes of a text whose strings share its memory: who keeps one of them keeps it all
)

// Decoder reads one text after the other, as records are that are alike. The zero value is ready; it is for one
// goroutine.
type Decoder struct {
	Strict bool // what is in Flaws is an [Error]
	Flaws       // of the text that was read last

	fields int // of the last object, outermost
}

// Flaws are what a text holds that its value cannot.
type Flaws struct {
	InvalidText    bool // bytes that are not UTF-8, or halves of surrogate pairs: the value has U+FFFD in their place
	DuplicateNames bool // a name is given twice in an object: the value has the last
}

// Error is what is wrong in a text, and where.
type Error struct {
	Offset int // bytes before it
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("at byte %d: %v", e.Offset, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// What an [Error] reports of a text besides [number.ErrRange].
var (
	ErrNotUTF8   = errors.New("it is not UTF-8")
	ErrSurrogate = errors.New("half of a surrogate pair is no character")
	ErrDuplicate = errors.New("the name is given twice")
)

var errNotRead = errors.New("it cannot be read")

// Decode returns the value that a text is the JSON of: nil, a bool, a number (a float64 or a [json.Number]), a string,
// a []any or a map[string]any. A number that there cannot be is an [Error]; of what is not JSON, encoding/json tells.
func (d *Decoder) Decode(text string) (any, error) {
	d.Flaws = Flaws{}
	if at := invalidUTF8(text); at >= 0 {
		if d.Strict {
			return nil, &Error{at, ErrNotUTF8}
		}
		d.InvalidText = true
		return d.decode(string([]rune(text)), text)
	}
	return d.decode(text, text)
}

// invalidUTF8 returns where the first byte is that is not UTF-8; -1 if there is none.
func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for at, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[at:]); size == 1 {
			return at
		}
	}
	return -1
}

// decode reads a text that is UTF-8; an error is one of the text as it came.
func (d *Decoder) decode(text, came string) (any, error) {
	p := parser{text: text, own: len(text) > mostShared, fields: d.fields, strict: d.Strict}
	v, ok := p.whole()
	switch {
	case p.wrong != nil:
		return nil, p.wrong
	case !ok:
		return nil, cmp.Or(json.Unmarshal([]byte(came), new(json.RawMessage)), errNotRead)
	}
	d.InvalidText = d.InvalidText || p.InvalidText
	d.DuplicateNames = p.DuplicateNames
	if m, isObject := v.(map[string]any); isObject {
		d.fields = min(len(m), 1000)
	}
	return v, nil
}

// IsInvalidText reports whether JSON has bytes that are not UTF-8, or halves of surrogate pairs, for which its value
// gets U+FFFD.
func IsInvalidText(text []byte) bool {
	return !utf8.Valid(text) || bytes.IndexByte(text, '\\') >= 0 && halfPair(string(text)) >= 0
}

// Unmarshal is json.Unmarshal, but that values of any type have the numbers of [Decoder].
func Unmarshal(text []byte, into any) error {
	var d Decoder
	switch into := into.(type) {
	case *any:
		v, err := d.Decode(string(text))
		*into = v
		return err
	case *map[string]any:
		return decodeInto(&d, text, into)
	case *[]any:
		return decodeInto(&d, text, into)
	}
	return json.Unmarshal(text, into)
}

func decodeInto[T any](d *Decoder, text []byte, into *T) error {
	v, err := d.Decode(string(text))
	if err != nil || v == nil {
		return err
	}
	t, ok := v.(T)
	if !ok {
		return json.Unmarshal(text, into) // which tells what it is instead
	}
	*into = t
	return nil
}

// parser reads a text of which it knows that it is UTF-8. It gives up where something is wrong.
type parser struct {
	text   string
	at     int
	own    bool // strings get memory of their own
	fields int  // that the outermost object may have
	strict bool
	Flaws
	wrong error // an [Error]; nil where encoding/json knows better
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
		at := p.at
		name, ok := p.string()
		if !ok || p.next() != ':' {
			return nil, false
		}
		p.at++
		v, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		before := len(m)
		if m[name] = v; len(m) == before && !p.flaw(&p.DuplicateNames, at, ErrDuplicate) {
			return nil, false
		}
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
			return p.unquoted(start, escaped)
		case c == '\\':
			escaped = true
			p.at++
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

func (p *parser) unquoted(start int, escaped bool) (string, bool) {
	quoted := p.text[start:p.at]
	switch s := quoted[1 : len(quoted)-1]; {
	case escaped:
		if at := halfPair(quoted); at >= 0 && !p.flaw(&p.InvalidText, start+at, ErrSurrogate) {
			return "", false
		}
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

// flaw notes one, and reports whether it may be.
func (p *parser) flaw(noted *bool, at int, what error) bool {
	*noted = true
	if p.strict {
		p.wrong = &Error{at, what}
	}
	return !p.strict
}

// halfPair returns where in a string an escape stands for half of a surrogate pair, without the other; -1 if none does.
func halfPair(quoted string) int {
	for at := 0; at < len(quoted); at++ {
		if quoted[at] != '\\' {
			continue
		}
		switch r := escapedRune(quoted[at:]); {
		case !utf16.IsSurrogate(r):
			at++
		case utf16.DecodeRune(r, escapedRune(quoted[at+len(`\u0000`):])) == utf8.RuneError:
			return at
		default:
			at += len(`\u0000\u0000`) - 1
		}
	}
	return -1
}

// escapedRune returns what the escape \uXXXX stands for that a text begins with; -1 without one.
func escapedRune(text string) rune {
	if len(text) < len(`\u0000`) || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

func (p *parser) number() (any, bool) {
	v, length, err := number.Read(p.text[p.at:])
	if errors.Is(err, number.ErrRange) {
		p.wrong = &Error{p.at, fmt.Errorf("%.40s: %w", p.text[p.at:p.at+length], err)}
	}
	if n, isText := v.(json.Number); isText && p.own {
		v = json.Number(strings.Clone(string(n)))
	}
	p.at += length
	return v, err == nil
}
