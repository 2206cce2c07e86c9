package xmlschema

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/webrace/webrace/internal/xpath"
)

// A table is a document as an array of nodes, so that it can be walked where it lies, in memory or in a
// store, without parsing or allocating:
//
//	byte        version and width of a cell: 2 bytes for nearly every document, 4 where they do not suffice
//	cell × 4    how many nodes, attributes and names, and bytes of text
//	nodes       nodeCells cells each: kind, name, parent, first child, next, previous, attributes, text
//	attributes  attrCells cells each: name, text
//	names       nameCells cells each: local name, prefix, namespace, of those that are not in the vocabulary
//	text        the bytes that the other parts point into
//
// Node 0 is the document's root; because nothing else points to it, 0 also stands for none.

const (
	narrowTable = 0x21 // version 2, cells of 2 bytes
	wideTable   = 0x22 // version 2, cells of 4 bytes

	headCells = 4
	nodeCells = 10
	attrCells = 3
	nameCells = 6
)

// The cells of a node.
const (
	cellKind = iota
	cellName
	cellParent
	cellFirst
	cellNext
	cellPrevious
	cellAttr  // the first attribute
	cellAttrs // how many
	cellText
	cellTextLen
)

var errTable = errors.New("not a node table")

// BuildTable turns an XML document into the table that a [Query] is matched against. It takes what
// Canonical returns, and any other well-formed document without a document type declaration; processing
// instructions are left out.
func BuildTable(document []byte) ([]byte, error) {
	b := tableBuilder{
		names: make(map[[3]string]uint32),
		nodes: [][nodeCells]uint32{{cellKind: uint32(xpath.Root)}},
		open:  []uint32{0},
		last:  []uint32{0},
	}
	d := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("build node table: %w", err)
		}
		if err := b.add(token, tagAt(document, d, token)); err != nil {
			return nil, fmt.Errorf("build node table: %w", err)
		}
	}
	if !b.hasRoot() {
		return nil, errors.New("build node table: the document has no element")
	}
	return b.bytes()
}

// tagAt returns the start tag that was just read as it was written, because the XML decoder keeps the
// namespaces of names but not their prefixes.
func tagAt(document []byte, d *xml.Decoder, token xml.Token) []byte {
	if _, ok := token.(xml.StartElement); !ok {
		return nil
	}
	end := d.InputOffset()
	start := bytes.LastIndexByte(document[:end], '<') // a < in a value is escaped
	return document[start:end]
}

type tableBuilder struct {
	nodes [][nodeCells]uint32
	attrs [][attrCells]uint32
	names map[[3]string]uint32
	order [][nameCells]uint32
	text  []byte

	open []uint32 // the elements that are open, and the last child of each
	last []uint32
}

func (b *tableBuilder) add(token xml.Token, tag []byte) error {
	switch token := token.(type) {
	case xml.StartElement:
		if len(b.open) == 1 && b.hasRoot() {
			return errors.New("the document has a second root")
		}
		return b.element(token, tag)
	case xml.EndElement:
		b.open = b.open[:len(b.open)-1]
		b.last = b.last[:len(b.last)-1]
	case xml.CharData:
		if len(b.open) == 1 {
			if len(bytes.TrimLeft(token, " \t\r\n")) > 0 {
				return errors.New("text outside the document's element")
			}
			return nil
		}
		b.characters(token)
	case xml.Comment:
		n := b.node(xpath.Comment)
		b.nodes[n][cellText], b.nodes[n][cellTextLen] = b.intern(token)
	case xml.Directive:
		return errors.New("document type declarations are not allowed")
	}
	return nil
}

func (b *tableBuilder) hasRoot() bool {
	for n := b.nodes[0][cellFirst]; n != 0; n = b.nodes[n][cellNext] {
		if b.nodes[n][cellKind] == uint32(xpath.Element) {
			return true
		}
	}
	return false
}

func (b *tableBuilder) element(start xml.StartElement, tag []byte) error {
	if len(b.open) > MaxDepth {
		return fmt.Errorf("elements are nested more than %d deep", MaxDepth)
	}
	name, places, fault := scanTag(position{1, 1}, tag)
	if fault != nil {
		return fault
	}
	if len(places) != len(start.Attr) {
		return errors.New("a tag is not well-formed")
	}
	n := b.node(xpath.Element)
	b.nodes[n][cellName] = b.name(name, start.Name, Namespace)
	b.nodes[n][cellAttr] = uint32(len(b.attrs))
	for i, a := range start.Attr {
		if a.Name.Space == "xmlns" || a.Name == (xml.Name{Local: "xmlns"}) {
			continue // a declaration is no attribute (XPath 1.0, section 5.3)
		}
		at, length := b.intern([]byte(a.Value))
		b.attrs = append(b.attrs, [attrCells]uint32{b.name(places[i].name, a.Name, ""), at, length})
	}
	b.nodes[n][cellAttrs] = uint32(len(b.attrs)) - b.nodes[n][cellAttr]
	b.open = append(b.open, n)
	b.last = append(b.last, 0)
	return nil
}

// characters adds a text node, or lengthens the one before: XPath knows no CDATA sections.
func (b *tableBuilder) characters(data []byte) {
	if len(data) == 0 {
		return
	}
	if before := b.last[len(b.last)-1]; before != 0 && b.nodes[before][cellKind] == uint32(xpath.Text) {
		b.text = append(b.text, data...)
		b.nodes[before][cellTextLen] += uint32(len(data))
		return
	}
	n := b.node(xpath.Text)
	b.nodes[n][cellText], b.nodes[n][cellTextLen] = b.intern(data)
}

// node appends a node behind the last child of the open element.
func (b *tableBuilder) node(kind xpath.Kind) uint32 {
	n := uint32(len(b.nodes))
	parent, before := b.open[len(b.open)-1], b.last[len(b.last)-1]
	b.nodes = append(b.nodes, [nodeCells]uint32{cellKind: uint32(kind), cellParent: parent, cellPrevious: before})
	if before == 0 {
		b.nodes[parent][cellFirst] = n
	} else {
		b.nodes[before][cellNext] = n
	}
	b.last[len(b.last)-1] = n
	return n
}

// name returns the number of a name; raw is it as written, with its prefix, and usual the namespace that
// its kind has in the vocabulary.
func (b *tableBuilder) name(raw string, name xml.Name, usual string) uint32 {
	prefix := ""
	if len(raw) > len(name.Local) {
		prefix = raw[:len(raw)-len(name.Local)-1]
	}
	if n, known := vocabularyNumbers[name.Local]; known && prefix == "" && name.Space == usual {
		return n
	}
	key := [3]string{name.Local, prefix, name.Space}
	if n, ok := b.names[key]; ok {
		return n
	}
	n := ownNames + uint32(len(b.order))
	b.names[key] = n
	var cells [nameCells]uint32
	for i, part := range key {
		cells[2*i], cells[2*i+1] = b.intern([]byte(part))
	}
	b.order = append(b.order, cells)
	return n
}

func (b *tableBuilder) intern(s []byte) (at, length uint32) {
	at = uint32(len(b.text))
	b.text = append(b.text, s...)
	return at, uint32(len(s))
}

func (b *tableBuilder) bytes() ([]byte, error) {
	most := max(len(b.nodes), len(b.attrs), ownNames+len(b.order), len(b.text))
	width, kind := 2, byte(narrowTable)
	if most > math.MaxUint16 {
		width, kind = 4, wideTable
	}
	if most > math.MaxInt32 {
		return nil, errors.New("build node table: the document is too large")
	}
	cells := headCells + nodeCells*len(b.nodes) + attrCells*len(b.attrs) + nameCells*len(b.order)
	out := append(make([]byte, 0, 1+width*cells+len(b.text)), kind)
	put := func(cells []uint32) {
		for _, c := range cells {
			if width == 2 {
				out = binary.LittleEndian.AppendUint16(out, uint16(c))
			} else {
				out = binary.LittleEndian.AppendUint32(out, c)
			}
		}
	}
	put([]uint32{uint32(len(b.nodes)), uint32(len(b.attrs)), uint32(len(b.order)), uint32(len(b.text))})
	for i := range b.nodes {
		put(b.nodes[i][:])
	}
	for i := range b.attrs {
		put(b.attrs[i][:])
	}
	for i := range b.order {
		put(b.order[i][:])
	}
	return append(out, b.text...), nil
}

// table reads what a tableBuilder wrote. Its parts are where its head points to, which is checked
// once; what they point to is checked by Go's bounds when it is followed.
type table struct {
	cells []byte // nodes, attributes and names
	wide  bool
	attrs int // the first cell of the attributes
	names int // the first cell of the names
	text  []byte
}

func openTable(b []byte) (table, error) {
	if len(b) == 0 || (b[0] != narrowTable && b[0] != wideTable) {
		return table{}, errTable
	}
	t := table{cells: b[1:], wide: b[0] == wideTable}
	width := uint64(2)
	if t.wide {
		width = 4
	}
	if uint64(len(t.cells)) < headCells*width {
		return table{}, errTable
	}
	nodes, attrs, names, text := t.cell(0), t.cell(1), t.cell(2), t.cell(3)
	t.cells = t.cells[headCells*width:]
	t.attrs = int(nodeCells * nodes)
	t.names = int(nodeCells*nodes + attrCells*attrs)
	total := width * (nodeCells*uint64(nodes) + attrCells*uint64(attrs) + nameCells*uint64(names))
	if nodes == 0 || uint64(len(t.cells)) != total+uint64(text) {
		return table{}, errTable
	}
	t.cells, t.text = t.cells[:total], t.cells[total:]
	return t, nil
}

func (t *table) cell(i int) int {
	if t.wide {
		return int(binary.LittleEndian.Uint32(t.cells[4*i:]))
	}
	return int(binary.LittleEndian.Uint16(t.cells[2*i:]))
}

// nodes returns how many there are.
func (t *table) nodes() int { return t.attrs / nodeCells }

func (t *table) node(n, cell int) int { return t.cell(nodeCells*n + cell) }
func (t *table) attr(a, cell int) int { return t.cell(t.attrs + attrCells*a + cell) }

// namePart returns the local name, prefix or namespace of a name that is not of the vocabulary.
func (t *table) namePart(name, part int) []byte {
	at := t.names + nameCells*(name-ownNames) + 2*part
	return t.slice(t.cell(at), t.cell(at+1))
}

// hasNames reports whether there are names that are not of the vocabulary.
func (t *table) hasNames() bool {
	width := 2
	if t.wide {
		width = 4
	}
	return len(t.cells) > width*t.names
}

// simpleText returns the text of an element; it is simple where the element has nothing else in it.
func (t *table) simpleText(node int) (text []byte, simple bool) {
	kid := t.node(node, cellFirst)
	if kid == 0 {
		return nil, true
	}
	if t.node(kid, cellNext) != 0 || t.node(kid, cellKind) != int(xpath.Text) {
		return nil, false
	}
	return t.slice(t.node(kid, cellText), t.node(kid, cellTextLen)), true
}

func (t *table) slice(at, length int) []byte { return t.text[at : at+length] }
