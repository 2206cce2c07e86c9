package rdf

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// xmlEntity is what a reference stands for.
type xmlEntity struct {
	text    string
	entity  bool   // it was declared by the document
	refused string // why it is not replaced, as the end of a sentence
}

// maxEntities is how many bytes the entities of a document may have in all. None has others within, so that none can
// grow; how much they add to the document is limited by its length, too.
const maxEntities = 64 << 10

// declaration reads what begins with <!: a comment, a CDATA section or the document type.
func (x *xmlReader) declaration() error {
	switch {
	case x.follows("<!--"):
		return x.comment()
	case x.follows("<![CDATA["):
		return x.cdata()
	case x.follows("<!DOCTYPE"):
		return x.documentType()
	}
	return x.errorf(0, "<! begins no comment, CDATA section or document type")
}

// follows reports whether a text follows at pos.
func (in *input) follows(text string) bool {
	for i := range len(text) {
		if in.at(i) != text[i] {
			return false
		}
	}
	return true
}

// until reads up to an end, and behind it. What stands before goes to chars, if kept, with line ends as XML has them.
func (x *xmlReader) until(end, what string, keep bool) error {
	x.afterCR = false // \r and \n are one line end only if nothing stands between them
	for {
		b := x.buf[x.pos:x.input.end]
		n := bytes.IndexByte(b, end[0])
		if n < 0 {
			n = len(b)
		}
		if err := x.keep(b[:n], keep); err != nil {
			return err
		}
		x.pos += n
		switch {
		case x.follows(end):
			x.pos += len(end)
			return nil
		case !x.has(1):
			return x.errorf(0, "%s does not end with %s", what, end)
		case n < len(b):
			if err := x.keep(x.buf[x.pos:x.pos+1], keep); err != nil {
				return err
			}
			x.pos++
		}
	}
}

func (x *xmlReader) keep(b []byte, keep bool) error {
	for i := 0; i < len(b); {
		c, size := rune(b[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(b[i:])
		}
		if !isXMLChar(c) {
			return x.errorf(i, "XML does not have the character %U", c)
		}
		if keep {
			x.keepRune(c)
		}
		i += size
	}
	if keep {
		return x.checkLength(x.chars)
	}
	return nil
}

// keepRune appends a character, and takes \r\n and \r for \n.
func (x *xmlReader) keepRune(c rune) {
	switch {
	case c == '\r':
		x.chars, x.afterCR = append(x.chars, '\n'), true
		return
	case c != '\n' || !x.afterCR:
		x.chars = utf8.AppendRune(x.chars, c)
	}
	x.afterCR = false
}

func (x *xmlReader) comment() error {
	x.pos += len("<!--")
	if x.canonical {
		x.chars = append(x.chars, "<!--"...)
	}
	if err := x.until("--", "a comment", x.canonical); err != nil {
		return err
	}
	if x.at(0) != '>' {
		return x.errorf(0, "a comment has --, which ends it with a > behind")
	}
	x.pos++
	if x.canonical {
		x.chars = append(x.chars, "-->"...)
	}
	return nil
}

func (x *xmlReader) cdata() error {
	if len(x.open) == 0 {
		return x.errorf(0, "there is text outside of the root element")
	}
	x.pos += len("<![CDATA[")
	start := len(x.chars)
	if err := x.until("]]>", "a CDATA section", true); err != nil {
		return err
	}
	return x.kept(start)
}

// instruction reads a processing instruction, or the declaration of XML.
func (x *xmlReader) instruction() error {
	first := x.dropped+x.pos == x.start
	x.pos += len("<?")
	x.tag = x.tag[:0]
	if _, err := x.readName("the target of an instruction"); err != nil {
		return err
	}
	if strings.EqualFold(string(x.tag), "xml") && !(first && string(x.tag) == "xml") {
		return x.errorf(0, "the declaration of XML stands only at the beginning of the document")
	}
	if !is(x.at(0), isBlank) && !x.follows("?>") {
		return x.expected("a space or ?> behind the target of an instruction")
	}
	if !x.canonical {
		return x.until("?>", "an instruction", false)
	}
	x.chars = append(append(x.chars, "<?"...), x.tag...)
	if _, err := x.skipBlank(); err != nil {
		return err
	}
	if !x.follows("?>") {
		x.chars = append(x.chars, ' ')
	}
	if err := x.until("?>", "an instruction", true); err != nil {
		return err
	}
	x.chars = append(x.chars, "?>"...)
	return nil
}

// documentType reads a document type, and the entities of its internal subset. What lies elsewhere is never read.
func (x *xmlReader) documentType() error {
	if x.begun || x.entities != nil {
		return x.errorf(0, "a document has one document type, before its root element")
	}
	x.entities = map[string]xmlEntity{}
	x.pos += len("<!DOCTYPE")
	for {
		switch c := x.at(0); c {
		case '>':
			x.pos++
			return nil
		case '[':
			x.pos++
			if err := x.subset(); err != nil {
				return err
			}
		case '"', '\'':
			if err := x.quoted(); err != nil {
				return err
			}
		case '<', 0:
			return x.expected("the end of the document type, a >")
		default:
			x.pos++
		}
	}
}

// quoted passes over a text in quotation marks.
func (x *xmlReader) quoted() error {
	end := string(x.at(0))
	x.pos++
	return x.until(end, "a text in quotation marks", false)
}

// subset reads the declarations in the brackets of a document type.
func (x *xmlReader) subset() error {
	for {
		if _, err := x.skipBlank(); err != nil {
			return err
		}
		var err error
		switch {
		case x.at(0) == ']':
			x.pos++
			return nil
		case x.follows("<!--"):
			err = x.comment()
		case x.follows("<?"):
			err = x.instruction()
		case x.follows("<!ENTITY"):
			x.pos += len("<!ENTITY")
			err = x.entity()
		case x.follows("<!"):
			x.pos += len("<!")
			err = x.restOfDeclaration()
		case x.at(0) == '%':
			err = x.until(";", "a reference to a parameter entity", false)
		default:
			return x.expected("a declaration, or ] behind them")
		}
		if err != nil {
			return err
		}
	}
}

// restOfDeclaration passes over what is left of a declaration.
func (x *xmlReader) restOfDeclaration() error {
	for {
		switch c := x.at(0); {
		case c == '>':
			x.pos++
			return nil
		case c == '"' || c == '\'':
			if err := x.quoted(); err != nil {
				return err
			}
		case c == 0 || c == '<':
			return x.expected("the end of a declaration, a >")
		default:
			x.pos++
		}
	}
}

// entity reads the declaration of an entity.
func (x *xmlReader) entity() error {
	if blank, err := x.skipBlank(); err != nil {
		return err
	} else if !blank {
		return x.expected("a space behind <!ENTITY")
	}
	if x.at(0) == '%' {
		return x.restOfDeclaration()
	}
	x.tag = x.tag[:0]
	if _, err := x.readName("the name of an entity"); err != nil {
		return err
	}
	name := string(x.tag)
	if _, err := x.skipBlank(); err != nil {
		return err
	}
	e := xmlEntity{entity: true}
	if quote := x.at(0); quote == '"' || quote == '\'' {
		var err error
		if e.text, err = x.entityText(); err != nil {
			return err
		}
		if strings.ContainsAny(e.text, "&<") {
			e.refused = "has a reference or a tag within, which is not replaced"
		}
	} else {
		e.refused = "lies outside of the document, and is not read"
	}
	if _, known := x.entities[name]; !known { // the first declaration binds
		x.entities[name] = e
	}
	if x.declared += len(name) + len(e.text); x.declared > maxEntities {
		return x.limitError(0, "bytes of entities", maxEntities)
	}
	return x.restOfDeclaration()
}

// entityText reads the text of an entity, in which references to characters are replaced at once.
func (x *xmlReader) entityText() (string, error) {
	quote := x.at(0)
	x.pos++
	var text []byte
	for {
		if x.declared+len(text) > maxEntities {
			return "", x.limitError(0, "bytes of entities", maxEntities)
		}
		c, size := x.runeAt(0)
		switch {
		case size == 0:
			return "", x.errorf(0, "the text of an entity does not end with %c", quote)
		case c == rune(quote):
			x.pos++
			return string(text), nil
		case c == '&' && x.at(1) == '#':
			var err error
			if text, err = x.reference(text, false); err != nil {
				return "", err
			}
			continue
		case !isXMLChar(c):
			return "", x.errorf(0, "XML does not have the character %U", c)
		}
		text = utf8.AppendRune(text, c)
		x.pos += size
	}
}
