package analyze

import (
	"unicode"
	"unicode/utf8"
)

// shortPowers are words of three letters behind which a number may be a power.
var shortPowers = map[string]bool{
	"min": true, "mol": true, "sec": true, "yds": true, "sin": true, "cos": true, "tan": true, "cot": true, "csc": true, "log": true, "exp": true,
}

// mostOfNote is how many bytes a footnote's number has at most.
const mostOfNote = 12

// IsNote reports whether a raised text behind another is a footnote's number, and so no part of the word that the
// other ends with: m² and km² are words, ferry¹ is not. It is one if it leads somewhere, as no power does; or if it
// consists of numbers of up to three digits, and the word of at least four letters. Behind three letters, 1 is one,
// which is no power, and behind others than those of some units and functions, any number; behind two letters, 1 is
// one.
func IsNote(before, raised []byte, leads bool) bool {
	letters, word := lastLetters(before)
	if letters == 0 || len(raised) == 0 || len(raised) > mostOfNote || !InWord(firstRune(raised)) {
		return false
	}
	if leads {
		return true
	}
	digits, several := 0, false
	for _, r := range string(raised) {
		switch {
		case isRaisedDigit(r) || r >= '0' && r <= '9':
			if digits++; digits > 3 {
				return false
			}
		case r == ',' || r == ' ' || r == '-' || r == '–':
			digits, several = 0, true
		default:
			return false
		}
	}
	one := string(raised) == "1" || string(raised) == "¹"
	switch letters {
	case 1:
		return false
	case 2:
		return one || several
	case 3:
		return one || several || !shortPowers[Fold(string(word))]
	}
	return true
}

func firstRune(text []byte) rune {
	r, _ := utf8.DecodeRune(text)
	return r
}

// lastLetters returns the letters that a text ends with, up to four, and how many there are. Those of scripts without
// spaces are no word with digits anyway.
func lastLetters(text []byte) (n int, letters []byte) {
	at := len(text)
	for n < 4 && at > 0 {
		r, size := utf8.DecodeLastRune(text[:at])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		if unicode.IsLetter(r) {
			n++
		}
		at -= size
	}
	return n, text[at:]
}

// isRaisedDigit reports whether a character is a digit that is written as a power or a footnote's number is.
func isRaisedDigit(r rune) bool {
	return r == '¹' || r == '²' || r == '³' || r == '⁰' || '⁴' <= r && r <= '⁹'
}

// raisedDigits returns how many bytes of raised digits a text begins with; of too many for a number, some.
func raisedDigits(text []byte) (n int) {
	for n < len(text) && n <= mostOfNote {
		r, size := utf8.DecodeRune(text[n:])
		if !isRaisedDigit(r) {
			break
		}
		n += size
	}
	return n
}
