package htmltext

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"

	"github.com/webrace/webrace/internal/xmltoken"
)

// longestReference is the length of the longest name of a character reference, with its semicolon.
const longestReference = 32

// appendDecoded appends b with its character references decoded (section 13.2.5.72), by the stricter
// rule of attributes if it is one: "?a=1&copy=2" holds no copyright sign. A page of XML has the rule of XML.
func (s *Scanner) appendDecoded(dst, b []byte, attribute bool, n nul) []byte {
	for {
		amp := bytes.IndexByte(b, '&')
		if amp < 0 {
			return s.appendPlain(dst, b, n)
		}
		dst = s.appendPlain(dst, b[:amp], n)
		b = b[amp+1:]
		var used int
		if dst, used = s.reference(dst, b, attribute); used == 0 {
			dst = append(dst, '&')
		}
		b = b[used:]
	}
}

// reference appends the character that b, the bytes after an ampersand, refers to, and returns how many
// of them it takes; 0 if it is no reference.
func (s *Scanner) reference(dst, b []byte, attribute bool) ([]byte, int) {
	if s.XHTML {
		meaning, length := xmltoken.Reference(b)
		return append(dst, meaning...), length
	}
	if len(b) > 0 && b[0] == '#' {
		return numeric(dst, b)
	}
	end := 0
	for end < len(b) && end <= longestReference && isAlphanumeric(b[end]) {
		end++
	}
	if end == 0 {
		return dst, 0
	}
	semicolon := end < len(b) && b[end] == ';'
	if semicolon {
		end++
	}
	if attribute && !semicolon && end < len(b) && (b[end] == '=' || isAlphanumeric(b[end])) {
		return dst, 0
	}
	char, exact := s.named(b[:end])
	switch {
	case exact:
		return append(dst, char...), end
	case attribute || char == "":
		return dst, 0
	}
	return append(dst, char...), end // a shorter name that needs no semicolon, and what follows it
}

// named resolves a name. If it is none, but begins with one that needs no semicolon, char is what the
// name becomes in text and exact is false; if not even that, char is empty.
func (s *Scanner) named(name []byte) (char string, exact bool) {
	switch string(name) {
	case "amp;":
		return "&", true
	case "lt;":
		return "<", true
	case "gt;":
		return ">", true
	case "quot;":
		return `"`, true
	case "nbsp;":
		return "\u00a0", true
	}
	if char, ok := s.entities[string(name)]; ok {
		return char, true
	}
	written := "&" + string(name)
	char = html.UnescapeString(written)
	switch {
	case char == written:
		return "", false
	case name[len(name)-1] == ';':
		exact = char == ";" || !strings.HasSuffix(char, ";")
	default:
		exact = utf8.RuneCountInString(char) == 1
	}
	if exact {
		if s.entities == nil {
			s.entities = make(map[string]string)
		}
		s.entities[written[1:]] = char
	}
	return char, exact
}

// numeric decodes a numeric reference, of which b holds the bytes after the ampersand.
func numeric(dst, b []byte) ([]byte, int) {
	i, base := 1, rune(10)
	if i < len(b) && b[i]|0x20 == 'x' {
		i, base = 2, 16
	}
	start := i
	char := rune(0)
	for ; i < len(b); i++ {
		digit := digitValue(b[i])
		if digit >= base {
			break
		}
		if char <= utf8.MaxRune {
			char = char*base + digit
		}
	}
	if i == start {
		return dst, 0
	}
	if i < len(b) && b[i] == ';' {
		i++
	}
	switch {
	case 0x80 <= char && char <= 0x9f: // what the page means is windows-1252, where that has the byte
		if meant := charmap.Windows1252.DecodeByte(byte(char)); meant != utf8.RuneError {
			char = meant
		}
	case char == 0 || !utf8.ValidRune(char):
		char = utf8.RuneError
	}
	return utf8.AppendRune(dst, char), i
}

func digitValue(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}

func isAlphanumeric(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }
