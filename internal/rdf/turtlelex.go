package rdf

import (
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// prefixed reads a name with a prefix.
func (t *turtle) prefixed(what string) (webrace.Term, error) {
	c := t.next()
	if c != ':' && !is(c, isLetter) && c < utf8.RuneSelf {
		return "", t.expected(what)
	}
	colon, end := t.plainName()
	var err error
	t.scratch = t.scratch[:0]
	if end == 0 {
		if colon, err = t.prefixEnd(); err != nil {
			return "", err
		}
	}
	namespace, ok := t.prefixes[string(t.buf[t.pos:t.pos+colon])]
	if !ok {
		return "", t.errorf(0, "the prefix %q is not declared", shortened(t.buf[t.pos:t.pos+colon]))
	}
	t.scratch = append(t.scratch, namespace...)
	if end > 0 {
		t.scratch = append(t.scratch, t.buf[t.pos+colon+1:t.pos+end]...)
	} else if end, err = t.local(colon + 1); err != nil {
		return "", err
	}
	t.scratch = append(t.scratch, '>')
	if len(t.scratch)-len("<>") > t.limits.IRI {
		return "", t.limitError(0, "bytes of an IRI", t.limits.IRI)
	}
	t.pos += end
	return t.term(&t.names)
}

// plainName looks for the colon and the end of the name at pos, if it is of ASCII characters without dots and escapes,
// and another character follows. Otherwise end is 0.
func (t *turtle) plainName() (colon, end int) {
	b := t.buf[t.pos:t.end]
	n := 0
	for n < len(b) && is(b[n], inName) {
		n++
	}
	if n == len(b) || b[n] != ':' {
		return 0, 0
	}
	colon = n
	for n++; n < len(b) && is(b[n], inLocal); n++ {
	}
	if n == len(b) || b[n] >= utf8.RuneSelf || b[n] == '.' || b[n] == '%' || b[n] == '\\' ||
		b[colon+1] == '-' || n > t.limits.IRI {
		return 0, 0
	}
	return colon, n
}

// prefixEnd looks for the colon behind the prefix at pos.
func (t *turtle) prefixEnd() (n int, err error) {
	for last := true; n <= t.limits.IRI; {
		switch c := t.at(n); {
		case c == ':' && last:
			return n, nil
		case c == '.' && n > 0:
			n, last = n+1, false
			continue
		case c < utf8.RuneSelf:
			if n == 0 && is(c, isLetter) || n > 0 && is(c, inName) {
				n, last = n+1, true
				continue
			}
		default:
			character, size := t.runeAt(n)
			if n == 0 && isNameStart(character) || n > 0 && isNameRune(character) {
				n, last = n+size, true
				continue
			}
		}
		if n == 0 {
			return 0, t.expected("a prefix with its colon")
		}
		return 0, t.errorf(n, "expected a colon behind the prefix %s", shortened(t.buf[t.pos:t.pos+n]))
	}
	return 0, t.limitError(0, "bytes of a prefix", t.limits.IRI)
}

// local reads the local part of a name at an offset from pos into scratch, and returns the offset behind it.
func (t *turtle) local(n int) (end int, err error) {
	first, end, kept := n, n, len(t.scratch)
	for n <= t.limits.IRI {
		switch c := t.at(n); {
		case c == '.' && n > first:
			t.scratch = append(t.scratch, c)
			n++
			continue
		case c == ':':
			t.scratch = append(t.scratch, c)
			n++
		case c == '%':
			if !is(t.at(n+1), isHex) || !is(t.at(n+2), isHex) {
				return 0, t.errorf(n, "expected two hexadecimal digits behind the %% of a name")
			}
			t.scratch = append(t.scratch, t.buf[t.pos+n:t.pos+n+3]...)
			n += 3
		case c == '\\':
			if c = t.at(n + 1); indexOf("_~.-!$&'()*+,;=/?#@%", c) < 0 {
				return 0, t.errorf(n, `a name has \ before a character that is not escaped: want one of _~.-!$&'()*+,;=/?#@%%`)
			}
			t.scratch = append(t.scratch, c)
			n += 2
		default:
			size := t.nameRune(n, n == first)
			if size == 0 {
				t.scratch = t.scratch[:kept] // dots at the end belong to what follows
				return end, nil
			}
			t.scratch = append(t.scratch, t.buf[t.pos+n:t.pos+n+size]...)
			n += size
		}
		end, kept = n, len(t.scratch)
	}
	return 0, t.limitError(0, "bytes of a name", t.limits.IRI)
}

// literal reads a string with its language or datatype.
func (t *turtle) literal(quote byte) (webrace.Term, error) {
	if err := t.text(quote, t.at(1) == quote && t.at(2) == quote); err != nil {
		return "", err
	}
	switch t.next() {
	case '@':
		if err := t.language(); err != nil {
			return "", err
		}
	case '^':
		if t.at(1) != '^' {
			return "", t.expected("^^ before a datatype")
		}
		t.pos += len("^^")
		return t.typed(t.datatype)
	}
	return t.term(&t.literals)
}

func (t *turtle) datatype() (webrace.Term, error) {
	if t.next() == '<' {
		return t.iriref()
	}
	return t.prefixed("a datatype")
}

// number reads an integer, a decimal or a double.
func (t *turtle) number() (webrace.Term, error) {
	n := 0
	if c := t.at(0); c == '+' || c == '-' {
		n++
	}
	n, whole := t.digits(n)
	datatype, parts := "integer", 0
	if t.at(n) == '.' {
		after, digits := t.digits(n + 1)
		if digits > 0 || whole > 0 && t.exponent(after) > 0 {
			n, parts, datatype = after, digits, "decimal"
		}
	}
	if whole+parts == 0 {
		return "", t.errorf(0, "expected a number, or another object")
	}
	if after := t.exponent(n); after > 0 {
		n, datatype = after, "double"
	}
	if n > t.limits.Literal {
		return "", t.limitError(0, "bytes of a literal", t.limits.Literal)
	}
	t.scratch = append(append(t.scratch[:0], '"'), t.buf[t.pos:t.pos+n]...)
	t.scratch = append(append(append(t.scratch, `"^^<`+XSD...), datatype...), '>')
	t.pos += n
	return t.term(&t.literals)
}

// digits returns the offset behind the digits at one, and how many there are.
func (t *turtle) digits(n int) (end, count int) {
	for is(t.at(n), isDigit) && n <= t.limits.Literal {
		n, count = n+1, count+1
	}
	return n, count
}

// exponent returns the offset behind the exponent at one; 0 if there is none.
func (t *turtle) exponent(n int) int {
	if t.at(n)|0x20 != 'e' {
		return 0
	}
	n++
	if c := t.at(n); c == '+' || c == '-' {
		n++
	}
	end, count := t.digits(n)
	if count == 0 {
		return 0
	}
	return end
}

// word reads true, false or a name with a prefix.
func (t *turtle) word() (webrace.Term, error) {
	switch word := t.keyword(); word {
	case "true", "false":
		t.pos += len(word)
		return webrace.Term(`"` + word + `"^^<` + XSDBoolean + ">"), nil
	}
	return t.prefixed("an object")
}
