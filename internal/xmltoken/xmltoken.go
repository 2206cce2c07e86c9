// Package xmltoken reads XML token by token, well-formed or not: many feeds are not. What breaks a rule is
// taken for text where it may be text, and passed over elsewhere; nothing is an error. On well-formed
// documents the text and the tags are those of encoding/xml, with two liberties: references to the
// entities of HTML and to characters of windows-1252 mean what they mean there, with their semicolon. No
// other entity is expanded, so that no document grows. Time is linear in the input.
package xmltoken

import (
	"bytes"
	"iter"
)

// Kind is what a token is.
type Kind uint8

const (
	None  Kind = iota // the end of the input
	Text              // character data, of a CDATA section or not
	Start             // a start tag, or the tag of an empty element
	End               // an end tag
)

// Reader gives the tokens of one document in UTF-8. The fields describe the last one.
type Reader struct {
	Text  []byte // of character data, decoded
	Name  []byte // of a tag, as written, with its prefix
	Empty bool   // the start tag is that of an empty element, for which no end tag comes

	src        []byte
	pos        int
	attributes []byte // what stands between the name of a start tag and its end

	// What was looked for in vain, or is not looked for a second time: each could cost a reading to the end.
	noInstruction bool // no processing instruction ends from here on
	declared      bool // a document has one declaration that holds others
}

// NewReader returns a reader of src, which must not be changed meanwhile.
func NewReader(src []byte) *Reader { return &Reader{src: src} }

// Next goes on to the next token. Comments, declarations and processing instructions are none.
func (r *Reader) Next() Kind {
	for r.pos < len(r.src) {
		rest := r.src[r.pos:]
		if rest[0] != '<' {
			return r.text(rest)
		}
		switch {
		case bytes.HasPrefix(rest, []byte(cdata)):
			r.Text, rest, _ = bytes.Cut(rest[len(cdata):], []byte("]]>"))
			r.pos = len(r.src) - len(rest)
			return Text
		case bytes.HasPrefix(rest, []byte("<!--")):
			_, rest, _ = bytes.Cut(rest[len("<!--"):], []byte("-->"))
			r.pos = len(r.src) - len(rest)
		case bytes.HasPrefix(rest, []byte("<!")):
			r.declaration(rest)
		case bytes.HasPrefix(rest, []byte("<?")):
			r.instruction(rest)
		case len(rest) > 2 && rest[1] == '/' && beginsName(rest[2]):
			r.Name = name(rest[2:])
			r.pass(rest)
			return End
		case bytes.HasPrefix(rest, []byte("</")):
			r.pass(rest)
		case len(rest) > 1 && beginsName(rest[1]):
			if r.startTag(rest) {
				return Start
			}
		default:
			return r.text(rest)
		}
	}
	return None
}

const cdata = "<![CDATA["

// text reads character data, to which also a '<' belongs that begins nothing.
func (r *Reader) text(rest []byte) Kind {
	end := len(rest)
	if n := bytes.IndexByte(rest[1:], '<'); n >= 0 {
		end = 1 + n
	}
	r.Text = Decode(rest[:end])
	r.pos += end
	return Text
}

// pass goes to the place after the next '>'.
func (r *Reader) pass(rest []byte) {
	_, rest, _ = bytes.Cut(rest, []byte(">"))
	r.pos = len(r.src) - len(rest)
}

// instruction passes over a processing instruction. One that does not end as it should does so at a '>'.
func (r *Reader) instruction(rest []byte) {
	if !r.noInstruction {
		if _, after, ok := bytes.Cut(rest[len("<?"):], []byte("?>")); ok {
			r.pos = len(r.src) - len(after)
			return
		}
		r.noInstruction = true
	}
	r.pass(rest)
}

// declaration passes over a declaration. That of the document's type, which comes first, has others within.
func (r *Reader) declaration(rest []byte) {
	if !r.declared {
		r.declared = true
		if n := documentType(rest); n > 0 {
			r.pos += n
			return
		}
	}
	r.pass(rest)
}

// startTag reads the start tag at the beginning of rest; one that does not end is passed over.
func (r *Reader) startTag(rest []byte) bool {
	r.Name = name(rest[1:])
	from := 1 + len(r.Name)
	for i := from; ; {
		key, _, next := attribute(rest, i)
		i = next
		if key != nil {
			continue
		}
		if i >= len(rest) {
			r.pos = len(r.src)
			return false
		}
		r.attributes, r.Empty = rest[from:i], i > from && rest[i-1] == '/'
		r.pos += i + 1
		return true
	}
}

// Attributes gives the attributes of a start tag, in order, their names as written.
func (r *Reader) Attributes() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for i := 0; ; {
			key, value, next := attribute(r.attributes, i)
			if key == nil || !yield(key, Decode(value)) {
				return
			}
			i = next
		}
	}
}

// attribute reads the attribute that follows at i. The key is nil if there is none before the tag ends, at
// next; a tag that never ends does so behind the last byte.
func attribute(b []byte, i int) (key, value []byte, next int) {
	for i < len(b) && (isSpace(b[i]) || b[i] == '/') {
		i++
	}
	start := i
	for i < len(b) && !isSpace(b[i]) && b[i] != '=' && b[i] != '>' && b[i] != '/' {
		i++
	}
	if i == start && (i >= len(b) || b[i] == '>') {
		return nil, nil, i
	}
	key = b[start:i]
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != '=' {
		return key, nil, i
	}
	i = skipSpace(b, i+1)
	if i < len(b) && (b[i] == '"' || b[i] == '\'') {
		n := bytes.IndexByte(b[i+1:], b[i])
		if n < 0 {
			return nil, nil, len(b)
		}
		return key, b[i+1 : i+1+n], i + n + 2
	}
	start = i
	for i < len(b) && !isSpace(b[i]) && b[i] != '>' {
		i++
	}
	return key, b[start:i], i
}

// documentType returns how long the declaration at the beginning of b is, with those within; 0 if something
// in it does not end.
func documentType(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		end := ""
		switch {
		case b[i] == '>':
			if depth--; depth == 0 {
				return i + 1
			}
			continue
		case b[i] == '"' || b[i] == '\'':
			end = string(b[i])
		case bytes.HasPrefix(b[i:], []byte("<!--")):
			end = "-->"
			i += len("<!--") - 1
		case bytes.HasPrefix(b[i:], []byte("<?")):
			end = "?>"
		case b[i] == '<':
			depth++
			continue
		default:
			continue
		}
		n := bytes.Index(b[i+1:], []byte(end))
		if n < 0 {
			return 0
		}
		i += n + len(end)
	}
	return 0
}

// name returns the name at the beginning of b.
func name(b []byte) []byte {
	i := 0
	for i < len(b) && !isSpace(b[i]) && b[i] != '>' && b[i] != '/' {
		i++
	}
	return b[:i]
}

func beginsName(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == ':' || c >= 0x80
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}
