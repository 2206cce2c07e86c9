// Package visible makes of a text what a reader sees of it. What a page or a model writes can hold characters that are
// not seen, by which it could tell another model, a terminal or a program something else than a reader: controls, tags,
// and those that turn the direction of writing round.
package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text without the characters that are not seen. Line ends and tabs stay, other white space of control
// characters becomes a blank, and what is no UTF-8 becomes U+FFFD. Joiners stay, because words of Persian, Hindi and
// others, and emoji, are written with them. Text(Text(s)) is Text(s).
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case r == '\v' || r == '\f' || r == 0x85 || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case isHidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Line returns a text on one line, of at most so many characters, with single blanks and "…" where it was cut; also
// without characters that have no meaning: U+FFFD, and those of private use. Line(Line(s, n), n) is Line(s, n).
func Line(s string, most int) string {
	s = strings.Join(strings.FieldsFunc(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.Is(unicode.Co, r) {
			return -1
		}
		return r
	}, Text(s)), unicode.IsSpace), " ")
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:max(most-1, 0)])) + "…"
}

// isHidden reports whether a character is not seen: a control or format character, unless it has a glyph or joins
// others; a tag or a variation selector beyond those of emoji; or none at all.
func isHidden(r rune) bool {
	switch {
	case r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Noncharacter_Code_Point)
}
