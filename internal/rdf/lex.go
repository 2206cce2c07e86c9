package rdf

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// iriref reads an IRI between < and >.
func (r *reader) iriref() (webrace.Term, error) {
	b := r.buf[r.pos:r.end]
	if n := bytes.IndexByte(b, '>'); n > 0 {
		if known, ok := r.iris.find(b[:n+1]); ok {
			r.pos += n + 1
			return known, nil
		}
	}
	n, escaped, err := r.scanIRI()
	if err != nil {
		return "", err
	}
	text := r.buf[r.pos : r.pos+n]
	if escaped {
		text = r.scratch
	}
	scheme := schemeEnd(text[1 : len(text)-1])
	var known webrace.Term
	switch {
	case scheme < 0 && !r.lax:
		return "", r.errorf(0, "the IRI %s is relative, which N-Triples and N-Quads do not have", shortened(text))
	case scheme >= 0: // it is not relative, so that nothing in it is resolved
		known = r.iris.add(text)
	default:
		if known, err = r.resolve(string(text[1 : len(text)-1])); err != nil {
			return "", err
		}
	}
	r.pos += n
	return known, nil
}

// scanIRI looks for the end of the IRI that begins at pos, and returns the offset behind it. If it has escapes, it is
// in scratch without them.
func (r *reader) scanIRI() (end int, escaped bool, err error) {
	copied := 0
	for n := 1; ; {
		b := r.buf[r.pos:r.end]
		for n < len(b) && is(b[n], inIRI) {
			n++
		}
		if n-len("<") > r.limits.IRI {
			return 0, false, r.limitError(0, "bytes of an IRI", r.limits.IRI)
		}
		switch {
		case n == len(b):
			if !r.more() {
				return 0, false, r.errorf(0, "an IRI does not end with >")
			}
		case b[n] == '>':
			if escaped {
				r.scratch = append(r.scratch, b[copied:n+1]...)
			}
			return n + 1, escaped, nil
		case b[n] == '\\':
			if !escaped {
				r.scratch, escaped = r.scratch[:0], true
			}
			r.scratch = append(r.scratch, b[copied:n]...)
			c, length, err := r.unicodeEscape(n)
			if err != nil {
				return 0, false, err
			}
			if c < utf8.RuneSelf && !is(byte(c), inIRI) {
				return 0, false, r.errorf(n, "no IRI has the character %q, even escaped", c)
			}
			r.scratch = utf8.AppendRune(r.scratch, c)
			n += length
			copied = n
		default:
			return 0, false, r.errorf(n, "no IRI has the character %q", b[n])
		}
	}
}

// resolve makes the term of an IRI reference at pos.
func (r *reader) resolve(ref string) (webrace.Term, error) {
	iri, err := r.base.Resolve(ref)
	if err != nil {
		return "", r.errorf(0, "%v", err)
	}
	if len(iri) > r.limits.IRI {
		return "", r.limitError(0, "bytes of an IRI", r.limits.IRI)
	}
	r.scratch = append(append(append(r.scratch[:0], '<'), iri...), '>')
	return r.term(&r.names)
}

// unicodeEscape decodes \u0000 or \U00000000 at an offset from pos.
func (r *reader) unicodeEscape(n int) (c rune, length int, err error) {
	switch r.at(n + 1) {
	case 'u':
		length = len(`\u0000`)
	case 'U':
		length = len(`\U00000000`)
	default:
		return 0, 0, r.errorf(n, `expected \u and four, or \U and eight hexadecimal digits`)
	}
	for i := n + 2; i < n+length; i++ {
		if !is(r.at(i), isHex) {
			return 0, 0, r.errorf(n, `expected \u and four, or \U and eight hexadecimal digits`)
		}
	}
	digits := string(r.buf[r.pos+n+2 : r.pos+n+length])
	code, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
		return 0, 0, r.errorf(n, "U+%s is no character", digits)
	}
	return rune(code), length, nil
}

// text reads a string that is quoted by one or, if long, three of the same character, and puts it into scratch in its
// canonical form, quoted.
func (r *reader) text(quote byte, long bool) error {
	n, marks := 1, 1
	if long {
		n, marks = 3, 3
	}
	r.scratch = append(r.scratch[:0], '"')
	for {
		b := r.buf[r.pos:r.end]
		start := n
		for n < len(b) && is(b[n], inText) {
			n++
		}
		r.scratch = append(r.scratch, b[start:n]...)
		if n-marks > r.limits.Literal {
			return r.limitError(0, "bytes of a literal", r.limits.Literal)
		}
		if n == len(b) {
			if !r.more() {
				return r.errorf(0, "a string does not end with %s", bytes.Repeat([]byte{quote}, marks))
			}
			continue
		}
		switch c := b[n]; {
		case c == quote && (!long || r.at(n+1) == quote && r.at(n+2) == quote):
			r.scratch = append(r.scratch, '"')
			r.pos += n + marks
			return nil
		case c == '\\':
			length, err := r.escape(n)
			if err != nil {
				return err
			}
			n += length
		case !long && (c == '\n' || c == '\r'):
			return r.errorf(n, "a line ends within a string, which wants \\%c", letters[indexOf(escaped, c)])
		default:
			r.scratch = appendQuoted(r.scratch, rune(c))
			n++
		}
	}
}

// escape decodes an escape of a string at an offset from pos into scratch.
func (r *reader) escape(n int) (length int, err error) {
	c := r.at(n + 1)
	if c == '\'' {
		r.scratch = append(r.scratch, '\'')
		return 2, nil
	}
	if letter := indexOf(letters, c); c != 0 && letter >= 0 {
		r.scratch = append(r.scratch, '\\', c)
		return 2, nil
	}
	if c != 'u' && c != 'U' {
		return 0, r.errorf(n, `a string has \ before what is no escape: want \t \b \n \r \f \" \' \\ \u0000 or \U00000000`)
	}
	character, length, err := r.unicodeEscape(n)
	r.scratch = appendQuoted(r.scratch, character)
	return length, err
}

// appendQuoted appends a character as canonical literals have it.
func appendQuoted(b []byte, c rune) []byte {
	if c >= utf8.RuneSelf || is(byte(c), inText) || c == '\'' {
		return utf8.AppendRune(b, c)
	}
	if letter := indexOf(escaped, byte(c)); letter >= 0 {
		return append(b, '\\', letters[letter])
	}
	return append(b, '\\', 'u', '0', '0', upperHex[c>>4], upperHex[c&15])
}

// language reads a language tag, and appends it to the text in scratch.
func (r *reader) language() error {
	n, part := 1, 0
	for ; n <= r.limits.IRI; n++ {
		c := r.at(n)
		switch {
		case is(c, isLetter) || part > 0 && c != 0 && is(c, isDigit):
			continue
		case c == '-' && is(r.at(n-1), isLetter|isDigit):
			part = n
			continue
		}
		break
	}
	if n > r.limits.IRI {
		return r.limitError(0, "bytes of a language tag", r.limits.IRI)
	}
	if !is(r.at(n-1), isLetter|isDigit) {
		return r.errorf(n, "expected a language tag such as @en or @de-AT")
	}
	r.scratch = append(r.scratch, bytes.ToLower(r.buf[r.pos:r.pos+n])...)
	r.pos += n
	return nil
}

// typed makes the term of the text in scratch and of the datatype that follows it; read reads an IRI.
func (r *reader) typed(read func() (webrace.Term, error)) (webrace.Term, error) {
	text := r.scratch
	r.scratch = r.spare[:0]
	datatype, err := read()
	r.spare, r.scratch = r.scratch, text
	if err != nil {
		return "", err
	}
	if datatype != xsdStringTerm {
		r.scratch = append(append(r.scratch, "^^"...), datatype...)
	}
	return r.term(&r.literals)
}

const xsdStringTerm = "<" + XSDString + ">"

// label reads a blank node with a label.
func (r *reader) label() (webrace.Term, error) {
	if r.at(1) != ':' {
		return "", r.errorf(0, "expected a blank node such as _:a")
	}
	n := len("_:")
	for last := n; ; {
		if n > r.limits.IRI {
			return "", r.limitError(0, "bytes of a label", r.limits.IRI)
		}
		if r.at(n) == '.' && n > len("_:") {
			n++
			continue
		}
		size := r.nameRune(n, n == len("_:"))
		if size == 0 {
			return r.labelled(last)
		}
		n += size
		last = n
	}
}

// nameRune returns how long the character at an offset from pos is if a name may have it, first or later.
func (r *reader) nameRune(n int, first bool) (size int) {
	c := r.at(n)
	if c < utf8.RuneSelf {
		if is(c, inName) && !(first && c == '-') {
			return 1
		}
		return 0
	}
	character, size := r.runeAt(n)
	if first && isNameStart(character) || !first && isNameRune(character) {
		return size
	}
	return 0
}

func (r *reader) labelled(n int) (webrace.Term, error) {
	if n == len("_:") {
		return "", r.errorf(n, "the label of a blank node begins with a letter, a digit or _")
	}
	token := r.buf[r.pos : r.pos+n]
	r.pos += n
	if r.keepLabels {
		r.scratch = append(r.scratch[:0], token...)
		return r.term(&r.names)
	}
	return r.blankOf(token[len("_:"):]), nil
}

// blankOf returns the blank node of a label.
func (r *reader) blankOf(label []byte) webrace.Term {
	if known, ok := r.blanks[string(label)]; ok {
		return known
	}
	if r.blanks == nil {
		r.blanks = map[string]webrace.Term{}
	}
	made := r.newBlank()
	r.blanks[string(label)] = made
	return made
}

func (r *reader) newBlank() webrace.Term {
	r.blankCount++
	return webrace.Term("_:" + r.blank + strconv.Itoa(r.blankCount-1))
}

func indexOf(set string, c byte) int {
	for i := range len(set) {
		if set[i] == c {
			return i
		}
	}
	return -1
}

// shortened returns the beginning of what an error names.
func shortened(text []byte) string { return shortenedTo(64, string(text)) }

func shortenedTo(most int, text string) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
