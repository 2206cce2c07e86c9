package rdf

// The classes of ASCII characters that readers ask for at each byte.
const (
	inIRI    uint8 = 1 << iota // may stand in an IRI as it is (IRIREF)
	inText                     // stands in a canonical literal as it is, and ends no string
	inName                     // PN_CHARS
	inLocal                    // PN_CHARS, ':' : what a local name has but for dots and escapes
	isBlank                    // white space of Turtle
	isHex                      //
	isLetter                   // [a-zA-Z]
	isDigit                    //
)

// class has the classes of a byte; all bytes of a character beyond ASCII may stand in IRIs and texts.
var class = func() (table [256]uint8) {
	for c := range table {
		if c > ' ' && !in(c, "<>\"{}|^`\\") {
			table[c] |= inIRI
		}
		if c >= ' ' && c != 0x7f && !in(c, `"'\`) {
			table[c] |= inText
		}
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		if letter {
			table[c] |= isLetter
		}
		if digit {
			table[c] |= isDigit
		}
		if letter || digit || c == '_' || c == '-' {
			table[c] |= inName | inLocal
		}
		if c == ':' {
			table[c] |= inLocal
		}
		if in(c, " \t\r\n") {
			table[c] |= isBlank
		}
		if digit || c|0x20 >= 'a' && c|0x20 <= 'f' {
			table[c] |= isHex
		}
	}
	return table
}()

func in(c int, set string) bool {
	for i := range len(set) {
		if int(set[i]) == c {
			return true
		}
	}
	return false
}

func is(c byte, classes uint8) bool { return class[c]&classes != 0 }

// isNameStart reports whether a character is one of PN_CHARS_BASE.
func isNameStart(c rune) bool {
	if c < 0x80 {
		return is(byte(c), isLetter)
	}
	return c >= 0xC0 && c <= 0x2FF && c != 0xD7 && c != 0xF7 ||
		c >= 0x370 && c <= 0x1FFF && c != 0x37E ||
		c >= 0x200C && c <= 0x200D ||
		c >= 0x2070 && c <= 0x218F ||
		c >= 0x2C00 && c <= 0x2FEF ||
		c >= 0x3001 && c <= 0xD7FF ||
		c >= 0xF900 && c <= 0xFDCF ||
		c >= 0xFDF0 && c <= 0xFFFD ||
		c >= 0x10000 && c <= 0xEFFFF
}

// isNameRune reports whether a character is one of PN_CHARS.
func isNameRune(c rune) bool {
	if c < 0x80 {
		return is(byte(c), inName)
	}
	return isNameStart(c) || c == 0xB7 || c >= 0x300 && c <= 0x36F || c >= 0x203F && c <= 0x2040
}
