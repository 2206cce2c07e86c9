package rdf

import (
	"strconv"
	"unicode/utf8"
)

// text reads character data up to the next tag.
func (x *xmlReader) text() error {
	if len(x.open) == 0 {
		return x.outside()
	}
	for {
		b := x.buf[x.pos:x.input.end]
		n := 0
		for n < len(b) && xmlClass[b[n]]&xmlText != 0 {
			n++
		}
		start := len(x.chars)
		x.chars = append(x.chars, b[:n]...)
		x.pos += n
		if n == len(b) {
			if !x.more() {
				return nil
			}
		} else if b[n] == '<' {
			return x.kept(start)
		} else if err := x.special(b[n]); err != nil {
			return err
		}
		if err := x.kept(start); err != nil {
			return err
		}
	}
}

// outside passes over what may stand around the root element: white space.
func (x *xmlReader) outside() error {
	x.chars = x.chars[:0]
	if _, err := x.skipBlank(); err != nil {
		return err
	}
	if x.has(1) && x.at(0) != '<' {
		return x.errorf(0, "there is text outside of the root element")
	}
	return nil
}

// kept sees to the text in chars that begins at an offset: that it is not too long, and in a literal canonical.
func (x *xmlReader) kept(start int) error {
	if x.canonical {
		x.chars = canonicalText(x.chars, start)
	}
	return x.checkLength(x.chars)
}

// special reads a character that does not stand for itself in a text.
func (x *xmlReader) special(c byte) (err error) {
	switch c {
	case '&':
		x.chars, err = x.reference(x.chars, false)
		return err
	case ']':
		if x.at(1) == ']' && x.at(2) == '>' {
			return x.errorf(0, "text has ]]>, which is written ]]&gt;")
		}
		x.chars = append(x.chars, ']')
		x.pos++
		return nil
	}
	return x.character()
}

func (x *xmlReader) checkLength(text []byte) error {
	if len(text) > x.limits.Literal {
		return x.limitError(0, "bytes of a literal", x.limits.Literal)
	}
	return nil
}

// character reads one that is no plain one of a text: an end of line, or one that XML does not have.
func (x *xmlReader) character() error {
	c, size := x.runeAt(0)
	switch {
	case c == '\r':
		if x.at(1) != '\n' {
			x.chars = append(x.chars, '\n')
		}
		x.pos++
		return nil
	case !isXMLChar(c):
		return x.errorf(0, "XML does not have the character %U", c)
	}
	x.chars = utf8.AppendRune(x.chars, c)
	x.pos += size
	return nil
}

// Classes of bytes: what stands for itself in a text and in the value of an attribute, and what names are of. U+FFFE
// and U+FFFF, which XML does not have, begin with 0xEF.
const (
	xmlText uint8 = 1 << iota
	xmlValue
	xmlInName
)

var xmlClass = func() (table [256]uint8) {
	for c := range table {
		if c >= ' ' && c != 0xEF && !in(c, "<&]") || c == '\t' || c == '\n' {
			table[c] |= xmlText
		}
		if c >= ' ' && c != 0xEF && !in(c, `<&"'`) {
			table[c] |= xmlValue
		}
	}
	for _, c := range []byte("-.0123456789_") {
		table[c] |= xmlInName
	}
	for c := 'A'; c <= 'Z'; c++ {
		table[c] |= xmlInName
		table[c|0x20] |= xmlInName
	}
	return table
}()

func isXMLChar(c rune) bool {
	return c >= ' ' && c != 0xFFFE && c != 0xFFFF || c == '\t' || c == '\n' || c == '\r'
}

// reference reads a reference to a character or an entity, and appends what it means. The caller sees to the length.
func (x *xmlReader) reference(to []byte, inValue bool) ([]byte, error) {
	n := 1
	for n < 64 && (is(x.at(n), isLetter|isDigit|inName) || x.at(n) == '.' || x.at(n) == '#' || x.at(n) >= utf8.RuneSelf) {
		n++
	}
	if x.at(n) != ';' || n == 1 {
		return to, x.errorf(0, "& begins no reference that ends with ;, and is written &amp;")
	}
	name := x.buf[x.pos+1 : x.pos+n]
	value, err := x.meaning(name)
	if err != nil {
		return to, err
	}
	for i := range len(value.text) {
		c := value.text[i]
		if inValue && value.entity && is(c, isBlank) {
			c = ' '
		}
		to = append(to, c)
	}
	if value.entity {
		x.expanded += len(value.text)
		if most := maxEntities + 32*(x.dropped+x.pos); x.expanded > most {
			return to, x.limitError(0, "bytes that entities add to the document up to here", most)
		}
	}
	x.pos += n + 1
	return to, nil
}

// meaning returns what the reference at pos stands for.
func (x *xmlReader) meaning(name []byte) (xmlEntity, error) {
	switch string(name) {
	case "lt":
		return xmlEntity{text: "<"}, nil
	case "gt":
		return xmlEntity{text: ">"}, nil
	case "amp":
		return xmlEntity{text: "&"}, nil
	case "quot":
		return xmlEntity{text: `"`}, nil
	case "apos":
		return xmlEntity{text: "'"}, nil
	}
	if name[0] == '#' {
		c, ok := characterReference(name)
		if !ok {
			return xmlEntity{}, x.errorf(0, "&%s; is no character of XML", shortened(name))
		}
		return xmlEntity{text: string(c)}, nil
	}
	e, ok := x.entities[string(name)]
	switch {
	case !ok:
		return e, x.errorf(0, "the entity &%s; is not declared in the document", shortened(name))
	case e.refused != "":
		return e, x.errorf(0, "the entity &%s; %s", shortened(name), e.refused)
	}
	return e, nil
}

// characterReference decodes #65 or #x41.
func characterReference(name []byte) (rune, bool) {
	digits, base := string(name[1:]), 10
	if len(digits) > 0 && digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	c, err := strconv.ParseUint(digits, base, 32)
	if err != nil || c > utf8.MaxRune || !utf8.ValidRune(rune(c)) || !isXMLChar(rune(c)) {
		return 0, false
	}
	return rune(c), true
}
