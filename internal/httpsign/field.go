package httpsign

import (
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// Structured fields (RFC 9651), as far as signatures need them: a dictionary of items and inner lists. Display
// strings are not read.

// kind is the type of a bare item.
type kind byte

const (
	kindInteger kind = iota
	kindDecimal
	kindString
	kindToken
	kindBytes
	kindBoolean
	kindDate
)

// bare is an item without its parameters.
type bare struct {
	kind   kind
	text   string // as it is serialized
	value  string // of a string or bytes: what it holds
	number int64  // of an integer
}

// param is a parameter of an item or a list, or a member of a dictionary that is no list.
type param struct {
	name  string
	value bare
}

// params are in their order, each name once.
type params []param

// get returns the value of a parameter.
func (all params) get(name string) (bare, bool) {
	for _, p := range all {
		if p.name == name {
			return p.value, true
		}
	}
	return bare{}, false
}

// serialize writes parameters (RFC 9651, section 4.1.1.2).
func (all params) serialize() string {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(";" + p.name)
		if p.value.text != "?1" {
			b.WriteString("=" + p.value.text)
		}
	}
	return b.String()
}

// item is a bare item with its parameters.
type item struct {
	bare
	params params
}

func (i item) serialize() string { return i.text + i.params.serialize() }

// value is what a dictionary has under a name: an item, or an inner list.
type value struct {
	item          // its parameters are those of the list, too
	isList bool   // which has
	list   []item // these items
}

func (v value) serialize() string {
	if !v.isList {
		return v.item.serialize()
	}
	items := make([]string, len(v.list))
	for i, each := range v.list {
		items[i] = each.serialize()
	}
	return "(" + strings.Join(items, " ") + ")" + v.params.serialize()
}

// dictionary has values by their names, in their order.
type dictionary struct {
	names  []string
	values map[string]value
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

// parseDictionary reads a field (RFC 9651, section 4.2.2). Of members of one name the last counts.
func parseDictionary(text string) (dictionary, error) {
	d := dictionary{values: make(map[string]value)}
	p := &parser{strings.Trim(text, " ")}
	for p.rest != "" {
		name, v, err := p.member()
		if err != nil {
			return d, err
		}
		if _, known := d.values[name]; !known {
			d.names = append(d.names, name)
		}
		d.values[name] = v
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

func (p *parser) member() (name string, v value, err error) {
	if name, err = p.name(); err != nil {
		return "", v, err
	}
	if !p.take('=') {
		v.bare = bare{kind: kindBoolean, text: "?1"}
		v.params, err = p.params()
		return name, v, err
	}
	if v.isList = p.take('('); v.isList {
		if v.list, err = p.items(); err == nil {
			v.params, err = p.params()
		}
		return name, v, err
	}
	v.item, err = p.item()
	return name, v, err
}

// items reads an inner list behind its bracket.
func (p *parser) items() (all []item, err error) {
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

func (p *parser) item() (i item, err error) {
	if i.bare, err = p.bare(); err == nil {
		i.params, err = p.params()
	}
	return i, err
}

// params reads parameters. Of those of one name the last counts, at the place of the first.
func (p *parser) params() (all params, err error) {
	places := make(map[string]int)
	for p.take(';') {
		p.rest = strings.TrimLeft(p.rest, " ")
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		v := bare{kind: kindBoolean, text: "?1"}
		if p.take('=') {
			if v, err = p.bare(); err != nil {
				return nil, err
			}
		}
		if at, known := places[name]; known {
			all[at].value = v
			continue
		}
		places[name] = len(all)
		all = append(all, param{name, v})
	}
	return all, nil
}

func (p *parser) name() (string, error) {
	if p.rest == "" || p.rest[0] != '*' && !isLower(p.rest[0]) {
		return "", errName
	}
	return p.while(func(c byte) bool { return isLower(c) || isDigit(c) || strings.IndexByte("_-.*", c) >= 0 }), nil
}

func (p *parser) bare() (bare, error) {
	if p.rest == "" {
		return bare{}, errItem
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
		if err == nil && n.kind != kindInteger {
			err = errNumber
		}
		return bare{kind: kindDate, text: "@" + n.text}, err
	case c == '*' || isLower(c|0x20):
		return p.token(), nil
	}
	return bare{}, errItem
}

func (p *parser) string() (bare, error) {
	var held strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			b := bare{kind: kindString, text: p.rest[:i+1], value: held.String()}
			p.rest = p.rest[i+1:]
			return b, nil
		case c == '\\':
			if i++; i == len(p.rest) || p.rest[i] != '"' && p.rest[i] != '\\' {
				return bare{}, errString
			}
			held.WriteByte(p.rest[i])
		case c < ' ' || c >= 0x7f:
			return bare{}, errString
		default:
			held.WriteByte(c)
		}
	}
	return bare{}, errString
}

func (p *parser) bytes() (bare, error) {
	encoded, rest, found := strings.Cut(p.rest[1:], ":")
	if !found || strings.ContainsAny(encoded, "\r\n") { // which the decoder would skip
		return bare{}, errBytes
	}
	held, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return bare{}, errBytes
	}
	p.rest = rest
	return bare{kind: kindBytes, text: ":" + base64.StdEncoding.EncodeToString(held) + ":", value: string(held)}, nil
}

// number reads an integer of up to 15 digits, or a decimal of up to 12 and 3 behind its point.
func (p *parser) number() (bare, error) {
	sign := ""
	if p.take('-') {
		sign = "-"
	}
	whole := p.while(isDigit)
	if whole == "" || len(whole) > 15 {
		return bare{}, errNumber
	}
	n, err := strconv.ParseInt(sign+whole, 10, 64)
	if err != nil {
		return bare{}, errNumber
	}
	if !p.take('.') {
		return bare{kind: kindInteger, text: strconv.FormatInt(n, 10), number: n}, nil
	}
	part := p.while(isDigit)
	if len(whole) > 12 || part == "" || len(part) > 3 {
		return bare{}, errNumber
	}
	text := strings.TrimRight(part, "0")
	if text == "" {
		text = "0"
	}
	text = strings.TrimPrefix(strconv.FormatInt(n, 10), "-") + "." + text
	if text != "0.0" {
		text = sign + text
	}
	return bare{kind: kindDecimal, text: text}, nil
}

func (p *parser) boolean() (bare, error) {
	if len(p.rest) < 2 || p.rest[1] != '0' && p.rest[1] != '1' {
		return bare{}, errItem
	}
	b := bare{kind: kindBoolean, text: p.rest[:2]}
	p.rest = p.rest[2:]
	return b, nil
}

func (p *parser) token() bare {
	return bare{kind: kindToken, text: p.while(func(c byte) bool {
		return isLower(c|0x20) || isDigit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
	})}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
