package htmltext

import (
	"bytes"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/swar"
)

// nul determines what becomes of NUL characters.
type nul bool

const (
	dropNUL    nul = false // in text
	replaceNUL nul = true  // in attributes, raw text and foreign content
)

// text adds running text.
func (s *Scanner) text(b []byte) { s.add(b, true, nul(s.inForeign())) }

// decoded adds the content of a title or textarea.
func (s *Scanner) decoded(b []byte) { s.add(b, true, replaceNUL) }

// literal adds text without character references.
func (s *Scanner) literal(b []byte) { s.add(b, false, replaceNUL) }

func (s *Scanner) add(b []byte, references bool, n nul) {
	if len(s.Text.Bytes) == s.block {
		b = b[skipSpace(b, 0):]
	}
	if len(b) == 0 || s.hidden() {
		return
	}
	from := len(s.Text.Bytes)
	if references {
		s.Text.Bytes = s.appendDecoded(s.Text.Bytes, b, false, n)
	} else {
		s.Text.Bytes = s.appendPlain(s.Text.Bytes, b, n)
	}
	if s.pre == 0 { // a line feed is not shown
		swar.Replace(s.Text.Bytes[from:], '\n', ' ')
	}
}

// separate applies what a tag does to the text around it.
func (s *Scanner) separate(f flow) {
	switch f {
	case breaks:
		if !s.hidden() {
			s.endBlock()
		}
	case spaces:
		if n := len(s.Text.Bytes); n > s.block && !isSpace(s.Text.Bytes[n-1]) && !s.hidden() {
			s.Text.Bytes = append(s.Text.Bytes, ' ')
		}
	}
}

// enterField takes note of a start tag that may change the field.
func (s *Scanner) enterField(el *element) {
	if el.heading == noHeading || s.hidden() {
		return
	}
	s.heading = el.heading == opensHeading
	if el.id >= elemNav && el.id <= elemAside {
		s.inside[el.id-elemNav]++
	}
	s.refield()
}

// leaveField takes note of an end tag that may change the field.
func (s *Scanner) leaveField(el *element) {
	if el.heading == noHeading || s.hidden() {
		return
	}
	if el.heading != endsHeading {
		s.heading = false
	}
	if el.id >= elemNav && el.id <= elemAside {
		s.inside[el.id-elemNav] = max(0, s.inside[el.id-elemNav]-1)
	}
	s.refield()
}

// refield ends the block if the text from here on belongs to another field.
func (s *Scanner) refield() {
	field := webrace.FieldBody
	switch {
	case s.inside != [3]int{}:
		field = webrace.FieldNavigation
	case s.heading:
		field = webrace.FieldHeading
	}
	if field != s.field {
		s.endBlock()
		s.field = field
	}
}

// endBlock closes the open block, if it has any text.
func (s *Scanner) endBlock() {
	if s.beside != noneBeside || len(s.readings) > 0 {
		s.endBeside()
		s.addReadings()
	}
	text := s.Text.Bytes
	if len(text) == s.block {
		return
	}
	end := len(text)
	for end > s.block && isSpace(text[end-1]) {
		end--
	}
	start := s.block + skipSpace(text[s.block:end], 0) // a reference may have given white space
	switch {
	case start == end:
		s.Text.Bytes = text[:s.block]
	case s.MaxBlocks > 0 && len(s.Text.Blocks) >= s.MaxBlocks:
		s.Text.Bytes, s.Text.Cut = text[:s.block], true
	default:
		if s.pre > 0 {
			s.addLines(start, end)
		} else {
			s.Text.Blocks = append(s.Text.Blocks, webrace.Block{Start: int32(start), End: int32(end), Field: s.field})
		}
		s.Text.Bytes = append(text[:end], '\n')
		s.block = len(s.Text.Bytes)
	}
	s.begun = min(s.begun, len(s.Text.Bytes)) // the white space in which it began may be gone
}

// addLines adds the blocks of text that is shown with its lines.
func (s *Scanner) addLines(start, end int) {
	s.lines.Blocks(s.Text.Bytes[start:end], func(from, to int) bool {
		if s.MaxBlocks > 0 && len(s.Text.Blocks) >= s.MaxBlocks {
			s.Text.Cut = true
			return false
		}
		s.Text.Blocks = append(s.Text.Blocks, webrace.Block{Start: int32(start + from), End: int32(start + to), Field: s.field})
		return true
	})
}

// appendPlain appends b with line ends as line feeds and NUL dropped or replaced.
func (s *Scanner) appendPlain(dst, b []byte, n nul) []byte {
	if !s.dirty {
		return append(dst, b...)
	}
	for i, c := range b {
		switch {
		case c == '\r':
			if i+1 == len(b) || b[i+1] != '\n' {
				dst = append(dst, '\n')
			}
		case c != 0:
			dst = append(dst, c)
		case n == replaceNUL:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		}
	}
	return dst
}

// value returns an attribute's value with its character references decoded, without a copy if it has
// none.
func (s *Scanner) value(b []byte) []byte {
	if !s.dirty && bytes.IndexByte(b, '&') < 0 {
		return b
	}
	start := len(s.scratch)
	s.scratch = s.appendDecoded(s.scratch, b, true, replaceNUL)
	return s.scratch[start:len(s.scratch):len(s.scratch)]
}
