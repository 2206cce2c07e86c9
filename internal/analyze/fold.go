package analyze

import (
	"bytes"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class says what a character is to a word.
type class uint8

const (
	separator class = iota // ends a word
	letter                 // a letter, digit, underscore, or a vowel sign that distinguishes words
	silent                 // belongs to the word it stands in and leaves no trace in the term
	ideograph              // of a script without spaces: paired with its neighbours
)

const (
	softHyphen      = '\u00AD'
	wordJoiner      = '\u2060'
	prolonged       = 'ー' // of the common script by the standard, of katakana in fact
	prolongedNarrow = 'ｰ'
)

// rowSize is how many characters a row holds.
const rowSize = 256

// row is what there is to know of characters that follow one another. It is made when the first of them is met: to
// look them up in Unicode's tables costs a thousand times as much, and a page may have millions of them.
type row struct {
	classes [rowSize]class
	ends    [rowSize]uint16 // of the folded forms within folds, each of which begins where the one before it ends
	folds   string
}

var rows [unicode.MaxRune/rowSize + 1]atomic.Pointer[row]

func rowOf(r rune) *row {
	place := &rows[uint32(r)/rowSize]
	known := place.Load()
	if known == nil {
		known = newRow(r &^ (rowSize - 1))
		place.Store(known)
	}
	return known
}

func newRow(first rune) *row {
	made, folds := new(row), []byte(nil)
	for i := range made.classes {
		made.classes[i] = classifySlowly(first + rune(i))
		folds = appendFoldSlowly(folds, first+rune(i))
		made.ends[i] = uint16(len(folds))
	}
	made.folds = string(folds)
	return made
}

// fold returns the folded form of a character of the row.
func (w *row) fold(r rune) string {
	i, start := r%rowSize, uint16(0)
	if i > 0 {
		start = w.ends[i-1]
	}
	return w.folds[start:w.ends[i]]
}

func classify(r rune) class {
	if r < 0 || r > unicode.MaxRune {
		return separator
	}
	return rowOf(r).classes[r%rowSize]
}

func classifySlowly(r rune) class {
	switch {
	case r == '_':
		return letter
	case r == softHyphen || r == wordJoiner:
		return silent
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && unicode.IsLetter(r),
		r == prolonged, r == prolongedNarrow:
		return ideograph
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return letter
	case unicode.Is(unicode.Inherited, r), r < 0x900 && unicode.IsMark(r):
		// Accents, points and joiners. In the scripts of India and further east a mark is a vowel, and
		// words differ by it alone.
		return silent
	case unicode.IsMark(r):
		return letter
	}
	return separator
}

// plain holds the letters that differ from others by a stroke or a joining, which Unicode does not
// decompose.
var plain = map[rune]string{
	'ς': "σ", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ħ': "h", 'ŧ': "t", 'ı': "i",
}

// The Russian short i is a letter of its own, though Unicode decomposes it: without its breve, war would be
// found as warriors.
const (
	shortI = 'й'
	breve  = '\u0306'
)

// appendMark takes a mark that stands after the letters folded to dst: it leaves no trace, unless it
// makes a short i.
func appendMark(dst []byte, mark rune) []byte {
	const plainI = "и"
	if mark == breve && bytes.HasSuffix(dst, []byte(plainI)) {
		return utf8.AppendRune(dst[:len(dst)-len(plainI)], shortI)
	}
	return dst
}

// mostLetters is how many letters a character may stand for. There are two that stand for whole phrases, without
// the blanks that are in these: nobody writes what they would become, and a page of them would become many times as
// large.
const mostLetters = 4

// appendFold appends the folded form of a rune to dst. Only letters and ideographs have one; it consists
// of letters and ideographs, has at most mostLetters of them, and folds to itself.
func appendFold(dst []byte, r rune) []byte { return append(dst, rowOf(r).fold(r)...) }

func appendFoldSlowly(dst []byte, r rune) []byte {
	kind := classifySlowly(r)
	if kind != letter && kind != ideograph {
		return dst
	}
	if unicode.ToLower(r) == shortI {
		return utf8.AppendRune(dst, shortI)
	}
	var whole [utf8.UTFMax]byte
	parts := whole[:utf8.EncodeRune(whole[:], r)]
	if split := norm.NFKD.Properties(parts).Decomposition(); split != nil && !unicode.Is(unicode.Hangul, r) {
		if kind == ideograph && utf8.RuneCount(split) > 1 {
			return append(dst, parts...) // a voiced kana stays one character, or pairs would split it
		}
		parts = split
	}
	from := len(dst)
	for len(parts) > 0 {
		part, size := utf8.DecodeRune(parts)
		parts = parts[size:]
		if kind := classifySlowly(part); kind != letter && kind != ideograph {
			continue
		}
		part = unicode.ToLower(part)
		if simple, ok := plain[part]; ok {
			dst = append(dst, simple...)
			continue
		}
		dst = utf8.AppendRune(dst, part)
	}
	if utf8.RuneCount(dst[from:]) > mostLetters {
		return append(dst[:from], whole[:utf8.RuneLen(r)]...)
	}
	return dst
}

// Fold returns the text without regard to case and diacritics: letters in lower case and without their
// marks, compatibility forms as what they stand for, the final sigma as any other. What is no part of a
// word stays as it is. Folding twice changes nothing.
func Fold(text string) string {
	folded := make([]byte, 0, len(text))
	for i, r := range text {
		switch classify(r) {
		case silent:
			folded = appendMark(folded, r)
		case separator:
			_, size := utf8.DecodeRuneInString(text[i:])
			folded = append(folded, text[i:i+size]...)
		default:
			folded = appendFold(folded, r)
		}
	}
	return string(folded)
}

// Unspaced reports whether r belongs to a script without spaces between words, whose words are pairs of
// characters here.
func Unspaced(r rune) bool { return classify(r) == ideograph }

// InWord reports whether r can stand in a word.
func InWord(r rune) bool { return classify(r) != separator }
