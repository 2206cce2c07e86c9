package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// mayMean are the bytes that may be markup in running text.
var mayMean = func() (t [256]bool) {
	for _, c := range "\\`*_[]<&~|:.@#" {
		t[c] = true
	}
	return t
}()

// escape writes text so that all of it is read as text. What follows it is a byte, or unknown.
func (r *renderer) escape(text []byte, following byte) {
	text = r.escapeStart(text, following)
	for len(text) > 0 {
		n := 0
		for n < len(text) && !mayMean[text[n]] {
			n++
		}
		r.dst = append(r.dst, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			return
		}
		r.escapeOne(text, following)
		text = text[1:]
	}
}

// escapeStart writes what begins a line and would make it another block: a heading, a list, a quotation, a rule, the
// underline of a heading, a table. It returns the rest.
func (r *renderer) escapeStart(text []byte, following byte) []byte {
	for len(text) > 0 && '0' <= text[0] && text[0] <= '9' && r.onlyDigits() {
		r.dst = append(r.dst, text[0])
		text = text[1:]
	}
	if len(text) == 0 {
		return nil
	}
	c, next := text[0], nextOf(text, following)
	means := false
	switch {
	case len(r.dst) > r.lineStart:
		means = (c == '.' || c == ')') && r.onlyDigits() && (next == ' ' || next == lineEnd || next == unknown)
	case c == '#':
		means = next == '#' || next == ' ' || next == lineEnd || next == unknown
	case c == '+':
		means = next == ' ' || next == lineEnd || next == unknown
	case c == '-':
		means = !isAlphanumeric(next) && next < utf8.RuneSelf
	case c == ':':
		means = next == '-' || next == unknown
	case c == '>' || c == '=' || c == '|':
		means = true
	}
	if !means {
		return text
	}
	r.dst = append(r.dst, '\\', c)
	return text[1:]
}

// onlyDigits reports whether the line has few digits so far, and nothing else.
func (r *renderer) onlyDigits() bool {
	line := r.dst[r.lineStart:]
	return r.context == inFlow && len(line) < 10 && len(bytes.Trim(line, "0123456789")) == 0
}

func nextOf(text []byte, following byte) byte {
	if len(text) > 1 {
		return text[1]
	}
	return following
}

// escapeOne writes the first byte of a text, escaped if it may be markup.
func (r *renderer) escapeOne(text []byte, following byte) {
	c, next := text[0], nextOf(text, following)
	means := false
	switch c {
	case '`', '[', ']':
		means = true
	case '\\':
		means = next < utf8.RuneSelf && !isAlphanumeric(next) && next != ' '
	case '*':
		means = !(r.follows(' ') && next == ' ')
	case '_':
		means = !isWord(r.before()) || !isWord(first(text[1:])) || len(text) == 1
	case '~':
		means = !(r.follows(' ') && isAlphanumeric(next)) || r.isOpen(deleted)
	case '<':
		if next != ' ' && next != '=' && next != lineEnd && (next < '0' || next > '9') {
			r.dst = append(r.dst, "&lt;"...)
			return
		}
	case '&':
		means = isReference(text[1:], following)
	case '|':
		means = r.context == inCell
	case ':':
		means = r.isScheme() && (next == '/' || next == unknown) && !r.isOpen(link)
	case '.':
		means = r.endsWith("www") && !r.isOpen(link)
	case '@':
		means = len(r.dst) > r.lineStart && r.before() != ' ' && next != ' ' && next != lineEnd && !r.isOpen(link)
	case '#':
		means = r.context == inHeading && (r.follows(' ') || r.follows('#'))
	}
	if means {
		r.dst = append(r.dst, '\\')
	}
	r.dst = append(r.dst, c)
}

// before returns the character that was written last; a blank at the beginning of a line.
func (r *renderer) before() rune {
	if len(r.dst) == r.lineStart {
		return ' '
	}
	c, _ := utf8.DecodeLastRune(r.dst)
	return c
}

func (r *renderer) follows(c byte) bool {
	return len(r.dst) > r.lineStart && r.dst[len(r.dst)-1] == c
}

// isOpen reports whether text of this kind is written.
func (r *renderer) isOpen(k kind) bool {
	for _, m := range r.open {
		if m.kind == k {
			return true
		}
	}
	return false
}

// endsWith reports whether the line ends with a word, in any case.
func (r *renderer) endsWith(word string) bool {
	line := r.dst[r.lineStart:]
	return len(line) >= len(word) && strings.EqualFold(string(line[len(line)-len(word):]), word)
}

func (r *renderer) isScheme() bool {
	return r.endsWith("http") || r.endsWith("https") || r.endsWith("ftp")
}

// isReference reports whether what follows an ampersand may make it a character reference.
func isReference[T string | []byte](rest T, following byte) bool {
	const longest = 40
	for i := range min(len(rest), longest) {
		switch c := rest[i]; {
		case c == ';':
			return i > 0
		case !isAlphanumeric(c) && c != '#':
			return false
		}
	}
	return len(rest) < longest && following == unknown
}
