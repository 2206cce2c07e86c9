// Package structured reads and writes structured fields of HTTP (RFC 9651), as far as signatures and usage preferences
// need them: dictionaries of items and inner lists. Display strings are not read.
package structured

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// Kind is the type of a bare item.
type Kind byte

const (
	Integer Kind = iota
	Decimal
	String
	Token
	Bytes
	Boolean
	Date
)

// Bare is an item without its parameters.
type Bare struct {
	Kind   Kind
	Text   string // as it is serialized
	Value  string // of a string or bytes: what it holds
	Number int64  // of an integer
}

// Param is a parameter of an item or a list, or a member of a dictionary that is no list.
type Param struct {
	Name  string
	Value Bare
}

// Params are in their order, each name once.
type Params []Param

// Get returns the value of a parameter.
func (all Params) Get(name string) (Bare, bool) {
	for _, p := range all {
		if p.Name == name {
			return p.Value, true
		}
	}
	return Bare{}, false
}

// Serialize writes parameters (RFC 9651, section 4.1.1.2).
func (all Params) Serialize() string {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(";" + p.Name)
		if p.Value.Text != "?1" {
			b.WriteString("=" + p.Value.Text)
		}
	}
	return b.String()
}

// Item is a bare item with its parameters.
type Item struct {
	Bare
	Params Params
}

// Serialize writes an item (RFC 9651, section 4.1.3).
func (i Item) Serialize() string { return i.Text + i.Params.Serialize() }

// Value is what a dictionary has under a name: an item, or an inner list.
type Value struct {
	Item          // its parameters are those of the list, too
	IsList bool   // which has
	List   []Item // these items
}

// Serialize writes a value (RFC 9651, sections 4.1.1.1 and 4.1.3).
func (v Value) Serialize() string {
	if !v.IsList {
		return v.Item.Serialize()
	}
	items := make([]string, len(v.List))
	for i, each := range v.List {
		items[i] = each.Serialize()
	}
	return "(" + strings.Join(items, " ") + ")" + v.Params.Serialize()
}

// Dictionary has values by their names, in their order.
type Dictionary struct {
	Names  []string
	Values map[string]Value
}

// Why a text is no dictionary.
var (
	errName    = errors.New("a name is missing, or holds what no name may")
	errItem    = errors.New("an item is of no known type")
	errNumber  = errors.New("a number is too long, or none")
	errString  = errors.New("a string does not end, or holds what no string may")
	errBytes   = errors.New("bytes do not end, or are not in base64")
	errList    = errors.New("a list does not end, or its items are not apart")
	errMembers = errors.New("members are not apart, or the last is missing")
)

// parser reads a text from its front.
type parser struct{ rest string }

// ParseDictionary reads a field (RFC 9651, section 4.2.2). Of members of one name the last counts.
func ParseDictionary(text string) (Dictionary, error) {
	d := Dictionary{Values: make(map[string]Value)}
	p := &parser{strings.Trim(text, " ")}
	for p.rest != "" {
		name, v, err := p.member()
		if err != nil {
			return d, err
		}
		if _, known := d.Values[name]; !known {
			d.Names = append(d.Names, name)
		}
		d.Values[name] = v
		p.rest = strings.TrimLeft(p.rest, " \t")
		if p.rest == "" {
			return d, nil
		}
		if !p.take(',') {
			return d, errMembers
		}
		if p.rest = strings.TrimLeft(p.rest, " \t"); p.rest == "" {
			return d, errMembers
		}
	}
	return d, nil
}

// take skips a character if it is the next one.
func (p *parser) take(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// while takes as many characters as are of a kind.
func (p *parser) while(of func(c byte) bool) string {
	end := 0
	for end < len(p.rest) && of(p.rest[end]) {
		end++
	}
	taken := p.rest[:end]
	p.rest = p.rest[end:]
	return taken
}

func (p *parser) member() (name string, v Value, err error) {
	if name, err = p.name(); err != nil {
		return "", v, err
	}
	if !p.take('=') {
		v.Bare = Bare{Kind: Boolean, Text: "?1"}
		v.Params, err = p.params()
		return name, v, err
	}
	if v.IsList = p.take('('); v.IsList {
		if v.List, err = p.items(); err == nil {
			v.Params, err = p.params()
		}
		return name, v, err
	}
	v.Item, err = p.item()
	return name, v, err
}

// items reads an inner list behind its bracket.
func (p *parser) items() (all []Item, err error) {
	for {
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.take(')') {
			return all, nil
		}
		each, err := p.item()
		if err != nil {
			return nil, err
		}
		all = append(all, each)
		if p.rest == "" || p.rest[0] != ' ' && p.rest[0] != ')' {
			return nil, errList
		}
	}
}

func (p *parser) item() (i Item, err error) {
	if i.Bare, err = p.bare(); err == nil {
		i.Params, err = p.params()
	}
	return i, err
}

// params reads parameters. Of those of one name the last counts, at the place of the first.
func (p *parser) params() (all Params, err error) {
	places := make(map[string]int)
	for p.take(';') {
		p.rest = strings.TrimLeft(p.rest, " ")
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		v := Bare{Kind: Boolean, Text: "?1"}
		if p.take('=') {
			if v, err = p.bare(); err != nil {
				return nil, err
			}
		}
		if at, known := places[name]; known {
			all[at].Value = v
			continue
		}
		places[name] = len(all)
		all = append(all, Param{name, v})
	}
	return all, nil
}

func (p *parser) name() (string, error) {
	if p.rest == "" || p.rest[0] != '*' && !isLower(p.rest[0]) {
		return "", errName
	}
	return p.while(func(c byte) bool { return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0 }), nil
}

func (p *parser) bare() (Bare, error) {
	if p.rest == "" {
		return Bare{}, errItem
	}
	switch c := p.rest[0]; {
	case c == '"':
		return p.string()
	case c == ':':
		return p.bytes()
	case c == '-' || isDigit(c):
		return p.number()
	case c == '?':
		return p.boolean()
	case c == '@':
		p.rest = p.rest[1:]
		n, err := p.number()
		if err == nil && n.Kind != Integer {
			err = errNumber
		}
		return Bare{Kind: Date, Text: "@" + n.Text}, err
	case c == '*' || isLower(c|0x20):
		return p.token(), nil
	}
	return Bare{}, errItem
}

func (p *parser) string() (Bare, error) {
	var held strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			b := Bare{Kind: String, Text: p.rest[:i+1], Value: held.String()}
			p.rest = p.rest[i+1:]
			return b, nil
		case c == '\\':
			if i++; i == len(p.rest) || p.rest[i] != '"' && p.rest[i] != '\\' {
				return Bare{}, errString
			}
			held.WriteByte(p.rest[i])
		case c < ' ' || c >= 0x7f:
			return Bare{}, errString
		default:
			held.WriteByte(c)
		}
	}
	return Bare{}, errString
}

func (p *parser) bytes() (Bare, error) {
	encoded, rest, found := strings.Cut(p.rest[1:], ":")
	if !found || strings.ContainsAny(encoded, "\r\n") { // which the decoder would skip
		return Bare{}, errBytes
	}
	held, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return Bare{}, errBytes
	}
	p.rest = rest
	return Bare{Kind: Bytes, Text: ":" + base64.StdEncoding.EncodeToString(held) + ":", Value: string(held)}, nil
}

// number reads an integer of up to 15 digits, or a decimal of up to 12 and 3 behind its point.
func (p *parser) number() (Bare, error) {
	sign := ""
	if p.take('-') {
		sign = "-"
	}
	whole := p.while(isDigit)
	if whole == "" || len(whole) > 15 {
		return Bare{}, errNumber
	}
	n, err := strconv.ParseInt(sign+whole, 10, 64)
	if err != nil {
		return Bare{}, errNumber
	}
	if !p.take('.') {
		return Bare{Kind: Integer, Text: strconv.FormatInt(n, 10), Number: n}, nil
	}
	part := p.while(isDigit)
	if len(whole) > 12 || part == "" || len(part) > 3 {
		return Bare{}, errNumber
	}
	text := strings.TrimRight(part, "0")
	if text == "" {
		text = "0"
	}
	text = strings.TrimPrefix(strconv.FormatInt(n, 10), "-") + "." + text
	if text != "0.0" {
		text = sign + text
	}
	return Bare{Kind: Decimal, Text: text}, nil
}

func (p *parser) boolean() (Bare, error) {
	if len(p.rest) < 2 || p.rest[1] != '0' && p.rest[1] != '1' {
		return Bare{}, errItem
	}
	b := Bare{Kind: Boolean, Text: p.rest[:2]}
	p.rest = p.rest[2:]
	return b, nil
}

func (p *parser) token() Bare {
	return Bare{Kind: Token, Text: p.while(func(c byte) bool {
		return isLower(c|0x20) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
	})}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
