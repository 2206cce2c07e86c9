package xmlschema

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The limits of a document. They bound what is held in memory before anything of it is understood.
const (
	MaxDocument   = 16 << 20 // bytes of a document, as encoded
	MaxItem       = 1 << 20  // bytes of one URD or ACI
	MaxDepth      = 64       // nested elements
	MaxAttributes = 64       // of one element
	MaxAttribute  = 8 << 10  // bytes of one attribute's value, as written
)

// position is a place in a document, from 1; columns count characters.
type position struct{ line, column int }

// after returns the position behind text that begins at p.
func (p position) after(text []byte) position {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		p.line += bytes.Count(text, []byte{'\n'})
		p.column = 1
		text = text[i+1:]
	}
	p.column += utf8.RuneCount(text)
	return p
}

// source hands a document to the XML decoder byte by byte, so that a limit is met before the token that
// breaks it has been read, and keeps the bytes of the token being read to tell where its parts are. It
// normalizes line ends, and white space in attribute values, as XML 1.0 asks (sections 2.11, 3.3.3).
type source struct {
	r    *bufio.Reader
	tape []byte   // what was read since the token's start
	base int64    // the offset of the tape
	at   position // of the tape

	encoding string // that the document must be in, where its text shows that it is not

	itemEnd int64 // the offset at which the current item is too large; 0 for no limit
	fault   *fault
	err     error // of the reader below

	state  markup
	quote  byte
	value  int // bytes of the attribute value being read
	values int // attribute values of the tag being read
	bare   int // bytes of the tag being read that are not in values
}

// fault is what makes a document unreadable, and where.
type fault struct {
	at      position
	message string
}

func (f *fault) Error() string { return f.message }

// markup is the part of a document that a byte belongs to.
type markup uint8

const (
	inText markup = iota
	inOpening
	inTag
	inValue
	inBang
	inComment
	inCData
	inInstruction
)

// Read is there because the XML decoder asks for an io.Reader; it reads through ReadByte.
func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := s.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

func (s *source) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err != nil {
		return 0, s.failed(err)
	}
	if b == '\r' {
		if next, err := s.r.Peek(1); err == nil && next[0] == '\n' {
			s.r.ReadByte()
		}
		b = '\n'
	}
	s.tape = append(s.tape, b)
	if len(s.tape) > MaxItem {
		return 0, s.refuse("a tag, text or comment is larger than %s", size(MaxItem))
	}
	if s.itemEnd > 0 && s.base+int64(len(s.tape)) > s.itemEnd {
		return 0, s.refuse("the element is larger than %s", size(MaxItem))
	}
	if s.encoding != "" {
		if wrong := s.misread(b); wrong > 0 {
			s.fault = &fault{s.at.after(s.tape[:len(s.tape)-wrong]), fmt.Sprintf("this is no character of %s, which the document says it is in", s.encoding)}
			return 0, s.fault
		}
	}
	value := s.state == inValue
	if err := s.follow(b); err != nil {
		return 0, err
	}
	if value && (b == '\n' || b == '\t') {
		b = ' '
	}
	return b, nil
}

// misread returns how many bytes up to the one just read stand for what is not of the document's encoding.
func (s *source) misread(b byte) int {
	const replacement = "\uFFFD"
	switch {
	case s.encoding == asciiEncoding && b >= utf8.RuneSelf, s.encoding == utf16Encoding && b == 0xff:
		return 1
	case s.encoding == utf16Encoding: // which can have U+FFFD
	case b == replacement[2] && bytes.HasSuffix(s.tape, []byte(replacement)):
		return len(replacement)
	}
	return 0
}

func (s *source) failed(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, errTooLarge):
		return s.refuse("the document is too large: the limit is reached here")
	}
	s.err = err
	return err
}

// follow moves the state on by one byte and counts what is limited.
func (s *source) follow(b byte) error {
	switch s.state {
	case inText:
		if b == '<' {
			s.state = inOpening
		}
	case inOpening:
		switch b {
		case '?':
			s.state = inInstruction
		case '!':
			s.state = inBang
		default:
			s.state, s.values, s.bare = inTag, 0, 0
		}
	case inTag:
		return s.followTag(b)
	case inValue:
		if b == s.quote {
			s.state = inTag
			return nil
		}
		if s.value++; s.value > MaxAttribute {
			return s.refuse("an attribute is larger than %s", size(MaxAttribute))
		}
	case inBang:
		return s.followBang(b)
	case inComment:
		s.leave("-->")
	case inCData:
		s.leave("]]>")
	case inInstruction:
		s.leave("?>")
	}
	return nil
}

func (s *source) followTag(b byte) error {
	switch b {
	case '>':
		s.state = inText
	case '"', '\'':
		s.state, s.quote, s.value = inValue, b, 0
		if s.values++; s.values > MaxAttributes {
			return s.refuse("an element has more than %d attributes", MaxAttributes)
		}
	}
	if s.bare++; s.bare > MaxAttribute {
		return s.refuse("a tag is larger than %s", size(MaxAttribute))
	}
	return nil
}

const noDoctype = "document type declarations are not allowed: leave it out, what the papers' definitions allow is read without it"

// followBang tells comments and CDATA sections from declarations, of which none is allowed.
func (s *source) followBang(b byte) error {
	open := s.tape[bytes.LastIndexByte(s.tape, '<'):]
	switch {
	case string(open) == "<!--":
		s.state = inComment
	case string(open) == "<![CDATA[":
		s.state = inCData
	case !strings.HasPrefix("<!--", string(open)) && !strings.HasPrefix("<![CDATA[", string(open)):
		s.fault = &fault{s.at.after(s.tape[:len(s.tape)-len(open)]), noDoctype}
		return s.fault
	}
	return nil
}

func (s *source) leave(end string) {
	if bytes.HasSuffix(s.tape, []byte(end)) {
		s.state = inText
	}
}

// refuse reports a fault at the byte just read.
func (s *source) refuse(format string, args ...any) error {
	s.fault = &fault{s.here(), fmt.Sprintf(format, args...)}
	return s.fault
}

func (s *source) here() position { return s.at.after(s.tape[:max(0, len(s.tape)-1)]) }

// discard forgets what lies before offset.
func (s *source) discard(offset int64) {
	done := s.tape[:offset-s.base]
	s.at = s.at.after(done)
	s.tape = append(s.tape[:0], s.tape[len(done):]...)
	s.base = offset
}

// raw returns the bytes from the last discard to offset.
func (s *source) raw(offset int64) []byte { return s.tape[:offset-s.base] }

func size(bytes int) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MB", bytes>>20)
	}
	return fmt.Sprintf("%d KB", bytes>>10)
}
