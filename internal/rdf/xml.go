package rdf

import (
	"bytes"
	"unicode/utf8"
)

// xmlReader reads XML 1.0 with namespaces, tag by tag, and refuses what is not well-formed. Of a document type it knows
// the entities of the internal subset.
type xmlReader struct {
	*reader
	tag       []byte // what names and values of the last start tag are cut from
	name      xmlName
	attrs     []attribute
	chars     []byte // character data since it was last emptied; within literals, comments and instructions, too
	canonical bool   // chars is a literal of XML: with comments and instructions, and escaped

	open       []openElement
	openNames  []byte            // the names of the elements that are open
	ended      []byte            // the name of the one that ended last
	namespaces map[string]string // by prefix
	undo       []binding         // what to restore at the end of elements
	closing    bool              // the last tag was that of an empty element, whose end comes next
	begun      bool              // the root element has begun
	entities   map[string]xmlEntity
	declared   int  // bytes of entities
	expanded   int  // bytes that entities added to the document
	afterCR    bool // the last character kept was \r
	tagAt      int  // where the last tag begins
}

type xmlKind uint8

const (
	xmlEnd   xmlKind = iota + 1 // an end tag; also that of an empty element
	xmlStart                    //
	xmlDone                     // the end of the document
)

// xmlName is the name of an element or attribute.
type xmlName struct {
	qualified []byte // as it is written
	prefix    []byte
	local     []byte
	space     string // the namespace; empty if there is none
}

type attribute struct {
	xmlName
	value      []byte
	start, end [3]int // of the name, the local part and the value, in tag
	at         int    // the offset in the document
}

type openElement struct{ name, undo int } // where names and undo end before it

type binding struct {
	prefix, space string
	bound         bool
}

const xmlNS = "http://www.w3.org/XML/1998/namespace"

func newXMLReader(r *reader) *xmlReader {
	r.skipMark()
	return &xmlReader{reader: r, namespaces: map[string]string{"xml": xmlNS}}
}

// next goes to the next tag. Character data before it is appended to chars.
func (x *xmlReader) next() (xmlKind, error) {
	x.hold = -1
	if x.closing {
		x.closing = false
		x.close()
		return xmlEnd, nil
	}
	for {
		if err := x.text(); err != nil {
			return 0, err
		}
		if !x.has(1) {
			return x.done()
		}
		switch x.at(1) {
		case '/':
			return xmlEnd, x.endTag()
		case '!':
			if err := x.declaration(); err != nil {
				return 0, err
			}
		case '?':
			if err := x.instruction(); err != nil {
				return 0, err
			}
		default:
			return xmlStart, x.startTag()
		}
	}
}

func (x *xmlReader) done() (xmlKind, error) {
	switch {
	case x.broken:
		return 0, x.final
	case len(x.open) > 0:
		return 0, x.errorf(0, "the document ends within the element %s", shortened(x.innermost()))
	case !x.begun:
		return 0, x.errorf(0, "the document has no element")
	}
	return xmlDone, nil
}

// startTag reads a start tag with its attributes.
func (x *xmlReader) startTag() error {
	if x.begun && len(x.open) == 0 {
		return x.errorf(0, "there is an element behind the root element")
	}
	if len(x.open) >= x.limits.Depth {
		return x.limitError(0, "elements within each other", x.limits.Depth)
	}
	x.begun = true
	x.holdTag()
	x.pos++
	x.tag, x.attrs = x.tag[:0], x.attrs[:0]
	colon, err := x.readName("the name of an element")
	if err != nil {
		return err
	}
	nameEnd := len(x.tag)
	x.open = append(x.open, openElement{len(x.openNames), len(x.undo)})
	x.openNames = append(x.openNames, x.tag...)
	for {
		spaces, err := x.skipBlank()
		if err != nil {
			return err
		}
		switch x.at(0) {
		case '>':
			x.pos++
		case '/':
			if x.at(1) != '>' {
				return x.errorf(1, "expected > behind / in the tag of an empty element")
			}
			x.pos += len("/>")
			x.closing = true
		default:
			if !spaces {
				return x.expected("a space, > or /> in a tag")
			}
			if err := x.attribute(); err != nil {
				return err
			}
			continue
		}
		return x.finishTag(nameEnd, colon)
	}
}

// holdTag keeps a tag until the next one is read, so that errors in it have their place.
func (x *xmlReader) holdTag() {
	x.hold = x.dropped + x.pos
	x.tagAt = x.hold
}

// skipBlank passes over white space, and reports whether there was some.
func (x *xmlReader) skipBlank() (some bool, err error) {
	for {
		if is(x.at(0), isBlank) {
			x.pos++
			some = true
			if x.hold >= 0 && x.dropped+x.pos-x.hold > x.maxTag() {
				return some, x.tagLimit()
			}
			continue
		}
		if x.broken {
			return some, x.final
		}
		return some, nil
	}
}

// maxTag is how long a tag may be, as it is written and as it is kept.
func (x *xmlReader) maxTag() int { return 4 * x.limits.Literal }

func (x *xmlReader) tagLimit() error { return x.limitError(0, "bytes of a tag", x.maxTag()) }

const maxAttributes = 10_000

// readName reads a name into tag, and returns where its colon stands, from its beginning; -1 if it has none.
func (x *xmlReader) readName(what string) (colon int, err error) {
	if n, colon := x.plainQName(); n > 0 {
		x.tag = append(x.tag, x.buf[x.pos:x.pos+n]...)
		x.pos += n
		return colon, nil
	}
	colon = -1
	start := len(x.tag)
	begins := true // the name, or the part behind a colon
	for {
		c := x.at(0)
		size := 1
		switch {
		case is(c, isLetter) || c == '_':
		case c == ':' && !begins && colon < 0:
			colon = len(x.tag) - start
			x.tag = append(x.tag, c)
			x.pos++
			begins = true
			continue
		case c >= utf8.RuneSelf:
			var character rune
			if character, size = x.runeAt(0); begins && !isNameStart(character) || !isNameRune(character) {
				size = 0
			}
		case begins || !is(c, inName) && c != '.':
			size = 0
		}
		if size == 0 {
			break
		}
		begins = false
		x.tag = append(x.tag, x.buf[x.pos:x.pos+size]...)
		x.pos += size
		if len(x.tag)-start > x.limits.IRI {
			return 0, x.limitError(0, "bytes of a name", x.limits.IRI)
		}
	}
	if begins {
		return 0, x.expected(what)
	}
	return colon, nil
}

// plainQName returns how long the name at pos is if it is of ASCII characters, and another character follows, and where
// its colon stands. Otherwise n is 0.
func (x *xmlReader) plainQName() (n, colon int) {
	b := x.buf[x.pos:x.input.end]
	b = b[:min(len(b), x.limits.IRI)]
	n = plainNCName(b, 0)
	if colon = -1; n > 0 && n < len(b) && b[n] == ':' {
		colon = n
		n = plainNCName(b, n+1)
	}
	if n == 0 || n == len(b) || b[n] >= utf8.RuneSelf || b[n] == ':' {
		return 0, -1
	}
	return n, colon
}

// plainNCName returns where the name ends that begins in b at n; 0 if none does.
func plainNCName(b []byte, n int) int {
	if n == len(b) || !is(b[n], isLetter) && b[n] != '_' {
		return 0
	}
	for n++; n < len(b) && xmlClass[b[n]]&xmlInName != 0; n++ {
	}
	return n
}

// attribute reads an attribute into tag.
func (x *xmlReader) attribute() error {
	switch {
	case len(x.tag) > x.maxTag() || x.dropped+x.pos-x.hold > x.maxTag():
		return x.tagLimit()
	case len(x.attrs) >= maxAttributes:
		return x.limitError(0, "attributes of a tag", maxAttributes)
	}
	a := attribute{at: x.dropped + x.pos}
	a.start[0] = len(x.tag)
	colon, err := x.readName("the name of an attribute")
	if err != nil {
		return err
	}
	a.end[0] = len(x.tag)
	a.start[1] = a.start[0] + colon + 1
	if _, err := x.skipBlank(); err != nil {
		return err
	}
	if x.at(0) != '=' {
		return x.expected("= behind the name of an attribute")
	}
	x.pos++
	if _, err := x.skipBlank(); err != nil {
		return err
	}
	a.start[2] = len(x.tag)
	if err := x.value(); err != nil {
		return err
	}
	a.end[2] = len(x.tag)
	x.attrs = append(x.attrs, a)
	return nil
}

// value reads the value of an attribute into tag.
func (x *xmlReader) value() error {
	quote := x.at(0)
	if quote != '"' && quote != '\'' {
		return x.expected("the value of an attribute in quotation marks")
	}
	x.pos++
	start := len(x.tag)
	for {
		b := x.buf[x.pos:x.input.end]
		n := 0
		for n < len(b) && xmlClass[b[n]]&xmlValue != 0 {
			n++
		}
		x.tag = append(x.tag, b[:n]...)
		if err := x.checkLength(x.tag[start:]); err != nil {
			return err
		}
		x.pos += n
		if n == len(b) {
			if !x.more() {
				return x.errorf(0, "the value of an attribute does not end with %c", quote)
			}
			continue
		}
		switch c := b[n]; {
		case c == quote:
			x.pos++
			return nil
		case c == '&':
			var err error
			if x.tag, err = x.reference(x.tag, true); err != nil {
				return err
			}
		case c == '<':
			return x.errorf(0, "the value of an attribute has <, which is written &lt;")
		case is(c, isBlank):
			if c != '\r' || x.at(1) != '\n' {
				x.tag = append(x.tag, ' ')
			}
			x.pos++
		default:
			character, size := x.runeAt(0)
			if !isXMLChar(character) {
				return x.errorf(0, "XML does not have the character %U", character)
			}
			x.tag = utf8.AppendRune(x.tag, character)
			x.pos += size
		}
	}
}

// endTag reads an end tag.
func (x *xmlReader) endTag() error {
	x.holdTag()
	x.pos += len("</")
	if len(x.open) == 0 {
		return x.errorf(0, "there is the end of an element that has not begun")
	}
	name := x.innermost()
	if rest := x.buf[x.pos:x.input.end]; len(rest) > len(name) && rest[len(name)] == '>' && bytes.HasPrefix(rest, name) {
		x.pos += len(name) + 1
		x.close()
		return nil
	}
	x.tag = x.tag[:0]
	if _, err := x.readName("the name of an element"); err != nil {
		return err
	}
	if !bytes.Equal(x.tag, x.innermost()) {
		return x.errorf(0, "the element %s ends with </%s>", shortened(x.innermost()), shortened(x.tag))
	}
	if _, err := x.skipBlank(); err != nil {
		return err
	}
	if x.at(0) != '>' {
		return x.expected("> at the end of a tag")
	}
	x.pos++
	x.close()
	return nil
}

// innermost returns the name of the innermost element that is open.
func (x *xmlReader) innermost() []byte { return x.openNames[x.open[len(x.open)-1].name:] }

// close ends the innermost element, with the namespaces that it declared.
func (x *xmlReader) close() {
	last := x.open[len(x.open)-1]
	x.open = x.open[:len(x.open)-1]
	x.ended = x.openNames[last.name:]
	x.openNames = x.openNames[:last.name]
	for len(x.undo) > last.undo {
		b := x.undo[len(x.undo)-1]
		x.undo = x.undo[:len(x.undo)-1]
		if b.bound {
			x.namespaces[b.prefix] = b.space
		} else {
			delete(x.namespaces, b.prefix)
		}
	}
}
