package sparql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// tokenKind is what a token is.
type tokenKind uint8

const (
	endToken      tokenKind = iota
	wordToken               // a keyword or the name of a function: text as it is written
	iriToken                // text is what stands between the angle brackets
	nameToken               // a prefixed name: text is the prefix, local the rest with escapes undone
	variableToken           // text is its name
	blankToken              // text is its label
	stringToken             // text is what it says
	langToken               // text is the tag
	integerToken            // numbers: text with the sign
	decimalToken
	doubleToken
	signToken // punctuation
)

type token struct {
	kind        tokenKind
	text, local string
	start, end  int // in the text of the query
}

// lexer takes a query apart by the terminals of SPARQL 1.1, section 19.8: the longest one wins.
type lexer struct {
	text string
	pos  int
}

// next returns the next token; what is no token at all is a syntaxError.
func (l *lexer) next() token {
	l.skipSpace()
	start := l.pos
	t := l.scan()
	t.start, t.end = start, l.pos
	return t
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.pos++
		case c == '#':
			end := strings.IndexAny(l.text[l.pos:], "\n\r")
			if end < 0 {
				end = len(l.text) - l.pos
			}
			l.pos += end
		default:
			return
		}
	}
}

func (l *lexer) scan() token {
	if l.pos == len(l.text) {
		return token{kind: endToken}
	}
	switch c := l.text[l.pos]; {
	case c == '<':
		if iri, ok := l.iri(); ok {
			return token{kind: iriToken, text: iri}
		}
	case c == '?' || c == '$':
		if name := l.variableName(l.pos + 1); name != "" {
			l.pos += 1 + len(name)
			return token{kind: variableToken, text: name}
		}
	case c == '"' || c == '\'':
		return token{kind: stringToken, text: l.quoted()}
	case c == '@':
		return l.language()
	case c == '_' && strings.HasPrefix(l.text[l.pos:], "_:"):
		return l.blank()
	case c >= '0' && c <= '9', c == '.' && isDigit(l.at(l.pos+1)):
		return l.number(l.pos)
	case (c == '+' || c == '-') && (isDigit(l.at(l.pos+1)) || l.at(l.pos+1) == '.' && isDigit(l.at(l.pos+2))):
		return l.number(l.pos + 1)
	case c == ':' || isNameStart(l.rune(l.pos)):
		return l.word()
	}
	return l.sign()
}

// at returns a byte of the text; zero behind its end.
func (l *lexer) at(i int) byte {
	if i < len(l.text) {
		return l.text[i]
	}
	return 0
}

func (l *lexer) rune(i int) rune {
	r, _ := utf8.DecodeRuneInString(l.text[i:])
	return r
}

// iri reads an IRIREF; what begins as one but is none is the operator <.
func (l *lexer) iri() (string, bool) {
	for i := l.pos + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == '>':
			iri := l.text[l.pos+1 : i]
			l.pos = i + 1
			return iri, true
		case c <= ' ' || strings.IndexByte("<\"{}|^`\\", c) >= 0:
			return "", false
		}
	}
	return "", false
}

// variableName returns the VARNAME that begins at a place; empty if none does.
func (l *lexer) variableName(start int) string {
	i := start
	for i < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		first := isNameStart(r) || r == '_' || isDigitRune(r)
		if !first && (i == start || r != 0xb7 && (r < 0x300 || r > 0x36f) && r != 0x203f && r != 0x2040) {
			break
		}
		i += size
	}
	return l.text[start:i]
}

// quoted reads a string in one of its four forms, and undoes its escapes.
func (l *lexer) quoted() string {
	start := l.pos
	quote := l.text[l.pos : l.pos+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(l.text[l.pos:], long) {
		quote = long
	}
	l.pos += len(quote)
	var b strings.Builder
	for !strings.HasPrefix(l.text[l.pos:], quote) {
		c := l.at(l.pos)
		switch {
		case l.pos >= len(l.text), len(quote) == 1 && (c == '\n' || c == '\r'):
			l.fail(start, "the string is not closed: "+quote+" is missing")
		case c == '\\':
			const letters, means = `tbnrf"'\`, "\t\b\n\r\f\"'\\"
			i := strings.IndexByte(letters, l.at(l.pos+1))
			if i < 0 || l.pos+1 >= len(l.text) {
				l.fail(l.pos, `no escape of strings: \t, \b, \n, \r, \f, \", \', \\, \uXXXX or \UXXXXXXXX is expected`)
			}
			b.WriteByte(means[i])
			l.pos += 2
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	l.pos += len(quote)
	return b.String()
}

func (l *lexer) language() token {
	i := l.pos + 1
	for first := i; isLetter(l.at(i)) || i > first && (isDigit(l.at(i)) || l.at(i) == '-'); i++ {
	}
	tag := l.text[l.pos+1 : i]
	if first, _, _ := strings.Cut(tag, "-"); tag == "" || strings.HasSuffix(tag, "-") ||
		strings.Contains(tag, "--") || strings.ContainsAny(first, "0123456789") {
		l.fail(l.pos, "a language tag is expected behind @, as in \"text\"@en")
	}
	l.pos = i
	return token{kind: langToken, text: tag}
}

func (l *lexer) blank() token {
	i := l.pos + 2
	r, size := utf8.DecodeRuneInString(l.text[i:])
	if !isNameStart(r) && r != '_' && !isDigitRune(r) {
		l.fail(l.pos, "the label of a blank node is expected behind _:")
	}
	end := l.nameEnd(i + size)
	label := l.text[i:end]
	l.pos = end
	return token{kind: blankToken, text: label}
}

// nameEnd returns where the name ends that has begun before a place: points belong to it, but for the last.
func (l *lexer) nameEnd(i int) int {
	end := i
	for i < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		if !isNameChar(r) && r != '.' {
			break
		}
		i += size
		if r != '.' {
			end = i
		}
	}
	return end
}

// number reads an unsigned number that begins at a place, with the sign that may stand before it.
func (l *lexer) number(i int) token {
	kind := integerToken
	i = l.digits(i)
	if l.at(i) == '.' {
		if after := l.digits(i + 1); after > i+1 {
			kind, i = decimalToken, after
		} else if end := l.exponent(i + 1); end > i+1 {
			i++
		}
	}
	if end := l.exponent(i); end > i {
		kind, i = doubleToken, end
	}
	text := l.text[l.pos:i]
	l.pos = i
	return token{kind: kind, text: text}
}

func (l *lexer) digits(i int) int {
	for isDigit(l.at(i)) {
		i++
	}
	return i
}

// exponent returns the end of the exponent at a place, or that place if there is none.
func (l *lexer) exponent(i int) int {
	if c := l.at(i); c != 'e' && c != 'E' {
		return i
	}
	j := i + 1
	if c := l.at(j); c == '+' || c == '-' {
		j++
	}
	if end := l.digits(j); end > j {
		return end
	}
	return i
}

// word reads a prefixed name, or a keyword.
func (l *lexer) word() token {
	start, end := l.pos, l.pos
	if l.text[l.pos] != ':' {
		end = l.nameEnd(l.pos + utf8.RuneLen(l.rune(l.pos)))
	}
	if l.at(end) == ':' {
		prefix := l.text[start:end]
		l.pos = end + 1
		return token{kind: nameToken, text: prefix, local: l.localName()}
	}
	for l.pos < end && (isLetter(l.text[l.pos]) || isDigit(l.text[l.pos]) || l.text[l.pos] == '_') {
		l.pos++
	}
	if l.pos == start {
		l.fail(start, "a keyword is expected, or a prefixed name, which has a colon")
	}
	return token{kind: wordToken, text: l.text[start:l.pos]}
}

// localName reads a PN_LOCAL, which may be empty, and undoes its escapes of punctuation.
func (l *lexer) localName() string {
	var b strings.Builder
	kept := 0 // bytes of b up to the last that is no point
	end, first := l.pos, l.pos
	for i := l.pos; i < len(l.text); {
		r, size := utf8.DecodeRuneInString(l.text[i:])
		switch {
		case r == '\\':
			if strings.IndexByte(`_~.-!$&'()*+,;=/?#@%`, l.at(i+1)) < 0 || i+1 >= len(l.text) {
				l.fail(i, "no escape of prefixed names")
			}
			b.WriteByte(l.text[i+1])
			i += 2
		case r == '%' && isHex(l.at(i+1)) && isHex(l.at(i+2)):
			b.WriteString(l.text[i : i+3])
			i += 3
		case r == '%':
			l.fail(i, "two hexadecimal digits are expected behind % in a prefixed name")
		case r == '.' && i > first:
			b.WriteByte('.')
			i++
			continue
		case r == ':' || r == '_' || isDigitRune(r) || isNameStart(r) || i > first && isNameChar(r):
			b.WriteString(l.text[i : i+size])
			i += size
		default:
			i = len(l.text)
			continue
		}
		kept, end = b.Len(), i
	}
	l.pos = end
	return b.String()[:kept]
}

func (l *lexer) sign() token {
	rest := l.text[l.pos:]
	for _, s := range []string{"^^", "&&", "||", "!=", "<=", ">="} {
		if strings.HasPrefix(rest, s) {
			l.pos += 2
			return token{kind: signToken, text: s}
		}
	}
	if strings.IndexByte("{}()[].,;=<>!+-*/|^?", rest[0]) < 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		l.fail(l.pos, strconv.Quote(string(r))+" begins nothing that SPARQL knows")
	}
	l.pos++
	return token{kind: signToken, text: rest[:1]}
}

func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isDigitRune(r rune) bool { return r >= '0' && r <= '9' }
func isLetter(c byte) bool    { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isHex(c byte) bool       { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// isNameStart is PN_CHARS_BASE.
func isNameStart(r rune) bool {
	switch {
	case r < 0x80:
		return isLetter(byte(r))
	case r == utf8.RuneError:
		return false
	}
	for _, span := range [...][2]rune{{0xc0, 0xd6}, {0xd8, 0xf6}, {0xf8, 0x2ff}, {0x370, 0x37d}, {0x37f, 0x1fff},
		{0x200c, 0x200d}, {0x2070, 0x218f}, {0x2c00, 0x2fef}, {0x3001, 0xd7ff}, {0xf900, 0xfdcf}, {0xfdf0, 0xfffc},
		{0x10000, 0xeffff}} {
		if r >= span[0] && r <= span[1] {
			return true
		}
	}
	return false
}

// isNameChar is PN_CHARS.
func isNameChar(r rune) bool {
	return isNameStart(r) || isDigitRune(r) || r == '_' || r == '-' || r == 0xb7 || r >= 0x300 && r <= 0x36f ||
		r == 0x203f || r == 0x2040
}

// unescape replaces \uXXXX and \UXXXXXXXX by their characters, anywhere in a query (section 19.2). What names no
// character stays, and is an error where it stands.
func unescape(text string) string {
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\U`) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		digits := map[byte]int{'u': 4, 'U': 8}[text[i+1]]
		if digits > 0 && i+2+digits <= len(text) {
			if n, err := strconv.ParseUint(text[i+2:i+2+digits], 16, 32); err == nil && utf8.ValidRune(rune(n)) {
				b.WriteRune(rune(n))
				i += 1 + digits
				continue
			}
		}
		b.WriteString(text[i : i+2])
		i++
	}
	return b.String()
}
