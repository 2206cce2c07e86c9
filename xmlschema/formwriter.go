package xmlschema

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/xpath"
)

// formWriter writes documents in their canonical form, and the table of it if one is wanted: that is right if the
// values are plain. Its methods follow one another as a reader would meet what they write.
type formWriter struct {
	xml    []byte
	listed bool // the document is an item of a list, which has declared the namespace
	tabled bool
	table  tableBuilder
	bare   bool // the tag of the element that was opened last still takes attributes
	names  []string
	number []byte
}

var formWriters = sync.Pool{New: func() any { return new(formWriter) }}

func newFormWriter() *formWriter {
	f := formWriters.Get().(*formWriter)
	t := &f.table
	t.nodes, t.attrs, t.text = append(t.nodes[:0], [nodeCells]uint32{cellKind: uint32(xpath.Root)}), t.attrs[:0], t.text[:0]
	t.open, t.last = append(t.open[:0], 0), append(t.last[:0], 0)
	f.xml, f.names, f.bare, f.listed, f.tabled = f.xml[:0], f.names[:0], false, false, false
	return f
}

// release keeps the writer for another document, but not the room of a large one.
func (f *formWriter) release() {
	if cap(f.xml) <= plainSize {
		formWriters.Put(f)
	}
}

// canonicalForm returns the canonical form of a document.
func canonicalForm(d writable) []byte {
	f := newFormWriter()
	defer f.release()
	d.write(f)
	return bytes.Clone(f.xml)
}

func (f *formWriter) open(name string) {
	f.closeTag()
	f.xml = append(append(f.xml, '<'), name...)
	f.names, f.bare = append(f.names, name), true
	if f.tabled {
		t := &f.table
		n := t.node(xpath.Element)
		t.nodes[n][cellName], t.nodes[n][cellAttr] = vocabularyNumbers[name], uint32(len(t.attrs))
		t.open, t.last = append(t.open, n), append(t.last, 0)
	}
}

// root opens the outermost element.
func (f *formWriter) root(name string) {
	f.open(name)
	if !f.listed {
		f.xml = append(append(append(f.xml, ` xmlns="`...), Namespace...), '"') // which is no attribute (XPath 1.0, section 5.3)
	}
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
	if f.tabled {
		f.table.open, f.table.last = f.table.open[:last+1], f.table.last[:last+1]
	}
}

// attr writes an attribute of the element that was opened last.
func (f *formWriter) attr(name, value string) {
	f.beginAttr(name)
	f.escape(value, &escapedInAttribute)
	f.xml = append(f.xml, '"')
	if f.tabled {
		f.endAttr(name, uint32(copyIn(&f.table.text, value)))
	}
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

// writePrint writes a fingerprint as [binding.fingerprint] reads it.
func writePrint(fingerprint uint64) string { return fmt.Sprintf("%016x", fingerprint) }

func (f *formWriter) fraction(name string, value float64) {
	f.plainAttr(name, strconv.AppendFloat(f.number[:0], value, 'f', -1, 64))
}

// plainAttr writes a value that needs no escapes, and keeps its bytes for the next one.
func (f *formWriter) plainAttr(name string, value []byte) {
	f.number = value
	f.beginAttr(name)
	f.xml = append(append(f.xml, value...), '"')
	if f.tabled {
		f.endAttr(name, uint32(copyIn(&f.table.text, value)))
	}
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
	f.escape(value, &escapedInText)
	if f.tabled {
		t := &f.table
		n := t.node(xpath.Text)
		t.nodes[n][cellText], t.nodes[n][cellTextLen] = uint32(len(t.text)), uint32(len(value))
		t.text = append(t.text, value...)
	}
}

// escapes are what stands for characters of markup, for those that a reader would normalize away (line ends, and white
// space in attributes), and for characters that XML cannot carry.
var escapes = func() (table [256]string) {
	for c := range ' ' {
		table[c] = replacement
	}
	table[0xEF] = replacement // U+FFFE and U+FFFF begin with it
	table['&'], table['<'], table['>'], table['"'] = "&amp;", "&lt;", "&gt;", "&quot;"
	table['\t'], table['\n'], table['\r'] = "&#x9;", "&#xA;", "&#xD;"
	return table
}()

// replacement stands for what XML cannot carry.
const replacement = string(utf8.RuneError)

// The bytes that escapes stand for.
var (
	escapedInText      = escapedBut("\t\n\"")
	escapedInAttribute = escapedBut(">")
)

func escapedBut(plain string) (table [256]bool) {
	for c, escaped := range escapes {
		table[c] = escaped != "" && !strings.ContainsRune(plain, rune(c))
	}
	return table
}

func (f *formWriter) escape(s string, special *[256]bool) {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // has the replacement for each byte that is wrong
	}
	from := 0
	for i := 0; i < len(s); i++ {
		if !special[s[i]] {
			continue
		}
		escaped, size := escapes[s[i]], 1
		if s[i] == 0xEF {
			if size = len(replacement); s[i:i+size] != "\uFFFE" && s[i:i+size] != "\uFFFF" {
				continue
			}
		}
		f.xml = append(append(f.xml, s[from:i]...), escaped...)
		from = i + size
		i = from - 1
	}
	f.xml = append(f.xml, s[from:]...)
}

// textElement writes an element of text alone.
func (f *formWriter) textElement(name, value string) {
	f.open(name)
	f.characters(value)
	f.end()
}

// optionalText writes an element of a text that is not empty.
func (f *formWriter) optionalText(name, value string) {
	if value != "" {
		f.textElement(name, value)
	}
}

func (f *formWriter) urgency(urgency int) {
	if urgency == 0 {
		urgency = DefaultUrgency
	}
	f.open("urgency")
	f.integer("urgent", urgency)
	f.end()
}
