package xmlschema

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/xpath"
)

// encodable is a document that is stored in both of its forms.
type encodable interface {
	// plain reports whether it is certain, without writing and reading it, that the document is valid if it is not
	// too large. It may return false for one that is.
	plain() bool
	// write writes the canonical form of a plain document.
	write(*formWriter)
	Canonical() []byte
	Validate() error
}

// encode returns the canonical form of a valid document, and its table.
func encode(d encodable) (canonical, table []byte, err error) {
	if d.plain() {
		f := formWriters.Get().(*formWriter)
		defer formWriters.Put(f)
		f.reset()
		if d.write(f); len(f.xml) <= plainSize {
			table, err = f.table.bytes()
			return bytes.Clone(f.xml), table, err
		}
	}
	if err := d.Validate(); err != nil {
		return nil, nil, err
	}
	canonical = d.Canonical()
	table, err = BuildTable(canonical)
	return canonical, table, err
}

// The limits of plain values are far below those of the reader.
const (
	plainToken = 256
	plainValue = 1024
	plainText  = 16 << 10
	plainSize  = MaxItem / 4
)

func percent(n int) bool { return n >= 0 && n <= 100 }
func natural(n int) bool { return n >= 0 && n <= math.MaxInt32 }

func fraction(f float64) bool { return f >= 0 && f <= 1 && !math.Signbit(f) }

// plainString reports whether a text is at most so long and of characters that XML carries as they are.
// Spaces, where there may be any, stand within.
func plainString(s string, most int, spaces bool) bool {
	if len(s) > most {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return plainRunes(s, spaces)
		case c < ' ' || c == 0x7f || c == ' ' && !spaces:
			return false
		}
	}
	return strings.Trim(s, " ") == s
}

func plainRunes(s string, spaces bool) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsGraphic(r) || r != ' ' && unicode.IsSpace(r) || r == ' ' && !spaces || r == utf8.RuneError || r&0xfffe == 0xfffe {
			return false
		}
	}
	return strings.Trim(s, " ") == s
}

// formWriter writes one document in both forms at once. Its methods follow one another as a reader would meet
// what they write.
type formWriter struct {
	xml    []byte
	table  tableBuilder
	bare   bool // the tag of the element that was opened last still takes attributes
	names  []string
	number []byte
}

var formWriters = sync.Pool{New: func() any { return new(formWriter) }}

func (f *formWriter) reset() {
	t := &f.table
	t.nodes, t.attrs, t.text = append(t.nodes[:0], [nodeCells]uint32{cellKind: uint32(xpath.Root)}), t.attrs[:0], t.text[:0]
	t.open, t.last = append(t.open[:0], 0), append(t.last[:0], 0)
	f.xml, f.names, f.bare = f.xml[:0], f.names[:0], false
}

func (f *formWriter) open(name string) {
	f.closeTag()
	f.xml = append(append(f.xml, '<'), name...)
	t := &f.table
	n := t.node(xpath.Element)
	t.nodes[n][cellName], t.nodes[n][cellAttr] = vocabularyNumbers[name], uint32(len(t.attrs))
	t.open, t.last = append(t.open, n), append(t.last, 0)
	f.names, f.bare = append(f.names, name), true
}

// root opens the outermost element.
func (f *formWriter) root(name string) {
	f.open(name)
	f.xml = append(append(append(f.xml, ` xmlns="`...), Namespace...), '"') // which is no attribute (XPath 1.0, section 5.3)
}

func (f *formWriter) closeTag() {
	if f.bare {
		f.xml, f.bare = append(f.xml, '>'), false
	}
}

func (f *formWriter) end() {
	last := len(f.names) - 1
	if f.bare {
		f.xml, f.bare = append(f.xml, "/>"...), false
	} else {
		f.xml = append(append(append(f.xml, "</"...), f.names[last]...), '>')
	}
	f.names = f.names[:last]
	f.table.open, f.table.last = f.table.open[:last+1], f.table.last[:last+1]
}

// attr writes an attribute of the element that was opened last.
func (f *formWriter) attr(name, value string) {
	f.beginAttr(name)
	f.escape(value, `&<"`)
	f.xml = append(f.xml, '"')
	f.endAttr(name, uint32(copyIn(&f.table.text, value)))
}

func (f *formWriter) optional(name, value string) {
	if value != "" {
		f.attr(name, value)
	}
}

// unless writes an attribute that has another value than its default.
func (f *formWriter) unless(name, value, otherwise string) {
	if value != otherwise {
		f.optional(name, value)
	}
}

func (f *formWriter) integer(name string, value int) {
	f.plainAttr(name, strconv.AppendInt(f.number[:0], int64(value), 10))
}

func (f *formWriter) optionalInt(name string, value int) {
	if value != 0 {
		f.integer(name, value)
	}
}

func (f *formWriter) optionalPrint(name string, fingerprint uint64) {
	if fingerprint != 0 {
		f.attr(name, writePrint(fingerprint))
	}
}

func (f *formWriter) fraction(name string, value float64) {
	f.plainAttr(name, strconv.AppendFloat(f.number[:0], value, 'f', -1, 64))
}

// plainAttr writes a value that needs no escapes, and keeps its bytes for the next one.
func (f *formWriter) plainAttr(name string, value []byte) {
	f.number = value
	f.beginAttr(name)
	f.xml = append(append(f.xml, value...), '"')
	f.endAttr(name, uint32(copyIn(&f.table.text, value)))
}

func (f *formWriter) beginAttr(name string) {
	f.xml = append(append(append(f.xml, ' '), name...), `="`...)
}

// endAttr enters an attribute whose value is the last so many bytes of the table's text.
func (f *formWriter) endAttr(name string, length uint32) {
	t := &f.table
	t.attrs = append(t.attrs, [attrCells]uint32{vocabularyNumbers[name], uint32(len(t.text)) - length, length})
	t.nodes[t.open[len(t.open)-1]][cellAttrs]++
}

func copyIn[T string | []byte](into *[]byte, s T) int {
	*into = append(*into, s...)
	return len(s)
}

func (f *formWriter) characters(value string) {
	if value == "" {
		return
	}
	f.closeTag()
	f.escape(value, "&<>")
	t := &f.table
	n := t.node(xpath.Text)
	t.nodes[n][cellText], t.nodes[n][cellTextLen] = uint32(len(t.text)), uint32(len(value))
	t.text = append(t.text, value...)
}

// escape writes a plain text, of which only special characters are written otherwise.
func (f *formWriter) escape(s, special string) {
	for {
		i := strings.IndexAny(s, special)
		if i < 0 {
			f.xml = append(f.xml, s...)
			return
		}
		f.xml = append(append(f.xml, s[:i]...), escapes[s[i]]...)
		s = s[i+1:]
	}
}

var escapes = map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;"}

// textElement writes an element of text alone.
func (f *formWriter) textElement(name, value string) {
	f.open(name)
	f.characters(value)
	f.end()
}

func (f *formWriter) urgency(urgency int) {
	f.open("urgency")
	f.integer("urgent", max(urgency, DefaultUrgency))
	f.end()
}
