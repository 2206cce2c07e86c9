package config

import (
	"bytes"
	"errors"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/webrace/webrace/pipeline/finding"
)

// This file alone knows the parser of go-toml, whose interface may change. It makes of a TOML file a tree
// of values that know where they stand, for which no decoder of structs would do: a decoder stops at the
// first value that does not fit, and has forgotten the places once it is done.

// document is a TOML file, or the pretended one that a --set came in.
type document struct {
	name  string
	src   []byte
	order int // among the files of the configuration
	flag  bool
	lines []int // where each line begins
	root  *value
}

// value is a value of a document. What it is depends on its kind: a table has keys and entries, a list
// has elements, anything else has text.
type value struct {
	kind               valueKind
	text               string // a string, decoded; any other scalar as it is written
	list               []*value
	keys               []string // in the order of the file
	table              map[string]*value
	doc                *document
	start, width       int // bytes
	keyStart, keyWidth int // the key it belongs to
}

type valueKind uint8

const (
	tableValue valueKind = iota
	listValue
	stringValue
	integerValue
	floatValue
	boolValue
	timeValue
)

func (k valueKind) String() string {
	return [...]string{"a table", "a list", "a string", "an integer", "a number with a point", "a boolean", "a date or time"}[k]
}

// parseDocument reads a TOML file. The error is the position of the mistake and what it is.
func parseDocument(name string, src []byte) (*document, *finding.Finding) {
	d := &document{name: name, src: src, lines: []int{0}}
	for i, c := range src {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	d.root = &value{doc: d, table: make(map[string]*value)}
	if err := toml.Unmarshal(src, new(map[string]any)); err != nil {
		return d, d.syntaxError(err)
	}
	b := treeBuilder{doc: d}
	b.parser.Reset(src)
	into := d.root
	for b.parser.NextExpression() {
		switch e := b.parser.Expression(); e.Kind {
		case unstable.Table:
			into = b.header(e.Key())
		case unstable.ArrayTable:
			into = b.arrayHeader(e.Key())
		case unstable.KeyValue:
			b.keyValue(into, e)
		}
	}
	if err := b.parser.Error(); err != nil {
		return d, d.syntaxError(err)
	}
	return d, nil
}

func (d *document) syntaxError(err error) *finding.Finding {
	f := &finding.Finding{Pos: d.position(0), Code: finding.CodeSyntax, Message: strings.TrimPrefix(err.Error(), "toml: "), Width: 1}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		line = min(max(line, 1), len(d.lines))
		f.Pos = d.position(d.lines[line-1] + column - 1)
	}
	return f
}

// position returns the place of a byte.
func (d *document) position(offset int) finding.Position {
	if d.flag {
		return finding.Position{File: d.name}
	}
	offset = min(max(offset, 0), len(d.src))
	for offset > 0 && offset < len(d.src) && !utf8.RuneStart(d.src[offset]) {
		offset-- // into a letter is at the letter
	}
	line := sort.SearchInts(d.lines, offset+1)
	start := d.lines[line-1]
	return finding.Position{File: d.name, Line: line, Column: 1 + utf8.RuneCount(d.src[start:offset])}
}

// line returns the text of a line, counted from 1, to be shown: without passwords.
func (d *document) line(n int) string {
	if d.flag || n < 1 || n > len(d.lines) {
		return ""
	}
	line := d.src[d.lines[n-1]:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return masked(strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "\uFFFD"))
}

// password finds the password in a URL.
var password = regexp.MustCompile(`(://[^\s:/@"']*:)([^\s"']+)(@)|([?&]password=)([^\s&"']+)()`)

// masked returns a line without its passwords, in which everything is in its place.
func masked(line string) string {
	return password.ReplaceAllStringFunc(line, func(found string) string {
		part := password.FindStringSubmatch(found)
		return part[1] + part[4] + strings.Repeat("*", utf8.RuneCountInString(part[2]+part[5])) + part[3]
	})
}

// treeBuilder adds the expressions of a document to its tree. The document is known to be valid.
type treeBuilder struct {
	doc    *document
	parser unstable.Parser
}

// header returns the table that [a.b] opens.
func (b *treeBuilder) header(key unstable.Iterator) *value {
	into := b.doc.root
	for key.Next() {
		last := key.IsLast()
		into = b.enter(into, key.Node(), last)
	}
	return into
}

// arrayHeader returns the table that [[a.b]] adds to a list.
func (b *treeBuilder) arrayHeader(key unstable.Iterator) *value {
	into := b.doc.root
	for key.Next() {
		n := key.Node()
		if !key.IsLast() {
			into = b.enter(into, n, false)
			continue
		}
		list := into.table[string(n.Data)]
		if list == nil {
			list = b.place(&value{kind: listValue}, n.Raw, n.Raw)
			into.put(string(n.Data), list)
		}
		into = b.place(&value{table: make(map[string]*value)}, n.Raw, n.Raw)
		list.list = append(list.list, into)
	}
	return into
}

// enter returns the table of that key, or the last one in the list of that key, and makes it if need be.
// A header of its own tells better where a table is than the header of one inside it.
func (b *treeBuilder) enter(in *value, key *unstable.Node, own bool) *value {
	name := string(key.Data)
	next := in.table[name]
	if next == nil {
		next = b.place(&value{table: make(map[string]*value)}, key.Raw, key.Raw)
		in.put(name, next)
	}
	if next.kind == listValue && len(next.list) > 0 {
		return next.list[len(next.list)-1]
	}
	if own {
		b.place(next, key.Raw, key.Raw)
	}
	return next
}

func (b *treeBuilder) keyValue(into *value, e *unstable.Node) {
	for key := e.Key(); key.Next(); {
		n := key.Node()
		if key.IsLast() {
			into.put(string(n.Data), b.value(e.Value(), n.Raw))
			return
		}
		into = b.enter(into, n, false)
	}
}

// value makes a value; lists and tables, for which the parser has no place, get that of their first
// element or of their key.
func (b *treeBuilder) value(n *unstable.Node, key unstable.Range) *value {
	v := b.place(&value{text: string(n.Data)}, key, n.Raw)
	switch n.Kind {
	case unstable.String:
		v.kind = stringValue
	case unstable.Integer:
		v.kind = integerValue
	case unstable.Float:
		v.kind = floatValue
	case unstable.Bool:
		v.kind = boolValue
	case unstable.Array:
		v.kind, v.text = listValue, ""
		b.place(v, key, key)
		for elements := n.Children(); elements.Next(); {
			v.list = append(v.list, b.value(elements.Node(), key))
		}
	case unstable.InlineTable:
		v.text, v.table = "", make(map[string]*value)
		for entries := n.Children(); entries.Next(); {
			b.keyValue(v, entries.Node())
		}
	default:
		v.kind = timeValue
	}
	return v
}

func (b *treeBuilder) place(v *value, key, at unstable.Range) *value {
	v.doc = b.doc
	v.keyStart, v.keyWidth = int(key.Offset), int(key.Length)
	v.start, v.width = int(at.Offset), int(at.Length)
	return v
}

func (v *value) put(name string, entry *value) {
	if _, known := v.table[name]; !known {
		v.keys = append(v.keys, name)
	}
	v.table[name] = entry
}

// get returns an entry of a table, or nil.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	return v.table[key]
}

// at follows a path such as "rule.2.host" or "rule[2].host" through tables and lists, as far as it goes.
// It returns nil if not even its first key is there.
func (v *value) at(path string) *value {
	path = strings.NewReplacer("[", ".", "]", "").Replace(path)
	var found *value
	for path != "" {
		if v, path = v.first(path); v == nil {
			break
		}
		found = v
	}
	return found
}

// first returns the value of the longest beginning of a path that is a key, which may have dots in it, and the rest of
// the path.
func (v *value) first(path string) (child *value, rest string) {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if child = v.child(path[:end]); child != nil {
			return child, strings.TrimPrefix(path[end:], ".")
		}
	}
	return nil, ""
}

// child returns an entry of a table, or an element of a list by its index, or nil.
func (v *value) child(key string) *value {
	if v == nil || v.kind != listValue {
		return v.get(key)
	}
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(v.list) {
		return nil
	}
	return v.list[i]
}

// finding reports something about the value.
func (v *value) finding(code finding.Code, message string) finding.Finding {
	return finding.Finding{Pos: v.doc.position(v.start), Code: code, Message: message, Width: v.chars(v.start, v.width)}
}

// keyFinding reports something about the value's key.
func (v *value) keyFinding(code finding.Code, message string) finding.Finding {
	return finding.Finding{Pos: v.doc.position(v.keyStart), Code: code, Message: message, Width: v.chars(v.keyStart, v.keyWidth)}
}

func (v *value) keyPosition() finding.Position { return v.doc.position(v.keyStart) }

// insideFinding reports something about a part of a string: width bytes, at bytes from its beginning.
func (v *value) insideFinding(code finding.Code, at, width int, message string) finding.Finding {
	return finding.Finding{Pos: v.inside(at), Code: code, Message: message, Width: width}
}

// chars counts the characters from a byte to the end of so many, or of the line.
func (v *value) chars(at, width int) int {
	if v.doc.flag {
		return 0
	}
	text, _, _ := bytes.Cut(v.doc.src[at:at+width], []byte("\n"))
	return utf8.RuneCount(text)
}

// inside returns the place of a byte of a decoded string.
func (v *value) inside(at int) finding.Position {
	if v.doc.flag || v.kind != stringValue {
		return v.doc.position(v.start)
	}
	return v.doc.position(v.start + rawOffset(v.doc.src[v.start:v.start+v.width], at))
}

// rawOffset returns where the byte at an offset of a decoded string begins in the string as it is
// written, with its quotes and escapes.
func rawOffset(raw []byte, decoded int) int {
	quote := raw[:1]
	i := 1
	if bytes.HasPrefix(raw, bytes.Repeat(quote, 3)) && len(raw) >= 6 {
		i = 3
		i += newline(raw[i:])
	}
	for n := 0; i < len(raw); {
		width, size := 1, 1
		if quote[0] == '"' && raw[i] == '\\' {
			width, size = escape(raw[i:])
		}
		if n+size > decoded {
			break
		}
		i, n = i+width, n+size
	}
	return min(i, len(raw)-1)
}

// newline returns the length of a line end at the beginning of b, or 0.
func newline(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("\n")):
		return 1
	case bytes.HasPrefix(b, []byte("\r\n")):
		return 2
	}
	return 0
}

// escape returns how many bytes an escape is written with, and how many it stands for.
func escape(b []byte) (width, size int) {
	digits := 0
	switch b[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case ' ', '\t', '\r', '\n': // the line goes on after all the space that follows
		return len(b) - len(bytes.TrimLeft(b[1:], " \t\r\n")), 0
	default:
		return 2, 1
	}
	var char rune
	for _, c := range b[2 : 2+digits] {
		char = char<<4 | rune(strings.IndexByte("0123456789abcdef", c|0x20))
	}
	return 2 + digits, max(1, utf8.RuneLen(char))
}
